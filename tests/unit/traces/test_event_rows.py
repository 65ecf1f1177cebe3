"""A row holds what was appended together, and gives each event back as it was."""

from __future__ import annotations

import pytest

from antiphon.traces.codec import plain_event
from antiphon.traces.event_rows import SEVERAL, EventRow, Packer, events_in
from antiphon.traces.unpacking import Unpacker
from antiphon.vocabulary.errors import DecodeError
from antiphon.vocabulary.events import Event, Recorded
from tests.story import answered, placed, tool_succeeded

LINES = "one\ntwo\r\n\u2028three"
TOGETHER = placed("q1", [*answered("What is\nrecall?", LINES), tool_succeeded(LINES)])


def no_text(_: str) -> None:
    """Has no long text."""


def read_back(packer: Packer, rows: list[EventRow]) -> list[Recorded[Event]]:
    texts = packer.take_texts()
    unpacker = Unpacker(texts.get)
    events: list[Recorded[Event]] = []
    for row in rows:
        for stored in events_in(row):
            events.append(unpacker.unpack(*stored))
    return events


def test_what_is_appended_together_is_one_row_and_is_read_as_it_was() -> None:
    packer = Packer()

    rows = packer.rows("q1", TOGETHER)

    assert [(row.seq, row.kind) for row in rows] == [(len(TOGETHER), SEVERAL)]
    assert read_back(packer, rows) == TOGETHER


def test_a_trace_of_hundreds_of_events_is_several_rows_each_numbered_by_its_last_event() -> (
    None
):
    packer = Packer()
    events = placed("q1", [tool_succeeded("x")] * 40)

    rows = packer.rows("q1", events)

    assert [row.seq for row in rows] == [16, 32, 40]
    assert read_back(packer, rows) == events


def test_half_a_character_is_mended_in_a_row_of_several() -> None:
    packer = Packer()
    hostile = placed("q1", [tool_succeeded("a\ud800b"), tool_succeeded("sound")])

    mended = read_back(packer, packer.rows("q1", hostile))

    assert mended == placed("q1", [tool_succeeded("a\ufffdb"), tool_succeeded("sound")])


def test_an_event_in_a_row_of_its_own_is_read_as_before() -> None:
    packer = Packer()

    rows = [packer.row("q1", recorded) for recorded in TOGETHER]

    assert rows[0].body == plain_event(TOGETHER[0].event)
    assert read_back(packer, rows) == TOGETHER


@pytest.mark.parametrize(
    "damage", [b"", b"\x00\xff", b"[]\n", b"[[0,1.0]]\n", b"[[0,1.0]]\n{}\n{}\n"]
)
def test_a_damaged_row_is_one_event_that_cannot_be_read(damage: bytes) -> None:
    (row,) = Packer().rows("q1", TOGETHER)

    (stored,) = events_in(row._replace(body=damage))

    assert (stored.seq, stored.body) == (row.seq, damage)
    with pytest.raises(DecodeError, match=f"trace q1, seq {row.seq}"):
        Unpacker(no_text).unpack(*stored)


def test_an_event_that_is_damaged_keeps_no_other_of_its_row_from_being_read() -> None:
    (row,) = Packer().rows("q1", TOGETHER)
    lines = row.body.split(b"\n")
    lines[2] = b"{"

    stored = events_in(row._replace(body=b"\n".join(lines)))

    assert Unpacker(no_text).unpack(*stored[0]) == TOGETHER[0]
    with pytest.raises(DecodeError, match="trace q1, seq 2"):
        Unpacker(no_text).unpack(*stored[1])
