"""WebVTT and SRT transcripts: cues joined to sentences, each with the time at which it is said."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Literal

import webvtt

from antiphon.knowledge.readers.content import BLANK, Content, Line, UnreadableError
from antiphon.knowledge.readers.plain_text import decode

MARK_S = 10
"""A new place is noted every so many seconds: nobody finds a sentence faster by more of them."""
_SECONDS_A_MINUTE = 60
_SECONDS_AN_HOUR = 3_600
_TAG = re.compile(r"</?(?:[biu]|font)\b[^<>]{0,200}>|\{\\[^{}]{0,100}\}", re.IGNORECASE)


def read_vtt(data: bytes) -> Content:
    """Reads WebVTT; comments (NOTE) may hold the header of a course script and lines that open lessons."""
    return Content(lines=_lines(decode(data), "vtt"))


def read_srt(data: bytes) -> Content:
    """Reads SRT; a course script's header may stand before the first cue."""
    text = decode(data).lstrip("\n")
    head, text = _split_head(text)
    lines = [Line(line) for line in head.split("\n") if line.strip()]
    return Content(lines=[*lines, *_lines(text, "srt")])


def _split_head(text: str) -> tuple[str, str]:
    """Splits off the lines before the first cue, whose number stands on the line before its times."""
    arrow = text.find("-->")
    times_at = text.rfind("\n", 0, max(arrow, 0)) + 1
    cue_at = text.rfind("\n", 0, max(times_at - 1, 0)) + 1
    return text[:cue_at], text[cue_at:]


def _lines(text: str, form: Literal["vtt", "srt"]) -> list[Line]:
    try:
        captions = webvtt.from_buffer(io.StringIO(text), format=form)
    except webvtt.errors.MalformedFileError as error:
        raise UnreadableError(
            f"it is not a transcript of the format .{form}: {error}"
        ) from error
    return list(_spoken(captions))


def _spoken(captions: webvtt.WebVTT) -> Iterator[Line]:
    for comment in captions.header_comments:
        yield from _notes(comment)
    marked_s = -MARK_S
    speaker = None
    said = ""
    for caption in captions.captions:
        for comment in caption.comments:
            yield from _notes(comment)
        second = max(caption.start_in_seconds, 0)
        if second - marked_s >= MARK_S or second < marked_s:
            marked_s = second
            yield Line("", place=f"at {clock(second)}", fragment=f"t={second}")
        if caption.voice != speaker:
            speaker = caption.voice
            yield BLANK
        for line in _TAG.sub("", caption.text).split("\n"):
            words = " ".join(line.split())
            # Captions that roll up repeat the line before.
            if words and words != said:
                yield Line(words)
                said = words


def _notes(comment: str) -> Iterator[Line]:
    """Yields the lines of a comment that speak of the course; all others are not said by anybody."""
    for line in comment.split("\n"):
        if re.match(r"\s*(course|lesson)\b.{0,20}:", line, re.IGNORECASE):
            yield Line(line)
            yield BLANK


def clock(second: int) -> str:
    """Returns a time as players show it: 12:05, or 1:02:05 after an hour."""
    minutes, seconds = divmod(second, _SECONDS_A_MINUTE)
    if second < _SECONDS_AN_HOUR:
        return f"{minutes}:{seconds:02}"
    hours, minutes = divmod(minutes, _SECONDS_A_MINUTE)
    return f"{hours}:{minutes:02}:{seconds:02}"
