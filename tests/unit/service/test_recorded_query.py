"""A query that was begun before, held by whoever asks for it again."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

from antiphon.service.recorded_query import RecordedQuery
from antiphon.vocabulary.errors import SlowReaderError
from antiphon.vocabulary.events import Event, Recorded
from tests.fakes import MemoryTraceStore
from tests.story import answered, placed


class _CuttingHistory:
    """Cuts its reader off so many times before it lets one follow to the end."""

    def __init__(self, store: MemoryTraceStore, times: int) -> None:
        self.left = times
        self._store = store

    async def follow(
        self, query_id: str, after: int = 0
    ) -> AsyncIterator[Recorded[Event]]:
        for recorded in await self._store.read(query_id, after):
            yield recorded
            if self.left:
                self.left -= 1
                raise SlowReaderError("cut off")


async def test_however_often_a_reader_is_cut_off_it_gets_the_answer() -> None:
    store = MemoryTraceStore()
    await store.append("q1", 0, placed("q1", answered("Q?", "A.")))
    history = _CuttingHistory(store, times=2 * sys.getrecursionlimit())
    query = RecordedQuery("q1", history, store)  # type: ignore[arg-type]  # as much of them as it uses

    outcome = await query.outcome()

    assert (outcome.response.answer, outcome.status) == ("A.", "answered")
    assert history.left == 0
