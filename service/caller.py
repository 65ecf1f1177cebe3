"""The caller of a query as a subscriber: it hears the beginning, the answer and the end."""

from __future__ import annotations

from assembler import last_resort
from vocabulary.events import QueryClosed, QueryReceived, Recorded, ResponseAssembled, Status
from vocabulary.values import Value

_WHY: dict[Status, str] = {
    "answered": "the answer was lost",
    "partial": "the answer was lost",
    "cancelled": "it was taken back before there was an answer",
    "failed": "a part of the service failed; the trace says which",
}
"""What a query without an answer says, by how it closed."""


class Outcome(Value, frozen=True, kw_only=True):
    """The answer to a question. `duration_ms` is from receipt to the end of the query."""

    query_id: str
    session_id: str
    response: ResponseAssembled
    status: Status
    duration_ms: float


class Caller:
    """Keeps what the caller is given."""

    def __init__(self) -> None:
        self._response: ResponseAssembled | None = None
        self._status: Status = "failed"
        self._received_at = 0.0
        self._last_seq = 0
        self._closed_at = 0.0

    def on_query_received(self, said: Recorded[QueryReceived]) -> None:
        self._received_at = self._closed_at = said.at

    def on_response_assembled(self, said: Recorded[ResponseAssembled]) -> None:
        self._response = said.event

    def on_query_closed(self, said: Recorded[QueryClosed]) -> None:
        self._status = said.event.status
        self._closed_at = said.at
        self._last_seq = said.seq

    def outcome(self, query_id: str, session_id: str) -> Outcome:
        """What came of the query; where no part could build an answer, a plain statement that says so."""
        return Outcome(
            query_id=query_id,
            session_id=session_id,
            response=self._response or last_resort(_WHY[self._status], self._last_seq),
            status=self._status,
            duration_ms=(self._closed_at - self._received_at) * 1000,
        )
