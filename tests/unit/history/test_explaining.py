"""Why two traces differ: what follows from an earlier difference has that one's cause."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.history import diff
from antiphon.vocabulary.events import (
    BreakerTripped,
    DeadlineNeared,
    DraftReviewed,
    Event,
    Recorded,
)
from tests.story import placed, query_received

Trace = list[Recorded[Event]]


def _calm() -> Trace:
    return placed("q1", [query_received()])


def _troubled() -> Trace:
    """A query whose time was short, whose draft was reviewed, and that then had to stop because of its time."""
    events: list[Event] = [
        query_received(),
        DeadlineNeared(left_s=1.0),
        DraftReviewed(call_id="c1", reviewer="verifier", accepted=True),
        BreakerTripped(limit="deadline", detail="the time for tools is used up"),
    ]
    trace = placed("q1", events)
    # The time ran out and a reviewer judged by themselves; it stopped because of the time.
    causes = (0, 0, 0, 2)
    return [
        replace(each, cause=cause) for each, cause in zip(trace, causes, strict=True)
    ]


def test_what_only_one_trace_has_differs_by_what_led_to_it_and_not_by_what_came_last() -> (
    None
):
    expected = [
        ("deadline_neared", "time"),
        ("draft_reviewed", "subscriber"),
        ("breaker_tripped", "time"),
    ]
    for left, right in ((_troubled(), _calm()), (_calm(), _troubled())):
        found = diff(left, right)

        assert [(each.kind, each.because) for each in found.differences] == expected
