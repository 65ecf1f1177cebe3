"""How long tools took lately says if starting them early gains anything."""

from __future__ import annotations

import pytest

from antiphon.dispatcher import ToolTimes
from antiphon.vocabulary.events import ToolFailed, ToolSucceeded
from antiphon.vocabulary.values import StoredText


def succeeded(duration_ms: float) -> ToolSucceeded:
    return ToolSucceeded(
        tool_call_id="t",
        name="look_up",
        output=StoredText(""),
        passages=(),
        duration_ms=duration_ms,
    )


def times_after(*durations_ms: float) -> ToolTimes:
    times = ToolTimes()
    for duration_ms in durations_ms:
        times.note(succeeded(duration_ms))
    return times


@pytest.mark.parametrize(
    ("durations_ms", "are_quick"),
    [
        ([], False),
        ([1.0] * 15, False),
        ([1.0] * 16, True),
        ([1.0] * 15 + [900.0], False),
        ([900.0] + [1.0] * 16, True),
    ],
)
def test_tools_are_quick_by_the_mean_of_their_last_runs(
    durations_ms: list[float], are_quick: bool
) -> None:
    assert times_after(*durations_ms).are_quick is are_quick


def test_a_tool_that_timed_out_is_a_slow_one() -> None:
    times = times_after(*[1.0] * 15)
    times.note(
        ToolFailed(
            tool_call_id="t",
            name="look_up",
            failure="timeout",
            detail="too slow",
            duration_ms=10_000.0,
        )
    )

    assert not times.are_quick
