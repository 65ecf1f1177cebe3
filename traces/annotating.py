"""Feedback and titles in the store's own tables: found, visible, encrypted and deleted together with their traces."""

from __future__ import annotations

from functools import partial

from msgspec.structs import replace

from antiphon.traces.appending import Writer
from antiphon.traces.conversation_list import write_title
from antiphon.traces.feedback import read_feedback, write_feedback
from antiphon.traces.redacting import Redaction
from antiphon.traces.visibility import Sight
from antiphon.vocabulary.feedback import Feedback


class StoredAnnotations:
    """Satisfies `Annotations` for the visible part of a store."""

    def __init__(self, writer: Writer, sight: Sight, redaction: Redaction) -> None:
        self._writer = writer
        self._sight = sight
        self._redaction = redaction

    async def feedback(self, query_id: str) -> Feedback | None:
        """Returns the feedback on an answer. Raises NotFoundError if there is no such trace."""
        return await self._sight.of_trace(read_feedback, query_id)

    async def set_feedback(
        self, query_id: str, feedback: Feedback | None
    ) -> Feedback | None:
        """Stores the feedback on an answer. Returns and raises what `Annotations.set_feedback` does."""
        redacted = redacted_feedback(self._redaction, feedback)
        write = partial(
            write_feedback,
            query_id=query_id,
            feedback=redacted,
            label=self._sight.label,
        )
        await self._writer.run(write)
        return redacted

    async def set_title(self, session_id: str, title: str) -> str:
        """Names a conversation. Returns and raises what `Annotations.set_title` does."""
        redacted = self._redaction.text(title)
        rename = self._sight.checked(write_title, session_id, title=redacted)
        await self._writer.run(rename)
        return redacted


def redacted_feedback(
    redaction: Redaction, feedback: Feedback | None
) -> Feedback | None:
    """Returns the redacted form of feedback."""
    if feedback is None or feedback.note is None:
        return feedback
    return replace(feedback, note=redaction.text(feedback.note))
