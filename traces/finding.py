"""Reads a store's listing and search tables, as one caller sees them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from antiphon.traces.connections import Readers
from antiphon.traces.conversation_list import read_conversations
from antiphon.traces.conversation_path import read_path
from antiphon.traces.conversations import (
    ids_of_conversation,
    read_answered,
    read_exchanges,
)
from antiphon.traces.listing import read_ids, read_listing
from antiphon.traces.trends import read_trends
from antiphon.traces.visibility import Sight
from antiphon.vocabulary.ports import (
    AnsweredQuestion,
    ConversationSummary,
    PlacedQuestion,
    TraceFilter,
    TraceSummary,
)
from antiphon.vocabulary.trends import TracePeriod
from antiphon.vocabulary.values import Exchange


class Finder:
    """Lists traces and reads conversations: those with a label, or all (None)."""

    def __init__(self, readers: Readers, label: str | None = None) -> None:
        self._readers = readers
        self.sight = Sight(readers, label)

    async def list(
        self,
        limit: int,
        before: float | None,
        after_id: str | None,
        where: TraceFilter | None,
        among: Sequence[str] | None,
    ) -> Sequence[TraceSummary]:
        """Returns a line a trace, the newest first; its arguments are those of `TraceListing.list`."""
        if where is None:
            where = TraceFilter()
        return await self._readers.run(
            partial(
                read_listing,
                limit=limit,
                before=before,
                after_id=after_id,
                where=where,
                among=among,
                label=self.sight.label,
            )
        )

    async def ids(self, beginning: str, limit: int) -> Sequence[str]:
        """Returns the ids of traces with this beginning, in order."""
        return await self._readers.run(
            partial(read_ids, beginning=beginning, limit=limit, label=self.sight.label)
        )

    async def trends(
        self, where: TraceFilter, utc_offset_s: int
    ) -> Sequence[TracePeriod]:
        """Returns sums of the traces over time; its arguments are those of `TraceTrends.trends`."""
        return await self._readers.run(
            partial(
                read_trends,
                where=where,
                utc_offset_s=utc_offset_s,
                label=self.sight.label,
            )
        )

    async def exchanges(
        self, session_id: str, limit: int, follows: str | None
    ) -> Sequence[Exchange]:
        """Returns the last answered exchanges; takes and raises what `Conversations.exchanges` does."""
        return await self.sight.of_conversation(
            read_exchanges,
            session_id,
            limit=limit,
            follows=follows,
            label=self.sight.label,
        )

    async def path(
        self, session_id: str, through: str | None
    ) -> Sequence[PlacedQuestion]:
        """Returns the questions that follow one another; takes and raises what `ConversationListing.path` does."""
        return await self.sight.of_conversation(
            read_path, session_id, through=through, label=self.sight.label
        )

    async def answered(
        self, session_id: str, query_ids: Sequence[str]
    ) -> Sequence[AnsweredQuestion]:
        """Returns the traces among these answered since the clearing, oldest first. Raises as `exchanges` does."""
        return await self.sight.of_conversation(
            read_answered,
            session_id,
            limit=len(query_ids),
            label=self.sight.label,
            among=query_ids,
        )

    async def conversations(
        self,
        limit: int,
        after_id: str | None,
        text: str | None,
        session_id: str | None,
    ) -> Sequence[ConversationSummary]:
        """Returns a line a conversation; its arguments are those of `ConversationListing.conversations`."""
        return await self._readers.run(
            partial(
                read_conversations,
                limit=limit,
                after_id=after_id,
                text=text,
                session_id=session_id,
                label=self.sight.label,
            )
        )

    async def ids_of_conversation(self, session_id: str) -> Sequence[str]:
        """Returns the ids of a conversation's traces. Raises as `exchanges` does."""
        return await self.sight.of_conversation(
            ids_of_conversation, session_id, label=self.sight.label
        )
