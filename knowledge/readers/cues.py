"""Reads WebVTT and SRT transcripts: joins cues to sentences, each with its time."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from html import unescape
from typing import Literal

import webvtt

from antiphon.knowledge.readers.content import BLANK, Content, Line, UnreadableError
from antiphon.knowledge.readers.plain_text import clean, decode

MARK_S = 10
"""Seconds between two places: more of them would not help anybody to find a sentence."""
_SECONDS_A_MINUTE = 60
_SECONDS_AN_HOUR = 3_600
_TAG = re.compile(r"</?(?:[biu]|font)\b[^<>]{0,200}>|\{\\[^{}]{0,100}\}", re.IGNORECASE)
_TIMES = re.compile(
    r"\s{0,9}((?:\d{1,4}:)?\d{1,2}:\d{1,2}[,.]\d{1,6})\s{0,9}-->\s{0,9}((?:\d{1,4}:)?\d{1,2}:\d{1,2}[,.]\d{1,6})"
)
# Sounds and actions instead of speech: alone in their cue, or of the kinds common in captions.
_DIRECTION = re.compile(
    r"[\s\-\u2013>]*(?:\[[^\[\]]{1,60}\]|\([^()]{1,40}\)|[\u266a\u266b\s]+)[\s.]*"
)
_NOISE = re.compile(
    r"\[[\s_]*(?:music|applause|laughter|laughs|cheering|inaudible|foreign|silence|blank_audio)?[\s_]*\]",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(
    r"[.!?\u2026\u3002\uff01\uff1f][\"')\]\u201d\u2019]?(?=\s|$)"
)
# People speak some twenty words a sentence. If hardly one word in forty ends one, the transcript has no full stops.
_MOST_WORDS_A_SENTENCE = 40
_WORDS_A_LINE = 12
_PAUSE_S = 1.0


def read_vtt(data: bytes) -> Content:
    """Reads WebVTT; comments (NOTE) may hold the header of a course script and lines that open lessons."""
    text = decode(data)
    # Some programs write one format under the other's name.
    if not text.lstrip().startswith("WEBVTT") and _TIMES.search(text):
        return read_srt(data)
    return Content(lines=_lines(text, "vtt"))


def read_srt(data: bytes) -> Content:
    """Reads SRT; a course script's header may be before the first cue."""
    text = decode(data).lstrip("\n")
    head, text = _split_head(text)
    lines = [Line(line) for line in head.split("\n") if line.strip()]
    return Content(lines=[*lines, *_lines(_numbered(text), "srt")])


def _split_head(text: str) -> tuple[str, str]:
    """Splits off the lines before the first cue, including the number above its times."""
    arrow = text.find("-->")
    times_at = text.rfind("\n", 0, max(arrow, 0)) + 1
    cue_at = text.rfind("\n", 0, max(times_at - 1, 0)) + 1
    return text[:cue_at], text[cue_at:]


def _numbered(text: str) -> str:
    """Numbers the cues, which many programs omit, and completes each time with its hour."""
    lines: list[str] = []
    number = 0
    for line in text.split("\n"):
        found = _TIMES.match(line)
        if found is None:
            lines.append(line)
            continue
        if lines and lines[-1].strip().isdecimal():
            lines.pop()
        number += 1
        start, end = map(_with_hour, found.groups())
        lines += ["", str(number), f"{start} --> {end}"]
    return "\n".join(lines).lstrip("\n")


def _with_hour(time: str) -> str:
    return time if time.count(":") == 2 else f"0:{time}"


def _lines(text: str, form: Literal["vtt", "srt"]) -> list[Line]:
    try:
        captions = webvtt.from_buffer(io.StringIO(text), format=form)
    except webvtt.errors.MalformedFileError as error:
        raise UnreadableError(
            f"it is not a transcript of the format .{form}: {error}"
        ) from error
    return list(_Transcript(captions).lines())


