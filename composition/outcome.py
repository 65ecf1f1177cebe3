"""The outcome of a query for its caller, derived from its trace, and sums over all outcomes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from antiphon.assembler import answer_so_far, last_resort, with_trace
from antiphon.bus import APPEND_S
from antiphon.composition.spending import Spending, spending_in, usage_of
from antiphon.vocabulary.events import (
    Confidence,
    Event,
    QueryCancelled,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
    ResponseAssembled,
    Status,
    SummaryCompleted,
    SummaryFailed,
)
from antiphon.vocabulary.values import Citation, Indicator, Usage, Value

_REASONS: dict[Status, str] = {
    "answered": "the answer was lost",
    "partial": "the answer was lost",
    "cancelled": "it was stopped before its answer was complete",
    "failed": "a part of the service failed; the trace says which",
}
"""The reason why a query has no answer, by its closing status."""

RECORDING_ENDS = "the recording ends here: "
"""The beginning of `QueryCancelled.why` in a recorded fork that needed something the recording does not hold."""
GIVEN_UP = "it was given up: "
"""The beginning of `QueryCancelled.why` in a query that ended every process which worked on it."""
_NOT_BY_THE_MODEL = ("fallback_reasoner", "not_searched")
"""Doubts that mark an answer as given by another reasoner, or as no answer at all."""


MOMENT_S = 0.3
"""Longer than the store's first pause after a lock, and too short for a caller to notice."""


class Source(Value, frozen=True, kw_only=True):
    """Something that an answer cites: its name, and its web address or None."""

    name: str
    link: str | None


class Outcome(Value, frozen=True, kw_only=True):
    """The answer to a question; users know it as `antiphon.Answer`.

    Attributes:
        session_id: The conversation; `Question(query=…, session_id=…)` continues it.
        response: The event that holds the answer.
        status: `answered`, or the reason for less than that: `partial`, `cancelled`, `failed`.
        duration_ms: From receipt to the end of the query, without any time in which no process worked on it.
    """

    query_id: str
    session_id: str
    response: ResponseAssembled
    status: Status
    duration_ms: float

    @property
    def text(self) -> str:
        """The text of the answer."""
        return self.response.answer

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The evidence for each part of the text (`start` to `end`), with the cited words."""
        return self.response.citations

    @property
    def sources(self) -> tuple[Source, ...]:
        """The cited sources, in order, without repeats."""
        cited = zip(self.response.sources, self.response.source_links, strict=True)
        return tuple([Source(name=name, link=link) for name, link in cited])

    @property
    def confidence(self) -> Confidence:
        """`high`, `medium` or `low`."""
        return self.response.confidence

    @property
    def doubts(self) -> tuple[Indicator, ...]:
        """The reasons for doubt, each with its kind and a sentence; none if nothing was lost."""
        return self.response.indicators

    @property
    def usage(self) -> Usage:
        """The tokens of all calls, including those that only summarised, and their cost."""
        return self.response.usage + self.response.summary_usage

    @property
    def trace_id(self) -> str:
        """The id of the trace: `antiphon traces show`, and `Antiphon.store.read`, show how the answer came about."""
        return self.query_id

    @property
    def by_the_model(self) -> bool:
        """True if the intended model gave the answer: a strict caller accepts no other."""
        doubts = {doubt.kind for doubt in self.response.indicators}
        return self.status == "answered" and doubts.isdisjoint(_NOT_BY_THE_MODEL)


class _Noted:
    """The parts of a trace that make up the outcome."""

    def __init__(self, trace: Sequence[Recorded[Event]]) -> None:
        self.query_id = trace[0].query_id
        self.session_id = ""
        self.received_at = self.closed_at = trace[0].at
        self.deadline_s = 0.0
        self.response: ResponseAssembled | None = None
        self.status: Status | None = None
        self.last_seq = 0
        for recorded in trace:
            self._note(recorded)

    def _note(self, recorded: Recorded[Event]) -> None:
        match recorded.event:
            case QueryReceived(session_id=session_id, settings=settings):
                self.session_id = session_id
                self.deadline_s = settings.deadline_s
                self.received_at = self.closed_at = recorded.at
            case QueryResumed(away_s=away_s):
                # No process worked on the query in between, so this time does not count.
                self.received_at += away_s
            case ResponseAssembled() as response:
                self.response = response
            case QueryClosed(status=status):
                self.status = status
                self.closed_at = recorded.at
            case _:
                return
        self.last_seq = recorded.seq


def outcome_of(
    trace: Sequence[Recorded[Event]], *, recorded: bool | None = None
) -> Outcome:
    """Returns the outcome of a query; a plain statement replaces an answer that no component could build.

    Args:
        trace: All its events so far.
        recorded: True if all of them are stored; the answer's doubts will agree. None: its doubts stay as they are.
    """
    noted = _Noted(trace)
    # Without a status the session was ended from outside, for example because the service closed.
    status: Status = noted.status or "failed"
    response = noted.response
    why = recording_ended(trace) or _REASONS[status]
    if response is None and status == "cancelled":
        response = answer_so_far(trace, why)
    elif response is None:
        response = last_resort(why, noted.last_seq, failed=status != "cancelled")
    # The store may since have taken events that it refused, or took slowly, when the answer was built.
    if recorded is not None:
        response = with_trace(response, noted.last_seq, recorded=recorded)
    return Outcome(
        query_id=noted.query_id,
        session_id=noted.session_id,
        response=response,
        status=status,
        duration_ms=max(0.0, noted.closed_at - noted.received_at) * 1000,
    )


def spare_s(trace: Sequence[Recorded[Event]]) -> float:
    """Returns the seconds that an answer may wait until its trace is stored: a moment, if the deadline leaves that."""
    noted = _Noted(trace)
    left_s = noted.deadline_s - (noted.closed_at - noted.received_at)
    return max(0.0, min(MOMENT_S, left_s - APPEND_S))


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
        """Counts a query that goes on from a recorded one, with only its own spending.

        Args:
            trace: All of its events.
            paid: The recorded events, whose replies cost nothing a second time.
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


def recording_ended(trace: Sequence[Recorded[Event]]) -> str:
    """Returns why a query ended that no caller cancelled: its recording held too little, or it was given up; else
    an empty text."""
    for recorded in reversed(trace):
        event = recorded.event
        if isinstance(event, QueryCancelled) and event.why.startswith(
            (RECORDING_ENDS, GIVEN_UP)
        ):
            return event.why
    return ""
