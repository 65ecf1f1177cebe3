"""A line for each event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from antiphon.cli.rendering import LINES, describe, describe_recorded
from antiphon.vocabulary.events import (
    AnswerRequested,
    BreakerTripped,
    DraftReviewed,
    Event,
    RoundOpened,
)
from antiphon.vocabulary.unknown import unknown_event
from tests.story import placed, tool_succeeded
from tests.strategies import EVENT_KINDS, values


@pytest.mark.parametrize("kind", EVENT_KINDS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_event_has_a_line_that_is_safe_to_print(
    kind: Any, data: st.DataObject
) -> None:
    event = data.draw(values(kind))

    line = describe(event)

    assert len(line) <= 160
    assert line.isprintable() or not any(ord(each) < 32 for each in line)


@pytest.mark.parametrize("kind", EVENT_KINDS)
def test_no_event_of_ours_is_shown_by_its_bare_fields(kind: Any) -> None:
    assert kind in LINES


REVIEW = DraftReviewed(call_id="call-2", reviewer="verifier", accepted=True)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (REVIEW, "verifier accepts the draft of call-2"),
        (
            replace(REVIEW, accepted=False, why="no date"),
            "verifier asks for another round after call-2: no date",
        ),
        (
            RoundOpened(round=1, call_id="call-1", rounds_left=1, final=False),
            "round 1, call call-1",
        ),
        (
            RoundOpened(round=3, call_id="call-3", rounds_left=0, final=True),
            "final call call-3",
        ),
        (AnswerRequested(mode="reply", call_id="call-3"), "reply"),
        (AnswerRequested(mode="plain", why="no model"), "plain: no model"),
    ],
)
def test_a_line_says_what_was_decided(event: Event, line: str) -> None:
    assert describe(event) == line


class Weighed(Event, frozen=True, kw_only=True, tag="weighed"):
    """An event of a subscriber from outside."""

    emitted_by = ("scales",)
    grams: int
    of: str


def test_an_event_from_outside_is_shown_with_its_fields() -> None:
    assert describe(Weighed(grams=7, of="a letter\x1b[2J")) == "grams 7, of a letter"


def test_a_line_of_a_trace_says_when_what_and_why() -> None:
    events = placed(
        "q",
        [
            tool_succeeded("text"),
            BreakerTripped(limit="rounds", detail="2 are used up"),
        ],
    )

    line = describe_recorded(events[1], events[0].at)

    assert line.split() == [
        "2",
        "1000.0",
        "ms",
        "breaker_tripped",
        "rounds:",
        "2",
        "are",
        "used",
        "up",
        "←",
        "1",
    ]
    assert events[1].event.kind_name() == "breaker_tripped"


def test_an_event_of_an_unknown_kind_is_called_so_and_shown_with_its_fields() -> None:
    event = unknown_event({"kind": "we\x1b[31mighed", "grams": [3], "of": "\x1b[2J"})

    line = describe_recorded(placed("q", [event])[0], 0.0)

    assert "unknown kind" in line
    assert "grams [3]" in line
    assert "\x1b" not in line
