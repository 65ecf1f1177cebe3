"""A node's own list of traces, in a local file that is brought up to date with the stream before each read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import structlog

from antiphon.cluster.connection import Cluster
from antiphon.cluster.list_tables import (
    Progress,
    Step,
    add_steps,
    begin,
    make_tables,
    note_missing,
    read_progress,
    remove,
    remove_others,
    trace_in,
)
from antiphon.cluster.messages import IMPORTED, seqs_of, tenant_of, unpack
from antiphon.cluster.stream_reading import (
    StoredMessage,
    StreamReader,
    StreamState,
)
from antiphon.cluster.trace_log import TraceLog
from antiphon.traces import (
    TraceIndex,
    TracePart,
    merge_words,
)
from antiphon.vocabulary.errors import DecodeError, TraceError

log = structlog.get_logger(__name__)

FILE_NAME = "traces-of-cluster.sqlite"
FORMAT = 2
"""Version of the list's tables."""
AT_ONCE = 200
"""Messages added in one transaction."""


class Projection:
    """The list of traces, filled on demand; processes of one machine share its file."""

    def __init__(
        self, cluster: Cluster, trace_log: TraceLog, folder: Path, key: str | None
    ) -> None:
        self._cluster = cluster
        self._log = trace_log
        self._path = folder / FILE_NAME
        self._key = key
        self._naming = cluster.naming
        self._reader = StreamReader(cluster, cluster.naming.traces_stream)
        self._index: TraceIndex | None = None
        self._current: asyncio.Task[TraceIndex] | None = None
        self._next: asyncio.Task[TraceIndex] | None = None

    async def index(self) -> TraceIndex:
        """Opens the file, and returns it once it holds everything that was stored before this call.

        Raises:
            ConfigurationError: The file cannot be used.
            TraceError: The servers do not answer, or the file cannot be written.
        """
        # At most one look at the stream is under way, and one waits for it, which serves all callers since then.
        if self._next is None:
            self._next = asyncio.create_task(self._after(self._current))
            self._next.add_done_callback(_note_error)
        # Shielded: a caller who gives up must not stop it, because others share it, and a large stream takes long.
        return await asyncio.shield(self._next)

    async def _after(self, current: asyncio.Task[TraceIndex] | None) -> TraceIndex:
        if current is not None:
            await asyncio.wait([current])
        # This look begins now; callers from here on need the next one, which sees what is stored meanwhile.
        self._current, self._next = self._next, None
        if self._index is None:
            index = await asyncio.to_thread(TraceIndex, self._path, self._key)
            await index.write(make_tables)
            self._index = index
        await self._catch_up(self._index)
        return self._index

    async def removed(self, subjects: Sequence[str]) -> None:
        """Removes deleted subjects from the list, and their words from its search index.

        Raises:
            TraceError: The file cannot be written.
        """
        if self._index is not None:
            await self._index.write(partial(remove, subjects=subjects))
            await self._index.write(merge_words)

    async def close(self) -> None:
        """Ends the looks under way and closes the file."""
        looking = [task for task in (self._current, self._next) if task is not None]
        for task in looking:
            task.cancel()
        if looking:
            await asyncio.wait(looking)
        if self._index is not None:
            self._index.close()
            self._index = None

    async def _catch_up(self, index: TraceIndex) -> None:
        before = await index.write(read_progress)
        state = await self._reader.state()
        # With the format in its name: a list of another version's format is then rebuilt like that of another stream.
        state = state._replace(incarnation=f"{FORMAT} {state.incarnation}")
        progress = await index.write(partial(begin, state=state, before=before))
        while progress.seq < state.last_seq:
            progress = await self._add(index, progress, state)
            # Another process has rebuilt the list for yet another stream: the one that this look was for is gone.
            if progress.incarnation != state.incarnation:
                raise TraceError(
                    "the stream of traces was replaced while it was read: read it again"
                )
        # A difference means that another node has deleted traces since the last comparison. If another process is
        # further than this one, it makes the comparison.
        held = progress.messages + progress.missing
        if progress.seq == state.last_seq and held != state.messages:
            await self._compare(index, state)

    async def _add(
        self, index: TraceIndex, progress: Progress, state: StreamState
    ) -> Progress:
        """Adds the messages after a place; returns the file's progress, which another process may have set back."""
        steps: list[Step] = []
        everything = f"{self._naming.prefix}.>"
        first = progress.seq + 1
        async for message in self._reader.between(everything, first, state.last_seq):
            steps.append(await self._step_of(message))
            if len(steps) == AT_ONCE:
                progress = await self._write(index, steps, progress, message.seq)
                if progress.seq < message.seq:
                    return progress
                steps = []
        return await self._write(index, steps, progress, state.last_seq)

    async def _write(
        self, index: TraceIndex, steps: list[Step], after: Progress, reached: int
    ) -> Progress:
        return await index.write(
            partial(add_steps, steps=steps, after=after, reached=reached)
        )

    async def _step_of(self, message: StoredMessage) -> Step:
        query_id = trace_in(message.subject)
        first, last = seqs_of(message)
        if query_id is None or not first:
            return Step(message, None)
        try:
            payload = unpack(await self._log.data_of(message, query_id), query_id)
        except DecodeError as error:
            log.warning("trace_not_listed", query_id=query_id, error=str(error))
            return Step(message, None)
        rows = payload.rows(query_id)
        # This program did not write it: its header does not agree with its events.
        seqs = [row.seq for row in rows]
        if (
            not seqs
            or seqs[-1] != last
            or seqs != list(range(first, first + len(seqs)))
        ):
            log.warning("trace_not_listed", query_id=query_id, error="events missing")
            return Step(message, None)
        tenant = tenant_of(message.headers)
        is_imported = IMPORTED in message.headers
        return Step(
            message, TracePart(query_id, rows, message.seq, tenant, is_imported)
        )

    async def _compare(self, index: TraceIndex, state: StreamState) -> None:
        """Removes the subjects that are no longer in the stream."""
        there = await self._reader.subjects(f"{self._naming.prefix}.>")
        compare = partial(
            remove_others, there=there, seen_seq=state.last_seq, naming=self._naming
        )
        await index.write(compare)
        await index.write(partial(note_missing, state=state))


def _note_error(looked: asyncio.Task[TraceIndex]) -> None:
    """Logs an error, in case nobody waits for it any more; callers who still wait get it too."""
    if not looked.cancelled() and looked.exception() is not None:
        log.debug("list_not_brought_up_to_date", error=str(looked.exception()))
