"""Feedback, titles and sets of questions that all nodes share: each is a message in the stream of traces.

A new message replaces the one before.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec
from nats.js.errors import NoStreamResponseError

from antiphon.cluster.client import REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.cluster.erasing import erase
from antiphon.cluster.messages import feedback_in
from antiphon.cluster.projection import Projection
from antiphon.cluster.seen_traces import SeenTraces
from antiphon.cluster.stream_reading import StreamReader, as_trace_errors
from antiphon.cluster.streams import add_subjects
from antiphon.traces import (
    Finder,
    Redaction,
    read_question_sets,
    redacted_feedback,
    unknown_trace,
)
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.question_sets import QuestionSet


class Notes:
    """The messages, by their subjects."""

    def __init__(self, cluster: Cluster, projection: Projection) -> None:
        self._cluster = cluster
        self._projection = projection
        self._stream = cluster.naming.traces_stream
        self._reader = StreamReader(cluster, self._stream)

    async def write(self, subject: str, data: bytes) -> None:
        """Stores a message, and deletes the one before.

        Raises:
            TraceError: The servers do not answer.
        """
        jetstream = self._cluster.jetstream
        with as_trace_errors("store a note"):
            try:
                stored = await jetstream.publish(subject, data, timeout=REQUEST_S)
            # An older program that started meanwhile has declared the stream without this kind of message.
            except NoStreamResponseError:
                await add_subjects(jetstream, self._cluster.naming)
                stored = await jetstream.publish(subject, data, timeout=REQUEST_S)
        await erase(self._cluster, self._stream, subject, before=stored.seq)

    async def read(self, subject: str) -> bytes | None:
        """Reads a message; None if there is none. Raises as `write` does."""
        last = await self._reader.last(subject)
        return None if last is None else last.data

    async def remove(self, subject: str) -> None:
        """Deletes a message, if there is one. Raises as `write` does."""
        if await self._reader.last(subject) is None:
            return
        await erase(self._cluster, self._stream, subject)
        await self._projection.removed([subject])


class SharedAnnotations:
    """Feedback and titles for the traces that a tenant sees, or for all (None); satisfies `Annotations`."""

    def __init__(
        self,
        cluster: Cluster,
        notes: Notes,
        traces: SeenTraces,
        projection: Projection,
        redaction: Redaction,
        tenant: str | None,
    ) -> None:
        self._naming = cluster.naming
        self._notes = notes
        self._traces = traces
        self._projection = projection
        self._redaction = redaction
        self._tenant = tenant

    async def feedback(self, query_id: str) -> Feedback | None:
        """Returns the feedback on an answer. Raises what `Annotations.feedback` does."""
        await self._check_there(query_id)
        data = await self._notes.read(self._naming.feedback(query_id))
        return None if data is None else feedback_in(data)

    async def set_feedback(
        self, query_id: str, feedback: Feedback | None
    ) -> Feedback | None:
        """Stores the feedback on an answer. Returns and raises what `Annotations.set_feedback` does."""
        await self._check_there(query_id)
        subject = self._naming.feedback(query_id)
        redacted = redacted_feedback(self._redaction, feedback)
        if redacted is None:
            await self._notes.remove(subject)
            return None
        await self._notes.write(subject, msgspec.json.encode(redacted))
        # Another node may have deleted the trace meanwhile, and earlier feedback with it: this must not outlive them.
        if await self._traces.tenant_of(query_id) is None:
            await self._notes.remove(subject)
            raise unknown_trace(query_id)
        return redacted

    async def set_title(self, session_id: str, title: str) -> str:
        """Names a conversation. Returns and raises what `Annotations.set_title` does."""
        index = await self._projection.index()
        # Reads no exchange, but raises if the conversation does not exist.
        await Finder(index.readers, self._tenant).exchanges(session_id, 0, None)
        redacted = self._redaction.text(title)
        await self._notes.write(self._naming.title(session_id), redacted.encode())
        return redacted

    async def _check_there(self, query_id: str) -> None:
        tenant = await self._traces.tenant_of(query_id)
        if tenant is None or self._tenant not in (None, tenant):
            raise unknown_trace(query_id)


class SharedQuestionSets:
    """The saved sets of questions of one tenant; satisfies `QuestionSets`."""

    def __init__(
        self,
        cluster: Cluster,
        notes: Notes,
        projection: Projection,
        redaction: Redaction,
        tenant: str,
    ) -> None:
        self._naming = cluster.naming
        self._notes = notes
        self._projection = projection
        self._redaction = redaction
        self._tenant = tenant

    async def all(self) -> Sequence[QuestionSet]:
        """Returns every set. Raises what `QuestionSets.all` does."""
        index = await self._projection.index()
        return await index.readers.run(partial(read_question_sets, tenant=self._tenant))

    async def put(self, saved: QuestionSet) -> QuestionSet:
        """Stores a set. Returns and raises what `QuestionSets.put` does."""
        redacted = self._redaction.event(saved)
        subject = self._naming.question_set(self._tenant, saved.set_id)
        await self._notes.write(subject, msgspec.json.encode(redacted))
        return redacted

    async def delete(self, set_id: str) -> None:
        """Deletes a set. Raises what `QuestionSets.delete` does."""
        await self._notes.remove(self._naming.question_set(self._tenant, set_id))
