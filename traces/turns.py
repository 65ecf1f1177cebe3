"""All appends of one turn of the event loop as one commit, which costs more than its rows (decision 064)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import NamedTuple

from antiphon.vocabulary.errors import SequenceError, TraceError
from antiphon.vocabulary.events import Event, QueryClosed, Recorded


class Batch(NamedTuple):
    """Events that are stored together or not at all."""

    query_id: str
    expected_seq: int
    events: Sequence[Recorded[Event]]
    owner: str


Write = Callable[[Sequence[Batch]], list[SequenceError | None]]
"""Stores batches in one transaction; for each, whether another writer came before it."""


class Turns:
    """Gathers the batches of a turn, and stores them at its end.

    A query that is alone has nobody to share a commit with, and does not wait for a turn to end.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._waiting: list[tuple[Batch, asyncio.Future[None]]] = []
        self._under_way: set[str] = set()

    async def store(self, batch: Batch) -> None:
        """Stores a batch.

        Raises:
            SequenceError: Another writer came before it.
            TraceError: The store cannot be written.
        """
        if self._alone(batch):
            if error := self._errors([batch])[0]:
                raise error
            return
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        self._waiting.append((batch, written))
        if len(self._waiting) == 1:
            loop.call_soon(self._flush)
        await written

    def _alone(self, batch: Batch) -> bool:
        """Whether no other query is under way."""
        self._under_way.add(batch.query_id)
        alone = len(self._under_way) == 1 and not self._waiting
        if isinstance(batch.events[-1].event, QueryClosed):
            self._under_way.discard(batch.query_id)
        return alone

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, []
        for error, (_, written) in zip(self._errors([batch for batch, _ in waiting]), waiting, strict=True):
            if written.done():
                continue  # whoever waited was cancelled
            if error is None:
                written.set_result(None)
            else:
                written.set_exception(error)

    def _errors(self, batches: Sequence[Batch]) -> Sequence[TraceError | None]:
        """Stores the batches; what kept each from being stored. One that cannot be keeps none of the others out."""
        try:
            return self._write(batches)
        except TraceError as error:
            return [error] if len(batches) == 1 else [self._errors([batch])[0] for batch in batches]
