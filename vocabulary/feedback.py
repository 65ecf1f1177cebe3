"""What people say about answers and conversations, kept beside the events: it may change, and no rule reads it."""

from __future__ import annotations

from typing import Annotated, Literal, Protocol

from msgspec import Meta

from antiphon.vocabulary.values import Value

Rating = Literal["up", "down"]

MOST_NOTE_CHARS = 2_000


class Feedback(Value, frozen=True, kw_only=True):
    """Somebody's judgement of an answer.

    Attributes:
        at: When it was given, in seconds since the epoch.
    """

    rating: Rating
    note: Annotated[str, Meta(max_length=MOST_NOTE_CHARS)] | None = None
    at: float


class Annotations(Protocol):
    """Feedback on answers, and titles of conversations; each is deleted with what it belongs to."""

    async def feedback(self, query_id: str) -> Feedback | None:
        """Returns the feedback on an answer; None if there is none.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be read.
        """

    async def set_feedback(
        self, query_id: str, feedback: Feedback | None
    ) -> Feedback | None:
        """Replaces the feedback on an answer; None withdraws it.

        Returns:
            The stored form, redacted as events are.

        Raises:
            NotFoundError: No such trace.
            TraceError: The store cannot be written.
        """

    async def set_title(self, session_id: str, title: str) -> str:
        """Names a conversation.

        Returns:
            The stored form, redacted as events are.

        Raises:
            NotFoundError: No such conversation.
            TraceError: The store cannot be written.
        """
