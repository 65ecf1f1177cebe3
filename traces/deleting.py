"""Deletes traces: their events, their entries in the indexes, and the texts that no other trace holds.

All work happens in small steps on the writing connection, each a transaction of a millisecond or so, between the
appends of the queries under way: a separate thread would hold the store's lock while it waits for the interpreter's,
and appends would be refused. An interrupted deletion leaves a trace without its end, and texts noted as loose; the next
run continues.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from antiphon.traces.appending import Writer
from antiphon.traces.connections import LockedError, Readers
from antiphon.traces.conversations import (
    conversations_of,
    forget_empty_conversations,
)
from antiphon.traces.deletion_steps import (
    delete_some,
    delete_texts,
    give_back,
    ids_to_prune,
    merge_words,
    read_loose,
    references_after,
    used_bytes,
)
from antiphon.vocabulary.errors import TraceError

T = TypeVar("T")

_CONVERSATIONS_AT_ONCE = 100
"""The size of a step that forgets conversations; the other steps declare theirs beside their work."""
_BIT_BYTES = 100_000
"""Bytes that a step adds to the log, approximately."""

_REST_S = 0.001
"""Seconds between two steps, for other work."""

_LOCKED_S = 0.05
_LOCKED_TIMES = 200
"""Most attempts at a step that meets another process's lock, `_LOCKED_S` apart."""

_MOST_RUNS = 20
"""A run of pruning assumes traces of average size; a few runs free enough."""

_LOOSE = (
    "CREATE TABLE IF NOT EXISTS loose (key BLOB NOT NULL PRIMARY KEY) WITHOUT ROWID"
)
"""Texts of deleted traces that other traces may hold; the table survives an interrupted run."""


class Deleter:
    """Deletes, one request at a time, until `close`."""

    def __init__(self, writer: Writer, readers: Readers) -> None:
        self._writer = writer
        self._readers = readers
        self._turn = asyncio.Lock()
        self._closed = False

    async def delete(self, query_ids: Sequence[str]) -> int:
        """Deletes traces, and the texts that only they hold; returns how many there were.

        Raises:
            TraceError: They cannot be deleted, or the store was closed before all were.
        """
        async with self._turn:
            return await self._delete(query_ids)

    async def prune(self, older_than: float | None, most_bytes: int | None) -> int:
        """Deletes the oldest finished traces; returns how many. Raises as `delete` does."""
        deleted = 0
        async with self._turn:
            for _ in range(_MOST_RUNS):
                choose = partial(
                    ids_to_prune, older_than=older_than, most_bytes=most_bytes
                )
                ids = await self._readers.run(choose)
                sessions = await self._readers.run(
                    partial(conversations_of, query_ids=ids)
                )
                deleted += await self._delete(ids)
                await self._forget_empty(sessions)
                if (
                    most_bytes is None
                    or not ids
                    or await self._readers.run(used_bytes) <= most_bytes
                ):
                    break
        return deleted

    def close(self) -> None:
        """Refuses further deletions."""
        self._closed = True

    async def _delete(self, query_ids: Sequence[str]) -> int:
        await self._bit(lambda connection: connection.execute(_LOOSE))
        deleted = 0
        for query_id in query_ids:
            existed = False
            done = False
            while not done:
                existed, done = await self._bit(
                    partial(delete_some, query_id=query_id, existed=existed)
                )
            deleted += existed
        await self._delete_loose_texts()
        if deleted:
            merged = await self._bit(partial(merge_words, first=True))
            while not merged:
                merged = await self._bit(partial(merge_words, first=False))
        while not await self._bit(give_back):
            pass
        return deleted

    async def _forget_empty(self, sessions: Sequence[str]) -> None:
        """Forgets conversations without traces: each question that names no conversation has made one."""
        for start in range(0, len(sessions), _CONVERSATIONS_AT_ONCE):
            some = sessions[start : start + _CONVERSATIONS_AT_ONCE]
            await self._bit(partial(forget_empty_conversations, session_ids=some))

    async def _delete_loose_texts(self) -> None:
        loose = await self._readers.run(read_loose)
        if not loose:
            return
        # Scans all events, in threads, for the texts that other traces hold: a table of references would cost each
        # append a row a text.
        at = 0
        while loose:
            seen = await self._readers.run(partial(references_after, at=at))
            if seen.last == at:
                break
            at = seen.last
            loose -= seen.keys
            await asyncio.sleep(_REST_S)
        done = False
        while not done:
            loose, at, done = await self._bit(partial(delete_texts, loose=loose, at=at))

    async def _bit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs one transaction, and pauses after it."""
        for tried in range(1, _LOCKED_TIMES + 1):
            await self._writer.ready()
            if self._closed:
                raise TraceError(
                    "the trace store was closed before everything was deleted: the rest goes next time"
                )
            try:
                with self._writer.deleting(_BIT_BYTES) as connection:
                    result = work(connection)
                break
            except LockedError:
                if tried == _LOCKED_TIMES:
                    raise
                await asyncio.sleep(_LOCKED_S)
        await asyncio.sleep(_REST_S)
        return result
