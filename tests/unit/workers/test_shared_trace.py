"""The trace of a query in another process, while its store cannot be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, cast

import pytest

from antiphon.vocabulary.errors import BusyError, TraceError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded
from antiphon.vocabulary.settings import QuerySettings
from antiphon.workers.shared_trace import LATE_S, SharedTrace
from tests.fakes import FixedClock

DEADLINE_S = 6.0


class LostStore:
    """A store that has begun a trace, and whose servers are gone."""

    async def read(self, query_id: str, after: int = 0) -> Sequence[Recorded[Event]]:
        raise TraceError("NATS cannot be reached")


class UntoldEnd:
    """An end that nobody can tell of."""

    async def within(self, seconds: float) -> Sequence[Recorded[Event]]:
        await asyncio.sleep(0)
        return ()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(0.0)


@pytest.fixture
def cancelled() -> list[str]:
    """Why the query was to be ended, each time."""
    return []


@pytest.fixture
def trace(clock: FixedClock, cancelled: list[str]) -> SharedTrace:
    first = Recorded[Event](
        query_id="q1",
        seq=1,
        cause=0,
        at=0.0,
        event=QueryReceived(
            query="q", session_id="s", settings=QuerySettings(deadline_s=DEADLINE_S)
        ),
    )

    async def removed(query_id: str) -> None:
        raise AssertionError(f"{query_id} is not over")

    return SharedTrace(
        "q1",
        cast(Any, LostStore()),
        lambda: "NATS cannot be reached.",
        cast(Any, None),
        clock,
        (first, UntoldEnd()),
        is_counted=False,
        follow=cast(Any, None),
        cancel=lambda _, why: cancelled.append(why),
        removed=removed,
        spawn=lambda work, name: asyncio.create_task(work, name=name),
    )


async def test_a_caller_who_goes_away_ends_the_query(
    trace: SharedTrace, cancelled: list[str]
) -> None:
    trace.cancel("gone")

    assert cancelled == ["gone"]


async def test_a_caller_who_was_told_to_come_again_has_not_gone_away(
    trace: SharedTrace, clock: FixedClock, cancelled: list[str]
) -> None:
    trace.tell_by(DEADLINE_S / 2)
    clock.advance(DEADLINE_S / 2 + LATE_S)

    with pytest.raises(BusyError, match="NATS cannot be reached"):
        await trace.closed()
    trace.cancel("the connection ended")

    assert cancelled == []
    trace.watch().cancel()
