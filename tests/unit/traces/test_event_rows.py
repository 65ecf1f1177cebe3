"""A row holds what was appended together, and gives each event back as it was."""

from __future__ import annotations

import pytest

from antiphon.traces.event_rows import Packer, events_in
from antiphon.traces.unpacking import Unpacker
from antiphon.vocabulary.errors import DecodeError
from tests.story import answered, placed, tool_succeeded

LINES = "one\ntwo\r\n\u2028three"
TOGETHER = placed("q1", [*answered("What is\nrecall?", LINES), tool_succeeded(LINES)])


def no_text(_: str) -> None:
    """Has no long text."""


@pytest.mark.parametrize(
    "damage", [b"", b"\x00\xff", b"[]\n", b"[[0,1.0]]\n", b"[[0,1.0]]\n{}\n{}\n"]
)
def test_a_damaged_row_is_one_event_that_cannot_be_read(damage: bytes) -> None:
    (row,) = Packer().rows("q1", TOGETHER)

    (stored,) = events_in(row._replace(body=damage))

    assert (stored.seq, stored.body) == (row.seq, damage)
    with pytest.raises(DecodeError, match=f"trace q1, seq {row.seq}"):
        Unpacker(no_text).unpack(*stored)
