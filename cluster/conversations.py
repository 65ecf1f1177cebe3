"""Conversations that all nodes share: opened and cleared by messages among the traces, in one order for everybody."""

from __future__ import annotations

from nats.js.errors import APIError

from antiphon.cluster.annotations import Notes
from antiphon.cluster.client import REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.cluster.erasing import erase
from antiphon.cluster.list_tables import CONVERSATION
from antiphon.cluster.messages import beginning_headers
from antiphon.cluster.projection import Projection
from antiphon.cluster.stream_reading import as_trace_errors
from antiphon.cluster.streams import MOST_ID_BYTES, is_nameable
from antiphon.cluster.trace_log import CONFLICTS, EXPECTED
from antiphon.vocabulary.errors import TraceError


class SharedConversations:
    """The messages about conversations; their queries are in the traces."""

    def __init__(self, cluster: Cluster, projection: Projection, notes: Notes) -> None:
        self._cluster = cluster
        self._projection = projection
        self._notes = notes

    async def open(self, session_id: str, tenant: str) -> None:
        """Stores a conversation as that of the tenant who opened it first.

        Raises:
            TraceError: The servers do not answer.
        """
        # The server accepts it only if the subject is still empty, so a second opening changes nothing.
        await self._say(session_id, tenant, "opened", {EXPECTED: "0"})

    async def clear(self, session_id: str, tenant: str) -> None:
        """Has the conversation skip all queries that began before this. Raises as `open` does."""
        await self._say(session_id, tenant, "cleared", {})

    async def forget(self, session_id: str) -> None:
        """Deletes the messages about a conversation, and its title. Raises as `open` does."""
        naming = self._cluster.naming
        subject = naming.conversation(session_id)
        await erase(self._cluster, naming.traces_stream, subject)
        await self._projection.removed([subject])
        await self._notes.remove(naming.title(session_id))

    async def _say(
        self, session_id: str, tenant: str, step: str, headers: dict[str, str]
    ) -> None:
        _check_id(session_id)
        beginning = beginning_headers(tenant, imported=False)
        headers = {**headers, CONVERSATION: step, **beginning}
        try:
            with as_trace_errors("store a conversation"):
                await self._cluster.jetstream.publish(
                    self._cluster.naming.conversation(session_id),
                    timeout=REQUEST_S,
                    headers=headers,
                )
        except TraceError as error:
            # A conflict means that the conversation is open already, which is just as well.
            refused = error.__cause__
            if not (isinstance(refused, APIError) and refused.err_code in CONFLICTS):
                raise


def _check_id(session_id: str) -> None:
    if not is_nameable(session_id):
        raise TraceError(
            f"the conversation cannot be stored: its id has more than {MOST_ID_BYTES} bytes, or is no text"
        )
