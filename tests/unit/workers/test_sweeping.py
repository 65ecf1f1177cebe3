"""Queries that end workers: they are given up, and buried only when their end is stored."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from antiphon.cluster import QueryQueue, QueuedQuery
from antiphon.composition import Query
from antiphon.history import History
from antiphon.vocabulary.errors import NotFoundError, TraceStateError
from antiphon.vocabulary.events import Event, QueryCancelled
from antiphon.vocabulary.ports import Ownership
from antiphon.workers.sweeping import Sweeper

QUERY = QueuedQuery(query_id="q1", tenant="acme", key_id="k")


class DeadQueue:
    """A queue with one query that was claimed too often."""

    trouble = None

    def __init__(self) -> None:
        self.query = QUERY
        self.deliveries = 3
        self.buried = 0
        self.looked = 0
        self.submitted: list[QueuedQuery] = []

    async def next_dead(self) -> DeadQueue | None:
        # One that is not buried is told of again after a while, and not at once.
        self.looked += 1
        return self if self.looked == 1 else None

    async def bury(self) -> None:
        self.buried += 1

    async def submit(self, query: QueuedQuery) -> None:
        self.submitted.append(query)


class Ending:
    """The recorded queries, of which one is ended; and that query."""

    def __init__(self, *, stored: bool = True, error: Exception | None = None) -> None:
        self.ended: list[tuple[QueuedQuery, Event]] = []
        self._stored = stored
        self._error = error

    def of(self, query: QueuedQuery) -> History:
        self._query = query
        return cast(History, self)

    async def end(self, query_id: str, why: str, last: Event) -> Query:
        assert query_id == self._query.query_id
        if self._error is not None:
            raise self._error
        self.ended.append((self._query, last))
        return cast(Query, self)

    async def is_whole(self) -> bool:
        return self._stored


class Counts:
    """Counts the queries that were given up."""

    def __init__(self) -> None:
        self.number = 0

    def given_up(self) -> None:
        self.number += 1


class Unfinished:
    """Open traces that are in no queue."""

    async def unfinished(self) -> list[str]:
        return ["q1", "of-nobody"]


async def tenant_of(query_id: str) -> str | None:
    return {"q1": "acme"}.get(query_id)


def sweeper(queue: DeadQueue, ending: Ending, counts: Any = None) -> Sweeper:
    return Sweeper(
        cast(QueryQueue, queue), counts, ending.of, cast(Ownership, Unfinished()), tenant_of, 1.0
    )  # fmt: skip


async def test_a_query_that_ends_workers_is_ended_as_whose_it_is_and_buried() -> None:
    queue, ending, counts = DeadQueue(), Ending(), Counts()

    await sweeper(queue, ending, counts).give_up_dead()

    [(query, last)] = ending.ended
    assert query == QUERY
    assert isinstance(last, QueryCancelled)
    assert "3 times a worker took it" in last.why
    assert (queue.buried, counts.number) == (1, 1)


async def test_a_query_whose_end_is_not_stored_is_not_buried() -> None:
    queue, counts = DeadQueue(), Counts()

    await sweeper(queue, Ending(stored=False), counts).give_up_dead()

    assert (queue.buried, counts.number) == (0, 0)


@pytest.mark.parametrize(
    "error", [NotFoundError("it was deleted"), TraceStateError("it is over")]
)
async def test_a_query_that_is_over_or_deleted_is_buried(error: Exception) -> None:
    queue = DeadQueue()

    await sweeper(queue, Ending(error=error)).give_up_dead()

    assert queue.buried == 1


async def test_open_traces_that_nobody_works_on_are_queued_as_whose_they_are() -> None:
    queue = DeadQueue()

    await sweeper(queue, Ending()).queue_unfinished()

    assert [(each.query_id, each.tenant) for each in queue.submitted] == [
        ("q1", "acme"),
        ("of-nobody", "local"),
    ]


class SwallowingQueue(DeadQueue):
    """A queue whose client swallows a cancellation, as `wait_for` may up to Python 3.11."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    async def next_dead(self) -> None:
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return


async def test_a_sweep_ends_even_if_the_client_swallows_its_cancellation() -> None:
    queue = SwallowingQueue()
    sweep = asyncio.create_task(sweeper(queue, Ending()).run())
    await queue.asked.wait()

    sweep.cancel()
    await asyncio.wait([sweep], timeout=10.0)

    assert sweep.cancelled()
