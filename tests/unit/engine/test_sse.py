"""Reading server-sent events."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.engine import sse as reading
from antiphon.engine.sse import SseDecoder
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json

STREAM = (
    'event: ping\ndata: {"type": "ping"}\n\n: a comment\n\ndata: {"type":"a",\ndata: "text":"é\U0001f600"}\n\n'
    'event: error\ndata: {"error": {"type": "x"}}\n\ndata: [DONE]\n\nevent: empty\n\n'
).encode()
EVENTS = [
    {"type": "ping"},
    {"type": "a", "text": "é\U0001f600"},
    {"error": {"type": "x"}, "type": "error"},
    {"type": "message_stop"},
]


def read(stream: bytes, cuts: list[int]) -> list[Json]:
    decoder = SseDecoder()
    edges = [0, *sorted(cut % len(stream) for cut in cuts), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(edges)]
    return [event for piece in pieces for event in decoder.feed(piece)]


@given(
    cuts=st.lists(st.integers(0, 1000), max_size=20),
    newline=st.sampled_from([b"\n", b"\r\n"]),
)
def test_events_are_the_same_wherever_the_bytes_are_cut(
    cuts: list[int], newline: bytes
) -> None:
    assert read(STREAM.replace(b"\n", newline), cuts) == EVENTS


@pytest.mark.parametrize("data", [b"{", b"[]", b"7", b"\xff\xfe", b"[" * 5000, b'"x"'])
def test_what_is_no_json_object_is_malformed(data: bytes) -> None:
    with pytest.raises(ModelError) as failure:
        SseDecoder().feed(b"data: " + data + b"\n\n")

    assert failure.value.kind == "malformed"


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"  \n"])
def test_the_last_event_needs_no_empty_line_after_it(end: bytes) -> None:
    decoder = SseDecoder()

    assert decoder.feed(b'event: a\ndata: {"type": "a"}' + end) == []
    assert decoder.end() == [{"type": "a"}]


@pytest.mark.parametrize(
    "rest", [b"", b"event: a", b'data: {"type": "a", "te', b"data:"]
)
def test_what_was_cut_off_is_no_event(rest: bytes) -> None:
    decoder = SseDecoder()
    decoder.feed(rest)

    assert decoder.end() == []


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"type":"error","error":{"type":"a","message":"b"}}', {"type": "a", "message": "b"}),
        (b'{"error":{"type":"a","message":"b"}}', {"type": "a", "message": "b"}),
        (b'{"type":"a","message":"b"}', {"type": "a", "message": "b"}),
        (b'{"type":"error","error":"b"}', "b"),
        (b"out of memory", "out of memory"),
    ],
)  # fmt: skip
def test_an_error_event_is_one_in_whichever_form_its_data_is(
    data: bytes, error: object
) -> None:
    assert SseDecoder().feed(b"event: error\ndata: " + data + b"\n\n") == [
        {"type": "error", "error": error}
    ]


def test_an_event_without_a_type_has_that_of_its_name() -> None:
    stream = b'\xef\xbb\xbfdata: {"type":"a"}\n\nevent: message_stop\ndata: {}\n\n'

    assert SseDecoder().feed(stream) == [{"type": "a"}, {"type": "message_stop"}]


def test_an_endless_event_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_EVENT_BYTES", 100)
    decoder = SseDecoder()
    decoder.feed(b"data: " + b"x" * 90)

    with pytest.raises(ModelError, match="larger than"):
        decoder.feed(b"x" * 90)
