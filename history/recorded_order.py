"""Keeps the queue of a recording's events in order, and the time that passes as they come."""

from __future__ import annotations

import heapq
from contextvars import Context, copy_context
from typing import NamedTuple

from antiphon.vocabulary.events import Event, Recorded, ToolAnsweredLate
from antiphon.vocabulary.ports import Clock


class RecordedClock:
    """The clock of a recorded fork, which shows the times of the events that it repeats."""

    def __init__(self, behind: Clock, now: float) -> None:
        self._behind = behind
        self._now = now

    def now(self) -> float:
        return self._now

    def advance(self, at: float) -> None:
        """Advances to a time, but never goes back."""
        self._now = max(self._now, at)

    async def sleep(self, seconds: float) -> None:
        await self._behind.sleep(seconds)


class Waiting(NamedTuple):
    """A recorded event whose call has been requested, ordered by its place in the recording.

    Attributes:
        at: Its recorded time. An alarm for another deadline takes the place of the event that it precedes.
        number: Distinguishes events with the same place, so that other fields are never compared.
        subject: The call that it is about; empty for an event of the timer.
        context: The context of the request, which makes the request the cause of all events of the call.
    """

    seq: int
    at: float
    number: int
    event: Event
    subject: str
    context: Context


class WaitingEvents:
    """The queued events, in the order of the recording."""

    def __init__(self) -> None:
        self._heap: list[Waiting] = []
        self._added = 0

    @property
    def first_subject(self) -> str | None:
        """The call that the next event is about, empty for an event of the timer; None if the queue is empty."""
        if not self._heap:
            return None
        return self._heap[0].subject

    @property
    def first_at(self) -> float:
        """The recorded time of the next event."""
        return self._heap[0].at

    def add(self, recorded: Recorded[Event], subject: str, event: Event) -> None:
        """Adds `event` at the place of the recorded one."""
        self._added += 1
        # The caller's acts had no cause, and must not get one now.
        context = copy_context() if recorded.cause else Context()
        waiting = Waiting(
            recorded.seq, recorded.at, self._added, event, subject, context
        )
        heapq.heappush(self._heap, waiting)

    def take(self) -> list[Waiting]:
        """Takes the first event, and those that followed it in the recording without any other event between."""
        taken = [heapq.heappop(self._heap)]
        # No decision came between them then, so none may come between them now.
        while self._heap and self._heap[0].seq == taken[-1].seq + 1:
            taken.append(heapq.heappop(self._heap))
        return taken

    def forget(self, call_id: str) -> None:
        """Drops the events of an abandoned call, except a late answer."""
        left: list[Waiting] = []
        for waiting in self._heap:
            late = isinstance(waiting.event, ToolAnsweredLate)
            if late or waiting.subject != call_id:
                left.append(waiting)
        heapq.heapify(left)
        self._heap = left
