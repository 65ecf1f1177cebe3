"""A recorded query replays to the same events, and a replay by a changed program finds the first different event."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from antiphon.history.replaying import replay
from antiphon.traces import from_json
from antiphon.vocabulary.events import (
    BriefingPrepared,
    DraftReviewed,
    Event,
    Recorded,
    RecordingFailed,
    ReviewRequested,
    ToolAnsweredLate,
)
from tests.strategies import EVENT_KINDS
from tests.traces.conftest import Lines

Patch = pytest.MonkeyPatch


def events_of(lines: Sequence[bytes]) -> list[Recorded[Event]]:
    return [from_json(line) for line in lines]


def test_an_event_that_another_event_led_to_is_a_difference(thousand: Lines) -> None:
    trace = events_of(thousand["q3"])
    place = next(
        place
        for place, recorded in enumerate(trace)
        if isinstance(recorded.event, BriefingPrepared)
    )
    trace[place] = replace(trace[place], cause=1)

    divergence = replay(trace).divergence

    assert divergence is not None
    assert (divergence.seq, divergence.field) == (place + 1, "cause")


def test_a_thousand_queries_of_all_kinds_replay_to_the_same_events(
    thousand: Lines,
) -> None:
    results = [replay(events_of(lines)) for lines in thousand.values()]

    assert [result.divergence for result in results if result.divergence] == []
    assert len(results) == 1_000
    assert sum(result.compared for result in results) > 10_000
    met = {type(said.event) for lines in thousand.values() for said in events_of(lines)}
    # The cast has no reviewer, and its tools stop when cancelled.
    unsaid = {RecordingFailed, ToolAnsweredLate, ReviewRequested, DraftReviewed}
    assert set(EVENT_KINDS) - met <= {
        *unsaid,
        *(kind for kind in EVENT_KINDS if "Resumed" in kind.__name__),
    }
