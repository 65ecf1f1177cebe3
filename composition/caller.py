"""The caller of a query: its subscriptions, its handle, and the sums over the outcomes of all callers."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence

from antiphon.assembler import answer_so_far, last_resort, with_trace
from antiphon.bus import APPEND_S, Session
from antiphon.composition.spending import (
    Charge,
    Spending,
    charges_in,
    shared_with_parent,
    spending_in,
    usage_of,
)
from antiphon.vocabulary.events import (
    Event,
    Live,
    QueryCancelled,
    QueryClosed,
    QueryReceived,
    Recorded,
    ResponseAssembled,
    Status,
    SummaryCompleted,
    SummaryFailed,
)
from antiphon.vocabulary.values import Usage, Value

_REASONS: dict[Status, str] = {
    "answered": "the answer was lost",
    "partial": "the answer was lost",
    "cancelled": "it was stopped before its answer was complete",
    "failed": "a part of the service failed; the trace says which",
}
"""Why a query has no answer, by how it closed."""

RECORDING_ENDS = "the recording ends here: "
"""The beginning of `QueryCancelled.why` in a recorded fork that needed something which was not recorded."""
GIVEN_UP = "it was given up: "
"""The beginning of `QueryCancelled.why` in a query that ended every process which worked on it."""
_NOT_BY_THE_MODEL = ("fallback_reasoner", "not_searched")
"""Doubts about a whole answer that another reasoner gave, or that is none."""


MOMENT_S = 0.3
"""Longer than the store's first pause after a lock, and too short for anybody to mind."""


class Outcome(Value, frozen=True, kw_only=True):
    """The answer to a question. `duration_ms` is from receipt to the end of the query."""

    query_id: str
    session_id: str
    response: ResponseAssembled
    status: Status
    duration_ms: float

    @property
    def by_the_model(self) -> bool:
        """True if the model that was asked gave the answer: a strict caller takes no other."""
        doubts = {doubt.kind for doubt in self.response.indicators}
        return self.status == "answered" and doubts.isdisjoint(_NOT_BY_THE_MODEL)


class Caller:
    """The caller as a subscriber: it notes the beginning, the answer and the end."""

    def __init__(self) -> None:
        self._response: ResponseAssembled | None = None
        self._status: Status | None = None
        self._received_at = 0.0
        self._deadline_s = 0.0
        self._last_seq = 0
        self._closed_at = 0.0

    def on_query_received(self, recorded: Recorded[QueryReceived]) -> None:
        self._received_at = self._closed_at = recorded.at
        self._deadline_s = recorded.event.settings.deadline_s
        self._last_seq = recorded.seq

    def on_response_assembled(self, recorded: Recorded[ResponseAssembled]) -> None:
        self._response = recorded.event
        self._last_seq = recorded.seq

    def on_query_closed(self, recorded: Recorded[QueryClosed]) -> None:
        self._status = recorded.event.status
        self._closed_at = recorded.at
        self._last_seq = recorded.seq

    @property
    def heard_all(self) -> bool:
        """True if it heard the end, and the answer where the query ended with one."""
        if self._status is None:
            return False
        return self._response is not None or self._status in ("cancelled", "failed")

    @property
    def spare_s(self) -> float:
        """Seconds that an answer may wait for its trace to be stored: a moment, as far as the deadline has any left."""
        left_s = self._deadline_s - (self._closed_at - self._received_at)
        return max(0.0, min(MOMENT_S, left_s - APPEND_S))

    def recall(self, trace: Sequence[Recorded[Event]]) -> None:
        """Takes from the trace the events that did not reach it."""
        for recorded in trace:
            match recorded.event:
                case QueryReceived(settings=settings):
                    self._received_at = recorded.at
                    self._deadline_s = settings.deadline_s
                case ResponseAssembled() as response:
                    self._response = response
                case QueryClosed(status=status):
                    self._status = status
                    self._closed_at = recorded.at
                    self._last_seq = recorded.seq

    def outcome(
        self,
        query_id: str,
        session_id: str,
        *,
        trace: Sequence[Recorded[Event]] = (),
        recorded: bool | None = None,
    ) -> Outcome:
        """Returns the outcome; a plain statement takes the place of an answer that no part could build.

        Args:
            trace: Everything that was emitted, for what did not reach the caller, and for what a query had found and
                spent that was stopped.
            recorded: All its events are stored, or not, which the answer says; None: as it says already.
        """
        # A handler that failed, even by an injected fault, must not cost the caller an answer that exists.
        if not self.heard_all:
            self.recall(trace)
        # Without a status the session was ended from outside, such as by the service's closing.
        status: Status = "failed"
        if self._status is not None:
            status = self._status
        response = self._response
        why = recording_ended(trace) or _REASONS[status]
        if response is None and status == "cancelled" and trace:
            response = answer_so_far(trace, why)
        elif response is None:
            response = last_resort(why, self._last_seq, failed=status != "cancelled")
        # An append that was refused, or took long, may have been made up for since the answer was put together.
        if recorded is not None:
            response = with_trace(response, self._last_seq, recorded=recorded)
        return Outcome(
            query_id=query_id,
            session_id=session_id,
            response=response,
            status=status,
            duration_ms=(self._closed_at - self._received_at) * 1000,
        )


