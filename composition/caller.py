"""The caller of a query as a subscriber: it hears the beginning, the answer and the end."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.assembler import last_resort, with_incomplete_trace
from antiphon.vocabulary.events import Event, QueryClosed, QueryReceived, Recorded, ResponseAssembled, Status
from antiphon.vocabulary.values import Value

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
        self._status: Status | None = None
        self._received_at = 0.0
        self._last_seq = 0
        self._closed_at = 0.0

    def on_query_received(self, said: Recorded[QueryReceived]) -> None:
        self._received_at = self._closed_at = said.at
        self._last_seq = said.seq

    def on_response_assembled(self, said: Recorded[ResponseAssembled]) -> None:
        self._response = said.event
        self._last_seq = said.seq

    def on_query_closed(self, said: Recorded[QueryClosed]) -> None:
        self._status = said.event.status
        self._closed_at = said.at
        self._last_seq = said.seq

    @property
    def heard_all(self) -> bool:
        """Whether it was told of the end, and of an answer unless there was none to be had."""
        ended_without = self._status in ("cancelled", "failed")
        return self._status is not None and (self._response is not None or ended_without)

    def hear_again(self, trace: Sequence[Recorded[Event]]) -> None:
        """Takes from the trace what it was not told."""
        for said in trace:
            match said.event:
                case QueryReceived():
                    self._received_at = said.at
                case ResponseAssembled():
                    self._response = said.event
                case QueryClosed(status=status):
                    self._status, self._closed_at, self._last_seq = status, said.at, said.seq

    def outcome(self, query_id: str, session_id: str, *, recorded: bool = True) -> Outcome:
        """What came of the query; where no part could build an answer, a plain statement that says so.

        Args:
            recorded: Whether all its events are stored; where they are not, the answer says so.
        """
        status: Status = self._status or "failed"
        response = self._response or last_resort(_WHY[status], self._last_seq, failed=status != "cancelled")
        return Outcome(
            query_id=query_id,
            session_id=session_id,
            response=response if recorded else with_incomplete_trace(response, self._last_seq),
            status=status,
            duration_ms=(self._closed_at - self._received_at) * 1000,
        )