class _Transcript:
    """Converts a transcript to lines."""

    def __init__(self, captions: webvtt.WebVTT) -> None:
        self._captions = captions
        self._has_stops = _has_stops([caption.text for caption in captions.captions])
        self._marked_s = -MARK_S
        self._speaker: str | None = None
        self._shown: list[str] = []
        self._ended_s = 0.0
        # Words since the last end of a sentence or a line.
        self._run = 0

    def lines(self) -> Iterator[Line]:
        for comment in self._captions.header_comments:
            yield from _notes(comment)
        for caption in self._captions.captions:
            for comment in caption.comments:
                yield from _notes(comment)
            said = self._said(caption.text)
            if said:
                yield from self._cue(caption, said)
            self._ended_s = _seconds(caption.end)

    def _cue(self, caption: webvtt.Caption, said: Sequence[str]) -> Iterator[Line]:
        second = max(caption.start_in_seconds, 0)
        is_cut = self._is_cut(caption)
        if is_cut:
            self._run = 0
            yield BLANK
        if is_cut or second - self._marked_s >= MARK_S or second < self._marked_s:
            self._marked_s = second
            yield Line("", place=f"at {clock(second)}", fragment=f"t={second}")
        if caption.voice != self._speaker:
            self._speaker = caption.voice
            yield BLANK
        for words in said:
            yield Line(words)
            self._count(words)

    def _is_cut(self, caption: webvtt.Caption) -> bool:
        """Returns True if a line ends before a cue: after enough words, and without full stops also after a pause."""
        if self._has_stops:
            return self._run > 2 * _MOST_WORDS_A_SENTENCE
        pause_s = _seconds(caption.start) - self._ended_s
        return self._run >= _WORDS_A_LINE or (self._run > 0 and pause_s >= _PAUSE_S)

    def _count(self, words: str) -> None:
        *ended, rest = _SENTENCE_END.split(words)
        self._run = _length(rest) + (0 if ended else self._run)

    def _said(self, text: str) -> list[str]:
        """Returns the lines of a cue that the previous one did not show already: roll-up captions repeat lines."""
        text = clean(unescape(_TAG.sub("", text)))
        if _DIRECTION.fullmatch(text[:200]) and len(text) <= 200:
            return []
        lines = [" ".join(line.split()) for line in _NOISE.sub(" ", text).split("\n")]
        lines = [line for line in lines if line]
        if not lines:
            return []
        before, self._shown = self._shown, lines
        for count in range(min(len(before), len(lines)), 0, -1):
            if before[-count:] == lines[:count]:
                return lines[count:]
        return lines


def _has_stops(texts: Sequence[str]) -> bool:
    words = sum(map(_length, texts))
    ends = sum(len(_SENTENCE_END.findall(text)) for text in texts)
    return words <= _MOST_WORDS_A_SENTENCE or ends * _MOST_WORDS_A_SENTENCE > words


def _length(text: str) -> int:
    """Returns the number of words; an estimate for scripts without spaces."""
    return max(len(text.split()), len(text) // 10)


def _notes(comment: str) -> Iterator[Line]:
    """Yields the lines of a comment that describe the course; nobody says the others."""
    for line in comment.split("\n"):
        if re.match(r"\s*(course|lesson)\b.{0,20}:", line, re.IGNORECASE):
            yield Line(line)
            yield BLANK


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.replace(",", ".").split(":"):
        seconds = seconds * 60 + float(part)
    return seconds


def clock(second: int) -> str:
    """Formats a time as players do: 12:05, or 1:02:05 after an hour."""
    minutes, seconds = divmod(second, _SECONDS_A_MINUTE)
    if second < _SECONDS_AN_HOUR:
        return f"{minutes}:{seconds:02}"
    hours, minutes = divmod(minutes, _SECONDS_A_MINUTE)
    return f"{hours}:{minutes:02}:{seconds:02}"