class Totals:
    """Sums over the outcomes given since the process began, for monitoring."""

    def __init__(self) -> None:
        self.queries: Counter[Status] = Counter()
        self.calls = 0
        self.summaries = 0
        self.seconds = 0.0
        self.usage = Usage()
        self.summary_usage = Usage()

    def add(self, outcome: Outcome) -> None:
        """Counts one more query."""
        self.queries[outcome.status] += 1
        self.calls += outcome.response.calls
        self.seconds += outcome.duration_ms / 1000
        self.usage += outcome.response.usage
        self.summaries += outcome.response.summaries
        self.summary_usage += outcome.response.summary_usage

    def add_rest(
        self,
        outcome: Outcome,
        trace: Sequence[Recorded[Event]],
        paid: Sequence[Recorded[Event]],
    ) -> None:
        """Counts a query that stands on a recorded one: no more than what it spent itself.

        Args:
            trace: All of its events.
            paid: The recorded events, whose replies cost nothing once more.
        """
        self.queries[outcome.status] += 1
        for event in spending_in(trace, paid):
            self._count(event)

    def _count(self, event: Spending) -> None:
        usage = usage_of(event)
        if isinstance(event, SummaryCompleted | SummaryFailed):
            self.summaries += 1
            self.summary_usage += usage
            return
        self.calls += 1
        self.usage += usage


class QueryHandle:
    """A query under way, as its caller holds it.

    Args:
        totals: The sums that its outcome is added to; None: none.
        paid: The recorded events that it stands on, as a fork or a resumed query does; their calls are not counted.
    """

    def __init__(
        self,
        session: Session,
        caller: Caller,
        session_id: str,
        totals: Totals | None = None,
        paid: Sequence[Recorded[Event]] = (),
    ) -> None:
        self.query_id = session.query_id
        self.session_id = session_id
        self._session = session
        self._caller = caller
        self._totals = totals
        self._paid = paid

    def follow(self, buffer: int = 1000) -> AsyncIterator[Recorded[Event] | Live]:
        """Yields every event from the first, live, with text as it is written; ends with the query.

        Raises:
            NotFoundError: The query has ended.
            SlowReaderError: While reading: the reader fell too far behind.
        """
        return self._session.follow(buffer)

    def cancel(self, why: str) -> None:
        """Ends the query; its trace says why."""
        self._session.publish(QueryCancelled(why=why))

    def charges(self, *, paid_too: bool = False) -> list[Charge]:
        """Returns what the calls are counted for that it made so far and that may cost something.

        Args:
            paid_too: Those that it stands on as well: of a query whose first process could count nothing any more.
        """
        trace = self._session.emitted
        paid = self._paid
        if paid_too:
            # What a fork shares, its parent has paid for in any case.
            paid = trace[: shared_with_parent(trace)]
        return charges_in(trace, paid)

    @property
    def is_over(self) -> bool:
        """True once its trace says so; one that is broken off goes on when the service starts again."""
        trace = self._session.emitted
        return bool(trace) and isinstance(trace[-1].event, QueryClosed)

    def break_off(self) -> None:
        """Ends the work on it at once; its trace stays open, for another process to go on with."""
        self._session.cancel()

    async def is_whole(self) -> bool:
        """Waits until nothing of it runs any more; returns True if it is over and its trace is stored to the end."""
        await self._session.stopped()
        return self.is_over and self._session.recorded

    async def outcome(self) -> Outcome:
        """Returns the answer, once there is one; at worst a statement of what failed.

        Raises:
            SupersededError: Another process has taken the query over, and will answer it.
        """
        await self._session.closed()
        if self._session.superseded is not None:
            raise self._session.superseded
        await self._session.settled(self._caller.spare_s)
        outcome = self._caller.outcome(
            self.query_id,
            self.session_id,
            trace=self._session.emitted,
            recorded=self._session.recorded,
        )
        # Counted once, however often the outcome is asked for.
        totals, self._totals = self._totals, None
        if totals is not None and self._paid:
            totals.add_rest(outcome, self._session.emitted, self._paid)
        elif totals is not None:
            totals.add(outcome)
        return outcome


def recording_ended(trace: Sequence[Recorded[Event]]) -> str:
    """Returns why a query stopped that nobody took back: a recorded fork that needed what was not recorded, or one that
    was given up; empty where it did not stop."""
    for recorded in reversed(trace):
        event = recorded.event
        if isinstance(event, QueryCancelled) and event.why.startswith(
            (RECORDING_ENDS, GIVEN_UP)
        ):
            return event.why
    return ""
