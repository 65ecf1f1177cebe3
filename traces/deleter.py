"""Deletes traces bit by bit on the writing connection, between the appends of the queries under way.

A thread of its own would hold the store's lock while it waits for the interpreter's, and appends would be refused.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from antiphon.traces.appending import Appender
from antiphon.traces.deleting import (
    delete_some,
    delete_texts,
    give_back,
    held_after,
    ids_to_prune,
    loose_texts,
    merge_words,
    prepare,
    used_bytes,
)
from antiphon.traces.readers import Readers
from antiphon.traces.refusals import is_locked
from antiphon.vocabulary.errors import TraceError

T = TypeVar("T")

_REST_S = 0.001
"""Seconds between two bits, in which others work."""

_LOCKED_S = 0.25
_LOCKED_TIMES = 40
"""How often a bit is tried again that met another process's lock."""

_BIT_BYTES = 100_000
"""What a bit adds to the log, about."""

_MOST_RUNS = 20
"""A run frees what the average trace would; a few free what was asked for."""


class Deleter:
    """Deletes, one wish at a time, until `close`."""

    def __init__(self, appender: Appender, readers: Readers) -> None:
        self._appender = appender
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
        """Deletes the oldest traces that are over; returns how many. Raises as `delete` does."""
        deleted = 0
        async with self._turn:
            for _ in range(_MOST_RUNS):
                ids = await self._readers.run(
                    partial(ids_to_prune, older_than=older_than, most_bytes=most_bytes),
                )
                deleted += await self._delete(ids)
                if most_bytes is None or not ids or await self._readers.run(used_bytes) <= most_bytes:
                    break
        return deleted

    def close(self) -> None:
        """Lets nothing more be deleted."""
        self._closed = True

    async def _delete(self, query_ids: Sequence[str]) -> int:
        await self._bit(prepare)
        deleted = 0
        for query_id in query_ids:
            there = done = False
            while not done:
                some, done = await self._bit(partial(delete_some, query_id=query_id))
                there = there or some
            deleted += there
        await self._delete_texts()
        if deleted:
            done = await self._bit(partial(merge_words, first=True))
            while not done:
                done = await self._bit(partial(merge_words, first=False))
        while not await self._bit(give_back):
            pass
        return deleted

    async def _delete_texts(self) -> None:
        loose = await self._readers.run(loose_texts)
        at, last = 0, -1
        while loose and at != last:
            last = at
            at, held = await self._readers.run(partial(held_after, at=last))
            loose -= held
            await asyncio.sleep(_REST_S)
        while loose:
            loose, at = await self._bit(partial(delete_texts, loose=loose, at=at))

    async def _bit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """One transaction, and a pause after it."""
        for tried in range(1, _LOCKED_TIMES + 1):
            if self._closed:
                raise TraceError("the trace store was closed before everything was deleted: the rest goes next time")
            try:
                with self._appender.deleting(_BIT_BYTES) as connection:
                    result = work(connection)
                break
            except TraceError as error:
                if tried == _LOCKED_TIMES or not _was_locked(error):
                    raise
                await asyncio.sleep(_LOCKED_S)
        await asyncio.sleep(_REST_S)
        await self._appender.log_moved()
        return result


def _was_locked(error: TraceError) -> bool:
    """Whether another process held it up; without a cause, one did a moment ago."""
    cause = error.__cause__
    return cause is None or (isinstance(cause, sqlite3.Error) and is_locked(cause))
