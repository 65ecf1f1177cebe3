"""The deadline's shares: what each kind of work may take of it, and the timer that reports them."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from antiphon.coordinator import deadline
from antiphon.coordinator.deadline import DeadlineTimer
from antiphon.vocabulary.events import (
    DeadlineNeared,
    DeadlinePassed,
    Event,
    QueryReceived,
    QueryResumed,
    Recorded,
)
from antiphon.vocabulary.values import QuerySettings
from tests.fakes import HastyClock, command

SETTINGS = QuerySettings(deadline_s=60.0, tool_timeout_s=10.0)
NEARED_S = deadline.neared_after_s(SETTINGS)
PASSED_S = deadline.passed_after_s(SETTINGS)


class Timer:
    """A timer whose query was received at 100, and what it emits; its clock shows 110."""

    def __init__(self) -> None:
        self.emitted: list[Event] = []
        self.clock = HastyClock(at=110.0)
        self.work: list[Coroutine[Any, Any, None]] = []
        self.timer = DeadlineTimer(self.emitted.append, self._spawn, self.clock)
        self.past = [at(100.0, received())]

    def _spawn(
        self, work: Coroutine[Any, Any, None], /, *, background: bool = False
    ) -> Callable[[], object]:
        self.work.append(work)
        return work.close

    async def resume(self, away_s: float = 0.0) -> None:
        resumed = at(110.0, QueryResumed(why="it was interrupted", away_s=away_s))
        self.timer.perform(command(resumed, *self.past))
        for work in self.work:
            await work


def received() -> QueryReceived:
    return QueryReceived(query="q", session_id="s", settings=SETTINGS)


def at(time: float, event: Any) -> Recorded[Any]:
    return Recorded(query_id="q", seq=1, cause=0, at=time, event=event)


async def test_a_resumed_query_goes_on_with_the_deadline_it_had() -> None:
    timer = Timer()

    await timer.resume()

    assert timer.clock.now() == pytest.approx(100.0 + PASSED_S)


async def test_what_was_reported_before_the_interruption_is_not_reported_again() -> (
    None
):
    timer = Timer()
    timer.past.append(at(105.0, DeadlineNeared(left_s=1.0, after_s=NEARED_S)))

    await timer.resume()

    assert [type(event) for event in timer.emitted] == [DeadlinePassed]
