"""The trace store of one machine: append-only tables in one SQLite file."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from antiphon.traces.annotating import StoredAnnotations
from antiphon.traces.appending import Writer
from antiphon.traces.connections import Readers, StoreFile
from antiphon.traces.conversations import (
    clear_conversation,
    forget_conversation,
    open_conversation,
)
from antiphon.traces.deleting import Deleter
from antiphon.traces.encryption import Connect, connector
from antiphon.traces.event_log import read_forms, read_lines, read_trace
from antiphon.traces.finding import Finder
from antiphon.traces.group_commit import GroupCommit
from antiphon.traces.inspecting import damage_in
from antiphon.traces.losses import note_losses, noted_losses
from antiphon.traces.ownership import (
    IMPORTED,
    Origin,
    Owner,
    check_abandoned,
    is_imported,
    read_unfinished,
    take_over,
)
from antiphon.traces.packing import Batch
from antiphon.traces.question_sets import StoredQuestionSets
from antiphon.traces.redacting import Redaction
from antiphon.traces.schema import Durability, open_writer
from antiphon.traces.search_index import is_behind, needs_index
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import (
    AnsweredQuestion,
    ConversationSummary,
    PlacedQuestion,
    TraceFilter,
    TraceSummary,
)
from antiphon.vocabulary.trends import TracePeriod
from antiphon.vocabulary.values import Exchange

FILE_NAME = "traces.sqlite"


class SqliteTraceStore:
    """Stores traces in `<folder>/traces.sqlite`; satisfies `TraceStore`.

    Appends run on the event loop, where a commit takes 0.1 to 3 ms; reads and checkpoints run in threads.
    Commits survive the death of the process; a power cut may lose the last ones, except with the durability `power`,
    with which each commit waits for the disk.

    It sees everybody's traces; `seen_by` returns one tenant's view of it.

    Attributes:
        annotations: Feedback on answers, and titles of conversations.
        question_sets: Saved sets of questions.
    """

    def __init__(
        self,
        path: Path,
        connection: sqlite3.Connection,
        redaction: Redaction,
        catalog: Catalog,
        connect: Connect = sqlite3.connect,
    ) -> None:
        file = StoreFile(path, connect)
        self._catalog = catalog
        self._redaction = redaction
        self._readers = Readers(file)
        self._writer = Writer(file, connection, redaction)
        self._commits = GroupCommit(self._writer)
        self._deleter = Deleter(self._writer, self._readers)
        self._owner = Owner(path.parent)
        self._path = path
        self._see(None)

    def _see(self, label: str | None) -> None:
        self._finder = Finder(self._readers, label)
        self._sight = self._finder.sight
        seen = (self._writer, self._sight, self._redaction)
        self.annotations = StoredAnnotations(*seen)
        self.question_sets = StoredQuestionSets(*seen)

    @classmethod
    def open(
        cls,
        folder: Path,
        durability: Durability = "process",
        redaction: Redaction | None = None,
        catalog: Catalog = BUILT_IN,
        key: str | None = None,
    ) -> SqliteTraceStore:
        """Opens the store of a data folder, creating both if they are missing.

        Args:
            durability: The failures that a commit survives.
            redaction: Redacts every event; None: only keys of the service.
            catalog: The known events; others, written by another program, cannot be read.
            key: The key that the file is encrypted with, 64 hex digits; None: it is not.

        Raises:
            ConfigurationError: The folder, the file or the key cannot be used.
        """
        path = folder / FILE_NAME
        note_losses(path)
        if redaction is None:
            redaction = Redaction()
        writer = open_writer(path, durability, key)
        return cls(path, writer, redaction, catalog, connector(key))

    def seen_by(self, label: str) -> SqliteTraceStore:
        """Returns the store as a label's owner sees it: it holds only what has the label, and labels what it writes."""
        seen = copy.copy(self)
        seen._see(label)
        return seen

    async def label_of(self, query_id: str) -> str | None:
        """Returns the label of a trace; None if there is no such trace."""
        return await self._sight.label_of(query_id)

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        """Stores events whose first `seq` is `expected_seq + 1`, all or none.

        Raises:
            SequenceError: The log's last `seq` is not `expected_seq`.
            TraceError: The store cannot be written.
        """
        if expected_seq == 0:
            self._owner.claim()
        await self._commits.store(self._batch(query_id, expected_seq, events))

    def _batch(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> Batch:
        origin = Origin(self._owner.name, self._sight.own_label)
        return Batch(query_id, expected_seq, events, origin)

    async def add(self, events: Sequence[Recorded[Event]]) -> None:
        """Stores a whole trace that was recorded elsewhere, all or nothing; no process resumes it by itself.

        Raises:
            SequenceError: There is a trace of that id.
            TraceError: The store cannot be written.
        """
        query_id = events[0].query_id
        await self._commits.store(
            Batch(query_id, 0, events, Origin(IMPORTED, self._sight.own_label))
        )

    async def is_imported(self, query_id: str) -> bool:
        """Returns True for a trace that was recorded elsewhere and has not been continued here.

        Raises:
            NotFoundError: No such trace.
        """
        return await self._sight.of_trace(is_imported, query_id)

    async def read(self, query_id: str, after: int = 0) -> list[Recorded[Event]]:
        """Returns the events with `seq` > `after`, in order.

        Raises:
            NotFoundError: No such trace.
            DecodeError: An event is of an unknown kind, version or shape.
            TraceError: The store cannot be read.
        """
        return await self._sight.of_trace(
            read_trace, query_id, after=after, catalog=self._catalog
        )

    async def forms(self, query_id: str) -> Sequence[dict[str, object]]:
        """Returns each event with the fields that it had when it was written."""
        return await self._sight.of_trace(read_forms, query_id)

    async def lines(self, query_id: str) -> Sequence[bytes]:
        """Returns each event as a line of JSON, as the store holds it.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """
        return await self._sight.of_trace(read_lines, query_id)

    async def list(
        self,
        limit: int = 50,
        before: float | None = None,
        *,
        after_id: str | None = None,
        where: TraceFilter | None = None,
        among: Sequence[str] | None = None,
    ) -> Sequence[TraceSummary]:
        """Returns a line a trace, the newest first.

        Args:
            before: Only those started before it, in seconds since the epoch.
            after_id: Only those that come after this trace in the list: the last of one page leads to the next.
            among: Only these traces.
        """
        if needs_index(where):
            await self._catch_up()
        return await self._finder.list(limit, before, after_id, where, among)

    async def trends(
        self, where: TraceFilter, utc_offset_s: int = 0
    ) -> Sequence[TracePeriod]:
        """Returns sums of the traces over time; its arguments are those of `TraceTrends.trends`."""
        if needs_index(where):
            await self._catch_up()
        return await self._finder.trends(where, utc_offset_s)

    async def _catch_up(self) -> None:
        # Ended queries enter the index several at once, or when somebody searches it.
        if await self._readers.run(is_behind):
            await self._writer.catch_up()

    async def ids(self, beginning: str, limit: int) -> Sequence[str]:
        """Returns the ids of traces with this beginning, in order; `beginning` itself comes first if it is one."""
        return await self._finder.ids(beginning, limit)

    async def conversations(
        self,
        limit: int,
        after_id: str | None = None,
        text: str | None = None,
        session_id: str | None = None,
    ) -> Sequence[ConversationSummary]:
        """Returns a line a conversation, the last asked first; takes what `ConversationListing` does."""
        if text is not None:
            await self._catch_up()
        return await self._finder.conversations(limit, after_id, text, session_id)

    async def path(
        self, session_id: str, through: str | None = None
    ) -> Sequence[PlacedQuestion]:
        """Returns the questions that follow one another; takes and raises what `ConversationListing.path` does."""
        return await self._finder.path(session_id, through)

    async def answered(
        self, session_id: str, query_ids: Sequence[str]
    ) -> Sequence[AnsweredQuestion]:
        """Returns the traces among these answered since the clearing, oldest first. Raises as `exchanges` does."""
        return await self._finder.answered(session_id, query_ids)

    async def unfinished(self) -> Sequence[str]:
        """Returns the open queries that no living process works on, the oldest first."""
        found = await self._readers.run(read_unfinished)
        unfinished: list[str] = []
        for query_id, owner in found:
            # This process continues its own queries, and nobody resumes imported ones.
            if owner == IMPORTED or self._owner.lives(owner):
                continue
            unfinished.append(query_id)
        return unfinished

    async def take_over(self, query_id: str) -> Sequence[Recorded[Event]]:
        """Makes this process the owner of an open query; returns the events that its trace then holds.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: It is over, or another process works on it.
        """
        self._owner.claim()
        # Checked before waiting for the lock, which the process that works on the query may well hold.
        await self._sight.of_trace(check_abandoned, query_id, owner=self._owner)
        await self._writer.run(partial(take_over, query_id=query_id, owner=self._owner))
        # Read only now, because the previous owner may have written until this moment.
        return await self.read(query_id)

    async def delete(self, query_ids: Sequence[str]) -> int:
        """Deletes traces, and the texts that no other trace holds; returns how many there were."""
        query_ids = await self._sight.visible(query_ids)
        return await self._deleter.delete(query_ids)

    async def delete_conversation(self, session_id: str) -> int:
        """Deletes a conversation and its traces; returns how many there were.

        Raises:
            NotFoundError: No such conversation.
        """
        ids = await self._finder.ids_of_conversation(session_id)
        # The traces first: if the deletion is interrupted, the conversation still leads to the rest.
        deleted = await self.delete(ids)
        await self._writer.run(partial(forget_conversation, session_id=session_id))
        return deleted

    async def prune(
        self, *, older_than: float | None = None, most_bytes: int | None = None
    ) -> int:
        """Deletes the oldest finished traces: those started before a time, and more until the file is small enough."""
        return await self._deleter.prune(older_than, most_bytes)

    async def exchanges(
        self, session_id: str, limit: int, follows: str | None = None
    ) -> Sequence[Exchange]:
        """Returns the last answered exchanges; takes and raises what `Conversations.exchanges` does."""
        return await self._finder.exchanges(session_id, limit, follows)

    async def open_conversation(self, session_id: str) -> None:
        """Registers the conversation."""
        await self._writer.run(
            partial(
                open_conversation,
                session_id=session_id,
                label=self._sight.own_label,
            )
        )

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets the exchanges so far (their traces stay).

        Raises:
            NotFoundError: No such conversation.
        """
        await self._writer.run(self._sight.checked(clear_conversation, session_id))

    async def check_writable(self) -> None:
        """Tries to write, unless somebody did a moment ago; `write_problem` then gives the outcome."""
        if not self._writer.last_write.is_recent:
            # The writer has noted the problem already.
            with suppress(TraceError):
                await self._writer.touch()

    @property
    def write_problem(self) -> str | None:
        """Why the last write failed, in a sentence; None: it worked."""
        return self._writer.last_write.problem

    @property
    def losses(self) -> Sequence[str]:
        """Losses of stored events, a sentence each, until somebody has acknowledged them."""
        return noted_losses(self._path)

    async def damage(self) -> str | None:
        """Reads the whole store and returns what is wrong with it, in a sentence; takes a second for each 500 MB."""
        try:
            return await self._readers.run(damage_in)
        except TraceError as error:
            return f"{error}."

    async def close(self) -> None:
        """Moves the write-ahead log into the database and closes everything."""
        self._deleter.close()
        self._readers.close()
        self._owner.release()
        await self._writer.close()
