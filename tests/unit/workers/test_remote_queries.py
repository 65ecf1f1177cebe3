"""A query that workers work on, as whoever asked it follows it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any, cast

from antiphon.cluster import Wish
from antiphon.vocabulary.events import Event, QueryClosed, QueryResumed, Recorded
from antiphon.workers.remote_queries import WISH_EVERY_S, RemoteQueries
from tests.story import placed, query_received
from tests.virtual_time import run

WORKED_ON_S = 2.5 * WISH_EVERY_S
TRACE = placed(
    "q1",
    [
        query_received(),
        QueryResumed(away_s=0.0, why="taken"),
        QueryClosed(status="answered"),
    ],
)


class Followed:
    """A store with one query, which waits long for a worker, and is worked on for a while."""

    async def follow(self, query_id: str, after: int) -> AsyncIterator[Recorded[Event]]:
        yield TRACE[0]
        await asyncio.sleep(10 * WISH_EVERY_S)
        yield TRACE[1]
        await asyncio.sleep(WORKED_ON_S)
        yield TRACE[2]


class Wishes:
    """Notes the wishes that are told."""

    def __init__(self) -> None:
        self.told: list[Wish] = []

    async def tell(self, wish: Wish) -> None:
        self.told.append(wish)


def test_its_text_is_asked_for_every_two_seconds_while_a_worker_works_on_it() -> None:
    wishes = Wishes()
    nothing = cast(Any, None)
    queries = RemoteQueries(
        nothing, nothing, nothing, cast(Any, wishes), nothing, cast(Any, Followed()), nothing, nothing, nothing, nothing
    )  # fmt: skip

    async def follow() -> list[object]:
        seen: list[object] = [item async for item in queries.follow("q1")]
        await asyncio.sleep(10 * WISH_EVERY_S)
        return seen

    assert run(follow()) == TRACE
    assert wishes.told == [Wish(query_id="q1", wants="text")] * 3
