"""Verifies the events of acting components: recomputes all that follows from recorded events, and compares.

A check is a fold over the trace with the same pure functions that the component itself uses. Events from outside (a
reply, a result, a failure) count as given; requests are in `requests.py`, tools in `tool_versions.py`.
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
"""A sleep may end early by the resolution of the clock."""
LATE_S = 1.0
LATE_SHARE = 0.05
"""A busy process wakes late: this many seconds plus this share of the deadline are not the timer's fault."""


class Finding(NamedTuple):
    """A difference between an event and the one that follows from the events before it.

    Attributes:
        now: The event that it should be; None if there should be none, or if `detail` describes the fault.
        detail: The difference in a sentence; empty if comparing the two events shows it.
        difference: Its class. `settings` is not a difference of the trace: `detail` then says what of today's was not
            compared, because no decision depends on it.
    """

    now: Event | None
    detail: str = ""
    difference: DivergenceKind = "code"


class Check(Protocol):
    """Compares the events of one acting component one after the other."""

    @property
    def hears(self) -> tuple[type[Event], ...]:
        """The events that it needs."""

    @property
    def compares(self) -> tuple[type[Event], ...]:
        """The events among them that it compares."""

    def hear(self, recorded: Recorded[Event]) -> Finding | None:
        """Takes in the next event; returns a difference if there is one."""


class AlarmCheck:
    """Checks that the deadline's alarms come when its shares say, and have the right contents."""

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
            # A trace older than the field has only the time at which the alarm came.
            if not came.after_s:
                came = replace(came, after_s=alarm.after_s)
            if came != alarm:
                return Finding(alarm)
            return self._timed(after_s, alarm.after_s)
        return Finding(None, "the deadline has no such alarm now")

    def _timed(self, came_s: float, due_s: float) -> Finding | None:
        # An alarm that is overdue when the query is resumed comes then.
        late_s = came_s - max(due_s, self._resumed_after_s)
        if -EARLY_S <= late_s <= LATE_S + LATE_SHARE * self._settings.deadline_s:
            return None
        detail = f"it came {came_s:.2f} s after the question, and was due after {due_s:.2f} s"
        if late_s < 0:
            return Finding(None, detail)
        return Finding(None, detail, "time")


class CallerCheck:
    """Checks that the caller gets the recorded answer or, if there is none, a statement."""

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
