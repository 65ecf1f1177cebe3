"""Deletes traces from the streams, and the oldest ones when there are too many."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Sequence
from functools import partial

from antiphon.cluster.annotations import Notes
from antiphon.cluster.blobs import Blobs
from antiphon.cluster.connection import Cluster
from antiphon.cluster.projection import Projection
from antiphon.cluster.stream_reading import StreamReader
from antiphon.cluster.trace_log import TraceLog
from antiphon.traces import conversations_of

_MOST_RUNS = 20
"""One run of pruning reckons with traces of average size; a few runs free the amount wanted."""

_OLDEST = """
    SELECT query_id FROM queries WHERE status != 'open' ORDER BY started_at, number LIMIT ?
"""
_COUNT = """
    SELECT count(*), count(CASE WHEN started_at < ? THEN 1 END) FROM queries WHERE status != 'open'
"""

_EMPTY_TITLED = """
    SELECT session_id FROM conversations
    WHERE session_id IN (SELECT value FROM json_each(?)) AND title IS NOT NULL
        AND NOT EXISTS (SELECT 1 FROM queries WHERE queries.session_id = conversations.session_id)
"""


class Deleter:
    """Deletes traces, one call at a time."""

    def __init__(
        self,
        cluster: Cluster,
        trace_log: TraceLog,
        projection: Projection,
        blobs: Blobs,
        notes: Notes,
    ) -> None:
        self._notes = notes
        self._naming = cluster.naming
        self._log = trace_log
        self._projection = projection
        self._blobs = blobs
        self._reader = StreamReader(cluster, cluster.naming.traces_stream)
        self._turn = asyncio.Lock()

    async def delete(self, query_ids: Sequence[str]) -> None:
        """Deletes traces.

        Raises:
            TraceError: The servers do not answer; deleting the same traces again removes the rest.
        """
        async with self._turn:
            await self._delete(query_ids)

    async def prune(self, older_than: float | None, most_bytes: int | None) -> int:
        """Deletes the oldest traces that are over; returns how many. Raises as `delete` does."""
        deleted = 0
        async with self._turn:
            for _ in range(_MOST_RUNS):
                used = await self._used_bytes()
                index = await self._projection.index()
                choose = partial(
                    _ids_to_prune,
                    older_than=older_than,
                    used_bytes=used,
                    most_bytes=most_bytes,
                )
                ids = await index.readers.run(choose)
                await self._delete(ids)
                deleted += len(ids)
                if most_bytes is None or not ids:
                    break
        return deleted

    async def _delete(self, query_ids: Sequence[str]) -> None:
        if not query_ids:
            return
        index = await self._projection.index()
        sessions = await index.readers.run(
            partial(conversations_of, query_ids=query_ids)
        )
        for query_id in query_ids:
            await self._log.delete(query_id)
            await self._notes.remove(self._naming.feedback(query_id))
        await self._projection.removed(list(map(self._naming.trace, query_ids)))
        # A title is somebody's words: it goes with the last trace of its conversation.
        titled = await index.readers.run(partial(_empty_titled, session_ids=sessions))
        for session_id in titled:
            await self._notes.remove(self._naming.title(session_id))

    async def _used_bytes(self) -> int:
        """Returns the space that traces take on each server."""
        return (await self._reader.state()).size_bytes + await self._blobs.size_bytes()


def _ids_to_prune(
    connection: sqlite3.Connection,
    older_than: float | None,
    used_bytes: int,
    most_bytes: int | None,
) -> list[str]:
    """Reads the oldest traces that are over: those started before a time, and as many more as free the excess."""
    over, wanted = connection.execute(_COUNT, (older_than,)).fetchone()
    if most_bytes is not None and used_bytes > most_bytes:
        # Five per cent below the limit, so that the next trace does not exceed it again; rounded up, so at least one.
        excess = used_bytes - most_bytes * 95 // 100
        by_size = -(-excess * over // used_bytes)
        wanted = max(wanted, min(over, by_size))
    return [row[0] for row in connection.execute(_OLDEST, (wanted,))]


def _empty_titled(
    connection: sqlite3.Connection, session_ids: Sequence[str]
) -> list[str]:
    """Reads which of the conversations have a title and no trace."""
    rows = connection.execute(_EMPTY_TITLED, (json.dumps(list(session_ids)),))
    return [row[0] for row in rows]
