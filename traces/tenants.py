"""Visibility: which traces and conversations a tenant sees. Nothing else decides that."""

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

VISIBLE = "(:tenant IS NULL OR tenant = :tenant)"
"""The condition on a row of `queries` or `conversations`; None sees everything."""


class Sight:
    """What one tenant sees of a store; None sees everything, as who works on the machine does."""

    def __init__(self, readers: Readers, tenant: str | None = None) -> None:
        self._readers = readers
        self.tenant = tenant
        self.label = LOCAL_TENANT
        """Whose is what is written by it."""
        if tenant is not None:
            self.label = tenant

    async def tenant_of(self, query_id: str) -> str | None:
        """Reads whose trace it is; None where there is no such trace."""
        return await self._readers.run(partial(_tenant_of_trace, query_id=query_id))

    async def visible(self, query_ids: Sequence[str]) -> Sequence[str]:
        """Returns those of the traces that the tenant sees."""
        if self.tenant is None:
            return query_ids
        return [each for each in query_ids if await self.tenant_of(each) == self.tenant]

    async def of_trace(
        self, work: Callable[..., T], query_id: str, **given: object
    ) -> T:
        """Reads of a trace that the tenant sees; any other is answered for like one that does not exist.

        Raises:
            NotFoundError: There is no such trace, or it is another tenant's.
        """

        def read(connection: sqlite3.Connection) -> T:
            if not self._sees(connection, query_id):
                raise unknown_trace(query_id)
            return work(connection, query_id=query_id, **given)

        return await self._readers.run(read)

    def _sees(self, connection: sqlite3.Connection, query_id: str) -> bool:
        if self.tenant is None:
            return True
        return _tenant_of_trace(connection, query_id) == self.tenant

    async def of_conversation(
        self, work: Callable[..., T], session_id: str, **given: object
    ) -> T:
        """Reads of a conversation that the tenant sees; raises as `checked` does."""
        return await self._readers.run(self.checked(work, session_id, **given))

    def checked(
        self, work: Callable[..., T], session_id: str, **given: object
    ) -> Callable[[sqlite3.Connection], T]:
        """Returns work on a conversation that looks first whether the tenant sees it.

        The work raises:
            NotFoundError: There is no such conversation, or it is another tenant's.
        """

        def run(connection: sqlite3.Connection) -> T:
            if self.tenant is not None:
                row = connection.execute(
                    "SELECT tenant FROM conversations WHERE session_id = ?",
                    (session_id,),
                ).fetchone()
                if row is None or row[0] != self.tenant:
                    raise unknown_conversation(session_id)
            return work(connection, session_id=session_id, **given)

        return run


def _tenant_of_trace(connection: sqlite3.Connection, query_id: str) -> str | None:
    """Reads whose trace it is; None where there is no such trace."""
    row = connection.execute(
        "SELECT tenant FROM queries WHERE query_id = ?", (query_id,)
    ).fetchone()
    if row is None:
        return None
    return str(row[0])


def unknown_conversation(session_id: str) -> NotFoundError:
    """Returns the error for a conversation that is not there."""
    return NotFoundError(
        f"there is no conversation {session_id!r}; leave session_id out to begin a new one"
    )
