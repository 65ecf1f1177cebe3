"""Saved sets of questions, a row each of a table of their own: per tenant, and encrypted with the traces."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import partial

import msgspec

from antiphon.traces.appending import Writer
from antiphon.traces.redacting import Redaction
from antiphon.traces.visibility import Sight
from antiphon.vocabulary.question_sets import QuestionSet
from antiphon.vocabulary.typed import prepared

TABLE = """
CREATE TABLE IF NOT EXISTS question_sets (
    tenant TEXT NOT NULL, set_id TEXT NOT NULL, body BLOB NOT NULL, PRIMARY KEY (tenant, set_id)
) WITHOUT ROWID
"""


class StoredQuestionSets:
    """Satisfies `QuestionSets` over one machine's store."""

    def __init__(self, writer: Writer, sight: Sight, redaction: Redaction) -> None:
        self._writer = writer
        self._sight = sight
        self._redaction = redaction

    async def all(self) -> Sequence[QuestionSet]:
        """Returns every set. Raises what `QuestionSets.all` does."""
        return await self._sight.of_own(read_question_sets)

    async def put(self, saved: QuestionSet) -> QuestionSet:
        """Stores a set. Returns and raises what `QuestionSets.put` does."""
        redacted = self._redaction.event(saved)
        await self._write(saved.set_id, msgspec.json.encode(redacted))
        return redacted

    async def delete(self, set_id: str) -> None:
        """Deletes a set. Raises what `QuestionSets.delete` does."""
        await self._write(set_id, b"")

    async def _write(self, set_id: str, body: bytes) -> None:
        tenant = self._sight.own_label
        await self._writer.run(
            partial(write_question_set, set_id=set_id, tenant=tenant, body=body)
        )


def write_question_set(
    connection: sqlite3.Connection, set_id: str, tenant: str, body: bytes
) -> None:
    """Stores a set, replacing the one with its id; an empty body deletes it."""
    connection.execute(
        "DELETE FROM question_sets WHERE tenant = ? AND set_id = ?", (tenant, set_id)
    )
    if body:
        connection.execute(
            "INSERT INTO question_sets VALUES (?, ?, ?)", (tenant, set_id, body)
        )


def read_question_sets(
    connection: sqlite3.Connection, tenant: str
) -> list[QuestionSet]:
    """Reads a tenant's sets, the last stored first."""
    rows = connection.execute(
        "SELECT body FROM question_sets WHERE tenant = ?", (tenant,)
    )
    found = [msgspec.json.decode(row[0], type=prepared(QuestionSet)) for row in rows]
    found.sort(key=lambda each: (-each.at, each.set_id))
    return found
