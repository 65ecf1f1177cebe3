"""Visibility: only their label decides which traces and conversations a caller sees."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from antiphon.traces.connections import Readers
from antiphon.traces.event_log import unknown_trace
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.errors import NotFoundError

T = TypeVar("T")

VISIBLE = "(:label IS NULL OR tenant = :label)"
"""The condition on a row of `queries` or `conversations`; their label is the tenant, and None sees everything."""


class Sight:
    """A view of a store: the rows with a label. None sees everything, like the person who works on the machine.

    Attributes:
        own_label: The label of rows written through it.
    """

    def __init__(self, readers: Readers, label: str | None = None) -> None:
        self._readers = readers
        self.label = label
        self.own_label = LOCAL_TENANT if label is None else label

    async def label_of(self, query_id: str) -> str | None:
        """Reads the label of a trace; None if there is no such trace."""
        return await self._readers.run(partial(_label_of, query_id=query_id))

    async def visible(self, query_ids: Sequence[str]) -> Sequence[str]:
        """Returns the visible ones of these traces."""
        if self.label is None:
            return query_ids
        return [each for each in query_ids if await self.label_of(each) == self.label]

    async def of_trace(
        self, work: Callable[..., T], query_id: str, **given: object
    ) -> T:
        """Runs a read on a visible trace; treats any other like one that does not exist.

        Raises:
            NotFoundError: There is no such trace, or it has another label.
        """

        def read(connection: sqlite3.Connection) -> T:
            if not self._sees(connection, query_id):
                raise unknown_trace(query_id)
            return work(connection, query_id=query_id, **given)

        return await self._readers.run(read)

    def _sees(self, connection: sqlite3.Connection, query_id: str) -> bool:
        if self.label is None:
            return True
        return _label_of(connection, query_id) == self.label

    async def of_own(self, work: Callable[..., T]) -> T:
        """Runs a read on the rows with the own label."""
        return await self._readers.run(partial(work, tenant=self.own_label))

    async def of_conversation(
        self, work: Callable[..., T], session_id: str, **given: object
    ) -> T:
        """Runs a read on a visible conversation; raises as `checked` does."""
        return await self._readers.run(self.checked(work, session_id, **given))

    def checked(
        self, work: Callable[..., T], session_id: str, **given: object
    ) -> Callable[[sqlite3.Connection], T]:
        """Wraps work on a conversation to check first that it is visible.

        The work raises:
            NotFoundError: There is no such conversation, or it has another label.
        """

        def run(connection: sqlite3.Connection) -> T:
            if self.label is not None:
                row = connection.execute(
                    "SELECT tenant FROM conversations WHERE session_id = ?",
                    (session_id,),
                ).fetchone()
                if row is None or row[0] != self.label:
                    raise unknown_conversation(session_id)
            return work(connection, session_id=session_id, **given)

        return run


def _label_of(connection: sqlite3.Connection, query_id: str) -> str | None:
    row = connection.execute(
        "SELECT tenant FROM queries WHERE query_id = ?", (query_id,)
    ).fetchone()
    if row is None:
        return None
    return str(row[0])


def unknown_conversation(session_id: str) -> NotFoundError:
    """Returns the error for a conversation that does not exist."""
    return NotFoundError(
        f"there is no conversation {session_id!r}; leave session_id out to begin a new one"
    )
