"""Transcripts as programs write them: what is said is text, once, and cited near the time at which it is said."""

from __future__ import annotations

import pytest

from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers import cues


def cue(start_s: float, end_s: float, text: str) -> str:
    return f"{stamp(start_s)} --> {stamp(end_s)}\n{text}\n\n"


def stamp(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"00:{int(minutes):02}:{rest:06.3f}"


def vtt(*texts: str) -> bytes:
    parts = [cue(2 * at, 2 * at + 2, text) for at, text in enumerate(texts)]
    return f"WEBVTT\n\n{''.join(parts)}".encode()


def said(data: bytes) -> str:
    return " ".join(line.text for line in cues.read_vtt(data).lines if line.text)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["&gt;&gt; Ropes &amp; chains,&nbsp;Tom &#39;n&#39; Ann."], ">> Ropes & chains, Tom 'n' Ann."),
        (["<v Mate>The <c.loud>tug</c> &lt;moves&gt;.</v>"], "The tug <moves>."),
        (["[Applause]", "We begin.", "(soft music)", "\u266a\u266a", "- [Door opens]", "We end."], "We begin. We end."),
        (["[Music] welcome to [ __ ] the tour."], "welcome to the tour."),
        (["See [1] and (in brief) this."], "See [1] and (in brief) this."),
        (["one two", "one two\nthree four", "three four", "three four\nfive"], "one two three four five"),
        (["a\nb", "a\nb\nc", "c\nd"], "a b c d"),
    ],
)  # fmt: skip
def test_what_is_said_is_text_once(texts: list[str], expected: str) -> None:
    assert said(vtt(*texts)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "1\n00:00:01,000 --> 00:00:02,000\nFirst.\n\n2\n00:00:03,000 --> 00:00:04,000\nSecond.\n",
        "00:00:01,000 --> 00:00:02,000\nFirst.\n\n00:00:03,000 --> 00:00:04,000\nSecond.\n",
        "00:01.000 --> 00:02.000\nFirst.\n00:03.000 --> 00:04.000\nSecond.",
        "\ufeff\r\n7\r\n0:00:01,0 --> 0:00:02,0\r\nFirst.\r\n\r\n00:03,0 --> 00:04,0\r\nSecond.",
    ],
)
def test_srt_is_read_with_numbers_and_without(text: str) -> None:
    for read in (cues.read_srt, cues.read_vtt):
        lines = read(text.encode()).lines
        assert [line.text for line in lines if line.text] == ["First.", "Second."]


def test_captions_without_stops_are_cut_where_the_speaker_pauses_and_after_some_words() -> (
    None
):
    words = "the mast and the hull of it "
    parts = [cue(3 * at, 3 * at + 3, words + f"number{at}") for at in range(40)]
    late = cue(200, 202, "after a pause we go on") + cue(204, 206, "and on")

    (section,) = parse_content(
        cues.read_vtt(f"WEBVTT\n\n{''.join(parts)}{late}".encode())
    ).sections

    sentences = section.text.split("\n\n")
    assert max(len(sentence.split()) for sentence in sentences) <= 20
    assert sentences[-2:] == ["after a pause we go on", "and on"]
    for sentence in sentences[:-2]:
        start = section.text.index(sentence)
        mark = [each for each in section.marks if each.start <= start][-1]
        minutes, seconds = mark.place.removeprefix("at ").split(":")
        spoken_s = 3 * int(sentence.split("number")[1].split()[0])
        assert abs(60 * int(minutes) + int(seconds) - spoken_s) <= 10


def test_sentences_with_stops_are_not_cut_where_the_speaker_pauses() -> None:
    parts = []
    for at in range(0, 180, 9):
        parts.append(cue(at, at + 2, f"Half {at} of a"))
        parts.append(cue(at + 5, at + 6, "sentence."))

    (section,) = parse_content(
        cues.read_vtt(f"WEBVTT\n\n{''.join(parts)}".encode())
    ).sections

    assert "Half 27 of a sentence. Half 36 of a sentence." in section.text
