"""The trace store of several machines: traces on JetStream, and a local list of them for searches and listings."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from antiphon.cluster.annotations import Notes, SharedAnnotations, SharedQuestionSets
from antiphon.cluster.blobs import Blobs
from antiphon.cluster.connection import Cluster
from antiphon.cluster.conversations import SharedConversations
from antiphon.cluster.ends import Ends
from antiphon.cluster.following import Following, emit_live
from antiphon.cluster.messages import IMPORTED
from antiphon.cluster.ownership import ABANDONED_S, find_unfinished
from antiphon.cluster.projection import Projection
from antiphon.cluster.retention import Deleter
from antiphon.cluster.seen_traces import SeenEnd, SeenTraces
from antiphon.cluster.streams import make_streams
from antiphon.cluster.tails import Batch
from antiphon.cluster.trace_log import TraceLog
from antiphon.cluster.trace_ports import TraceHead
from antiphon.cluster.trace_reading import StoredTrace, TraceReader
from antiphon.traces import Finder, Redaction
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import (
    AnsweredQuestion,
    ConversationSummary,
    Json,
    PlacedQuestion,
    TraceFilter,
    TraceSummary,
)
from antiphon.vocabulary.trends import TracePeriod
from antiphon.vocabulary.values import Exchange


class JetStreamTraceStore:
    """Stores traces in a stream; satisfies `WholeTraceStore` and `TraceFollowing`.

    Appending and reading need only the servers. Listing, searching and conversations need the list of traces, which
    is made in the data folder at its first use. The store sees the traces of every tenant.

    Args:
        folder: Holds the list of traces.
        abandoned_after_s: Seconds without an event after which an open trace that waits for no worker is abandoned.
        key: The key that encrypts the list; None: it is not encrypted.
    """

    def __init__(
        self,
        cluster: Cluster,
        folder: Path,
        redaction: Redaction,
        catalog: Catalog = BUILT_IN,
        abandoned_after_s: float = ABANDONED_S,
        key: str | None = None,
    ) -> None:
        blobs = Blobs(cluster)
        self._cluster = cluster
        self._catalog = catalog
        self._abandoned_after_s = abandoned_after_s
        self._log = TraceLog(cluster, redaction, blobs)
        self._reader = TraceReader(self._log, blobs)
        self._traces = SeenTraces(self._log, self._reader, catalog, None)
        self._projection = Projection(cluster, self._log, folder, key)
        self._notes = Notes(cluster, self._projection)
        self._conversations = SharedConversations(
            cluster, self._projection, self._notes
        )
        self._deleter = Deleter(
            cluster, self._log, self._projection, blobs, self._notes
        )
        self._ends = Ends(cluster)
        self._redaction = redaction
        self._tenant: str | None = None

    @classmethod
    async def open(
        cls,
        cluster: Cluster,
        folder: Path,
        redaction: Redaction | None = None,
        catalog: Catalog = BUILT_IN,
        abandoned_after_s: float = ABANDONED_S,
    ) -> JetStreamTraceStore:
        """Makes the streams if they are missing, and returns the store; closing it leaves the connection open.

        Args:
            redaction: Applied to every event; None: only keys of the service are redacted.
            catalog: All known events; others, which another program wrote, cannot be read.

        Raises:
            TraceError: The servers do not answer.
        """
        await make_streams(cluster.jetstream, cluster.naming, cluster.replicas)
        if redaction is None:
            redaction = Redaction()
        return cls(cluster, folder, redaction, catalog, abandoned_after_s)

    def seen_by(self, label: str) -> JetStreamTraceStore:
        """Returns the store as a tenant sees it: it writes traces for the tenant, and shows no others."""
        # A shallow copy, so that all views share the connection, the list and the remembered ends.
        seen = copy.copy(self)
        seen._tenant = label
        seen._traces = self._traces.seen_by(label)
        return seen

    @property
    def annotations(self) -> SharedAnnotations:
        """Feedback on answers, and titles of conversations."""
        return SharedAnnotations(
            self._cluster,
            self._notes,
            self._traces,
            self._projection,
            self._redaction,
            self._tenant,
        )

    @property
    def question_sets(self) -> SharedQuestionSets:
        """Saved sets of questions."""
        return SharedQuestionSets(
            self._cluster, self._notes, self._projection, self._redaction, self._label
        )

    @property
    def _label(self) -> str:
        """The tenant for whom this store writes."""
        return LOCAL_TENANT if self._tenant is None else self._tenant

    async def label_of(self, query_id: str) -> str | None:
        """Returns the tenant of a trace; None if it does not exist."""
        return await self._traces.tenant_of(query_id)

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        """Stores events whose first `seq` is `expected_seq + 1`, all or none.

        Raises:
            SupersededError: Another process goes on with the query.
            SequenceError: The log's last `seq` is not `expected_seq`.
            TraceError: The store cannot be written.
        """
        await self._log.append(Batch(query_id, expected_seq, events, self._label))

    async def add(self, events: Sequence[Recorded[Event]]) -> None:
        """Stores a whole trace that was recorded elsewhere, all or nothing; no process resumes it unasked.

        Raises:
            SequenceError: There is already a trace with that id.
            TraceError: The store cannot be written.
        """
        query_id = events[0].query_id
        await self._log.append(Batch(query_id, 0, events, self._label, imported=True))
        # Forgotten at once, so that `unfinished` does not take it for a query on which this process works.
        self._log.forget(query_id)

    async def is_imported(self, query_id: str) -> bool:
        """Returns True for a trace that was recorded elsewhere and has not been continued here.

        Raises:
            NotFoundError: No such trace.
        """
        await self._traces.check(query_id)
        return IMPORTED in (await self._log.last(query_id)).headers

    async def read(self, query_id: str, after: int = 0) -> list[Recorded[Event]]:
        """Returns the events with `seq` > `after`, in order.

        Raises:
            NotFoundError: No such trace.
            DecodeError: An event is of an unknown kind, version or shape.
            TraceError: The store cannot be read.
        """
        return await self._traces.events(query_id, after)

    async def forms(self, query_id: str) -> Sequence[Json]:
        """Returns each event in its stored form, with the fields that it had when it was written."""
        return await self._traces.told(query_id, StoredTrace.forms)

    async def lines(self, query_id: str) -> Sequence[bytes]:
        """Returns each event in its stored form as a line of JSON. Raises as `head` does."""
        return await self._traces.told(query_id, StoredTrace.lines)

    async def head(self, query_id: str) -> TraceHead:
        """Reads the end of a trace, and nothing else of it.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """
        await self._traces.check(query_id)
        return await self._log.head(query_id)

    async def end_of(self, query_id: str) -> SeenEnd:
        """Returns the end of a trace, which need not have begun yet. Raises TraceError without the servers."""
        return SeenEnd(self._traces, query_id, await self._ends.of(query_id))

    async def follow(
        self, query_id: str, after: int = 0
    ) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields the events with `seq` > `after`, stored ones first, until `QueryClosed`, and live text among them.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """
        await self._traces.check(query_id)
        following = Following(
            self._cluster, self._log, self._reader, self._catalog, query_id, after
        )
        async for item in following.items():
            yield item

    async def emit_live(self, query_id: str, after: int, live: Live) -> None:
        """Sends followers live text, which is not stored; they see it after the event `after`, if at all.

        Raises:
            TraceError: There is no connection.
        """
        await emit_live(self._cluster, query_id, after, live)

    async def list(
        self,
        limit: int = 50,
        before: float | None = None,
        *,
        after_id: str | None = None,
        where: TraceFilter | None = None,
        among: Sequence[str] | None = None,
    ) -> Sequence[TraceSummary]:
        """Returns a line for each trace, the newest first; its arguments are those of `TraceListing.list`."""
        finder = await self._finder()
        return await finder.list(limit, before, after_id, where, among)

    async def trends(
        self, where: TraceFilter, utc_offset_s: int = 0
    ) -> Sequence[TracePeriod]:
        """Returns sums of the traces over time; its arguments are those of `TraceTrends.trends`."""
        return await (await self._finder()).trends(where, utc_offset_s)

    async def ids(self, beginning: str, limit: int) -> Sequence[str]:
        """Returns the ids of traces with this beginning, in order; `beginning` itself comes first if it is one."""
        return await (await self._finder()).ids(beginning, limit)

    async def conversations(
        self,
        limit: int,
        after_id: str | None = None,
        text: str | None = None,
        session_id: str | None = None,
    ) -> Sequence[ConversationSummary]:
        """Returns a line for each conversation, the latest first; its arguments are those of `TraceListing`."""
        return await (await self._finder()).conversations(
            limit, after_id, text, session_id
        )

    async def path(
        self, session_id: str, through: str | None = None
    ) -> Sequence[PlacedQuestion]:
        """Returns the questions that follow one another; takes and raises what `ConversationListing.path` does."""
        return await (await self._finder()).path(session_id, through)

    async def answered(
        self, session_id: str, query_ids: Sequence[str]
    ) -> Sequence[AnsweredQuestion]:
        """Returns those traces that were answered since the last clearing, oldest first. Raises as `exchanges` does."""
        return await (await self._finder()).answered(session_id, query_ids)

    async def unfinished(self) -> Sequence[str]:
        """Returns the open queries that wait for no worker and had no event for a while, the oldest first."""
        index = await self._projection.index()
        found = await find_unfinished(self._cluster, index, self._abandoned_after_s)
        # A query on which this process itself works is merely slow.
        return [query_id for query_id in found if not self._log.writes(query_id)]

    async def take_over(self, query_id: str) -> Sequence[Recorded[Event]]:
        """Makes this process the writer of a trace: from its next append on, the server refuses the writer before it.

        Returns:
            The events of the trace.

        Raises:
            NotFoundError: No such trace.
            TraceStateError: The query is over.
        """
        return await self._traces.take_over(query_id)

    async def delete(self, query_ids: Sequence[str]) -> int:
        """Deletes traces and all their texts; returns how many there were."""
        seen: list[str] = []
        # Another tenant's traces are skipped as if they did not exist.
        for query_id in dict.fromkeys(query_ids):
            tenant = await self.label_of(query_id)
            if tenant is not None and self._tenant in (None, tenant):
                seen.append(query_id)
        await self._deleter.delete(seen)
        return len(seen)

    async def delete_conversation(self, session_id: str) -> int:
        """Deletes a conversation and its traces; returns how many there were.

        Raises:
            NotFoundError: No such conversation.
        """
        ids = await (await self._finder()).ids_of_conversation(session_id)
        # The traces first: if that is broken off, the conversation still leads to the rest.
        deleted = await self.delete(ids)
        await self._conversations.forget(session_id)
        return deleted

    async def prune(
        self, *, older_than: float | None = None, most_bytes: int | None = None
    ) -> int:
        """Deletes the oldest traces that are over: those started before a time, and until they are small enough."""
        return await self._deleter.prune(older_than, most_bytes)

    async def exchanges(
        self, session_id: str, limit: int, follows: str | None = None
    ) -> Sequence[Exchange]:
        """Returns the last answered exchanges; takes and raises what `Conversations.exchanges` does."""
        return await (await self._finder()).exchanges(session_id, limit, follows)

    async def open_conversation(self, session_id: str) -> None:
        """Stores a conversation."""
        await self._conversations.open(session_id, self._label)

    async def clear_conversation(self, session_id: str) -> None:
        """Forgets the exchanges so far (their traces stay).

        Raises:
            NotFoundError: No such conversation.
        """
        # Reads no exchange, but raises if the conversation does not exist.
        await self.exchanges(session_id, 0)
        await self._conversations.clear(session_id, self._label)

    async def close(self) -> None:
        """Closes the list of traces; the code that opened the connection must close it."""
        await self._projection.close()

    async def _finder(self) -> Finder:
        return Finder((await self._projection.index()).readers, self._tenant)
