"""Sends the text of queries that run here, as it is written, to those who follow them at other nodes."""

from __future__ import annotations

import asyncio
import time

from antiphon.cluster import TraceFollowing
from antiphon.composition import Query
from antiphon.vocabulary.errors import (
    NotFoundError,
    QuotaError,
    SlowReaderError,
    TraceError,
)
from antiphon.vocabulary.events import Recorded

WANTED_S = 6.0
"""Seconds for which a reader's wish is valid: readers repeat it every two."""


class LiveRelay:
    """The queries of this process whose text other nodes want."""

    def __init__(self, store: TraceFollowing) -> None:
        self._store = store
        self._wanted_until: dict[str, float] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def want(self, query: Query) -> None:
        """Notes that somebody reads a query, and sends its text from now on.

        To the query the relay is a follower like any other, so its final reply is streamed.
        """
        query_id = query.query_id
        self._wanted_until[query_id] = time.monotonic() + WANTED_S
        if query_id not in self._tasks:
            self._tasks[query_id] = asyncio.create_task(
                self._relay(query), name="relay"
            )

    async def _relay(self, query: Query) -> None:
        query_id = query.query_id
        seq = 0
        try:
            async for item in query.follow():
                if time.monotonic() > self._wanted_until[query_id]:
                    break
                if isinstance(item, Recorded):
                    seq = item.seq
                else:
                    await self._store.emit_live(query_id, seq, item)
        # The query has ended, or its text cannot be sent fast enough: readers still get all recorded events.
        except (NotFoundError, SlowReaderError, QuotaError, TraceError):
            pass
        finally:
            del self._tasks[query_id]
            del self._wanted_until[query_id]

    async def close(self) -> None:
        """Stops sending."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
