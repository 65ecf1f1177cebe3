"""Keeps the events of a recording that wait for their turn, and the time that passes as they come."""

from __future__ import annotations

import heapq
from contextvars import Context, copy_context
from typing import NamedTuple

from antiphon.vocabulary.events import Event, Recorded, ToolAnsweredLate
from antiphon.vocabulary.ports import Clock


class RecordedClock:
    """The time of a recorded fork: that of the events that it repeats."""

    def __init__(self, behind: Clock, now: float) -> None:
        self._behind = behind
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, at: float) -> None:
        """Goes on to a time; never back."""
        self._now = max(self._now, at)

    async def sleep(self, seconds: float) -> None:
        await self._behind.sleep(seconds)


class Waiting(NamedTuple):
    """A recorded event whose call was requested, ordered by its place in the recording.

    Attributes:
        at: Its recorded time. An alarm of another deadline has the place of the event that it comes before.
        number: Tells events of one place apart, so that nothing else of them is ever compared.
        subject: The call that it is about; empty for one of the timer.
        context: That of its request, which is the cause of all that a call brings.
    """

    seq: int
    at: float
    number: int
    event: Event
    subject: str
    context: Context


class WaitingEvents:
    """The events that wait, first those that came first in the recording."""

    def __init__(self) -> None:
        self._heap: list[Waiting] = []
        self._added = 0

    @property
    def first_subject(self) -> str | None:
        """The call that the next event is about, empty for one of the timer; None if no event waits."""
        if not self._heap:
            return None
        return self._heap[0].subject

    @property
    def first_at(self) -> float:
        """The recorded time of the next event."""
        return self._heap[0].at

    def add(self, recorded: Recorded[Event], subject: str, event: Event) -> None:
        """Adds `event` in the place of the recorded one."""
        self._added += 1
        # What the caller did has no cause, then as now.
        context = copy_context() if recorded.cause else Context()
        waiting = Waiting(
            recorded.seq, recorded.at, self._added, event, subject, context
        )
        heapq.heappush(self._heap, waiting)

    def take(self) -> list[Waiting]:
        """Takes the first event, and all that followed it in the recording without anything in between."""
        taken = [heapq.heappop(self._heap)]
        # Nothing had been decided between them, so that nothing may be decided between them now.
        while self._heap and self._heap[0].seq == taken[-1].seq + 1:
            taken.append(heapq.heappop(self._heap))
        return taken

    def forget(self, call_id: str) -> None:
        """Drops what a call no longer brings once it is abandoned: all but a late answer."""
        left: list[Waiting] = []
        for waiting in self._heap:
            late = isinstance(waiting.event, ToolAnsweredLate)
            if late or waiting.subject != call_id:
                left.append(waiting)
        heapq.heapify(left)
        self._heap = left
