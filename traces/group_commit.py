"""Stores the appends of several queries in one turn of the event loop in one commit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import structlog

from antiphon.traces.appending import LOCK_PAUSE_S, Writer
from antiphon.traces.connections import LockedError
from antiphon.traces.packing import Batch, Packed
from antiphon.vocabulary.errors import TraceError

_log = structlog.get_logger(__name__)

_TOGETHER = 8
"""Batches that may share a commit; more would hold up the event loop for over 5 ms."""
_SHARE = 4
"""At least one in so many waiting batches shares the commit. A busy loop gets to its commits rarely: eight at a time, a
thousand concurrent queries waited for their appends longer than the bus waits for a store."""


class _Waiting(NamedTuple):
    """A batch that waits for its commit."""

    packed: Packed
    written: asyncio.Future[None]

    def end(self, error: BaseException | None) -> None:
        """Wakes the waiting task, unless it was cancelled meanwhile."""
        if self.written.done():
            return
        if error is None:
            self.written.set_result(None)
        else:
            self.written.set_exception(error)


class GroupCommit:
    """Stores the appends of all queries in one turn of the event loop in one commit.

    A commit costs more than its rows, and far more if it waits for the disk.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._waiting: list[_Waiting] = []

    async def store(self, batch: Batch) -> None:
        """Stores a batch at the end of the turn.

        Raises:
            SequenceError: Another writer came before it.
            TraceError: The store cannot be written.
        """
        await self._writer.ready()
        await self._add(batch)

    def _add(self, batch: Batch) -> asyncio.Future[None]:
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._waiting.append(_Waiting(self._writer.pack(batch), written))
        if len(self._waiting) == 1:
            loop.call_soon(self._flush, loop)
        return written

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        # A batch whose task was cancelled is dropped: nobody would act on it once it is stored.
        self._waiting = [each for each in self._waiting if not each.written.done()]
        group = self._waiting[: max(_TOGETHER, len(self._waiting) // _SHARE)]
        try:
            errors = self._errors([waiting.packed for waiting in group])
        except LockedError as error:
            if not self._writer.lock_is_long:
                loop.call_later(LOCK_PAUSE_S, self._flush, loop)
                return
            group = self._waiting
            _log.warning("trace_store_locked", appends=len(group), error=str(error))
            self._end(group, [error] * len(group), loop)
        except BaseException as error:
            # A bug of ours: without this, the waiting tasks would wait for ever.
            self._end(group, [error] * len(group), loop)
            raise
        else:
            self._end(group, errors, loop)

    def _end(
        self,
        group: Sequence[_Waiting],
        errors: Sequence[BaseException | None],
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        """Wakes the tasks whose commit was made or refused; the others follow after other work of the loop."""
        for waiting, error in zip(group, errors, strict=True):
            waiting.end(error)
        self._waiting = self._waiting[len(group) :]
        if self._waiting:
            loop.call_soon(self._flush, loop)

    def _errors(self, group: Sequence[Packed]) -> Sequence[TraceError | None]:
        """Stores the batches and returns the error of each, or None.

        If the transaction as a whole is refused, each is tried alone, so that one that cannot be stored blocks no
        other.

        Raises:
            LockedError: Another process is writing; nothing is stored.
        """
        try:
            return self._writer.write(group)
        except LockedError:
            raise
        except TraceError as error:
            if len(group) == 1:
                return [error]
        return list(chain.from_iterable(map(self._tried_alone, group)))

    def _tried_alone(self, packed: Packed) -> Sequence[TraceError | None]:
        try:
            return self._errors([packed])
        except LockedError as error:
            # Some before it may be stored: trying all of them again would find their events and take them for another
            # writer's.
            return [error]
