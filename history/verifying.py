"""Verifies what acting components emitted: whatever follows from recorded events is worked out again and compared.

A check is a fold over the trace, by the same pure functions that the component itself uses. What came from outside (a
reply, a result, a failure) is taken as recorded; requests are in `requests.py`, tools in `tool_versions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from msgspec.structs import replace

from antiphon.composition import Outcome, outcome_of
from antiphon.coordinator import alarms
from antiphon.history.divergence import DivergenceKind
from antiphon.vocabulary.events import (
    DeadlineNeared,
    DeadlinePassed,
    Event,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.values import QuerySettings

EARLY_S = 0.05
"""A sleep may end as much before its time as the clock is fine."""
LATE_S = 1.0
LATE_SHARE = 0.05
"""A busy process wakes late: this many seconds, and this share of the deadline, say nothing about the timer."""


class Finding(NamedTuple):
    """A difference of an event from what follows from those before it.

    Attributes:
        now: The event that it should be; None if there should be none, or if `detail` says what is wrong.
        detail: The difference in a sentence; empty if the two events show it.
        difference: Its class. With `settings` the trace does not differ: `detail` says what of now was not compared,
            since nothing that was decided depends on it.
    """

    now: Event | None
    detail: str = ""
    difference: DivergenceKind = "code"


class Check(Protocol):
    """Compares the events of one acting component, one after the other."""

    @property
    def hears(self) -> tuple[type[Event], ...]:
        """The events that it needs."""

    @property
    def compares(self) -> tuple[type[Event], ...]:
        """Those of them that it compares."""

    def hear(self, recorded: Recorded[Event]) -> Finding | None:
        """Takes in the next event; returns what differs there."""


class AlarmCheck:
    """The deadline's alarms come when its shares say, and say what is left."""

    hears = (QueryReceived, QueryResumed, DeadlineNeared, DeadlinePassed)
    compares = (DeadlineNeared, DeadlinePassed)

    def __init__(self) -> None:
        self._settings = QuerySettings()
        self._received_at = 0.0
        self._resumed_after_s = 0.0

    def hear(self, recorded: Recorded[Event]) -> Finding | None:
        match recorded.event:
            case QueryReceived(settings=settings):
                self._settings = settings
                self._received_at = recorded.at
            case QueryResumed(away_s=away_s):
                self._received_at += away_s
                self._resumed_after_s = recorded.at - self._received_at
            case DeadlineNeared() | DeadlinePassed() as came:
                return self._compare(came, recorded.at - self._received_at)
        return None

    def _compare(
        self, came: DeadlineNeared | DeadlinePassed, after_s: float
    ) -> Finding | None:
        for alarm in alarms(self._settings):
            if type(alarm) is not type(came):
                continue
            # A trace that is older than the field shows it only by the time at which the alarm came.
            if not came.after_s:
                came = replace(came, after_s=alarm.after_s)
            if came != alarm:
                return Finding(alarm)
            return self._timed(after_s, alarm.after_s)
        return Finding(None, "the deadline has no such alarm now")

    def _timed(self, came_s: float, due_s: float) -> Finding | None:
        # One that is overdue when the query goes on comes then.
        late_s = came_s - max(due_s, self._resumed_after_s)
        if -EARLY_S <= late_s <= LATE_S + LATE_SHARE * self._settings.deadline_s:
            return None
        detail = f"it came {came_s:.2f} s after the question, and was due after {due_s:.2f} s"
        if late_s < 0:
            return Finding(None, detail)
        return Finding(None, detail, "time")


class CallerCheck:
    """The caller receives the answer that was recorded, and if there is none, a statement."""

    hears = (ResponseAssembled, QueryClosed)
    compares = (QueryClosed,)

    def __init__(self, events: Sequence[Recorded[Event]]) -> None:
        self._events = events
        self._answer: ResponseAssembled | None = None

    def hear(self, recorded: Recorded[Event]) -> Finding | None:
        match recorded.event:
            case ResponseAssembled() as answer:
                self._answer = answer
            case QueryClosed() as closed:
                return self._compare(closed)
        return None

    def _compare(self, closed: QueryClosed) -> Finding | None:
        received = outcome_of(self._events)
        if received.status != closed.status:
            return Finding(
                None,
                f"the query ended as {closed.status}, and its caller hears {received.status} now",
            )
        if not self._is_answered(received):
            return Finding(
                received.response, "the caller receives another answer, or none, now"
            )
        return None

    def _is_answered(self, received: Outcome) -> bool:
        if self._answer is not None:
            return received.response == self._answer
        return bool(received.response.answer.strip())
