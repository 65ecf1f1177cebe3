"""Which doors a recorded query has passed: what a fork that is broken later must not count again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from antiphon.faults.deliveries import point_of
from antiphon.faults.plan import When, part_of
from antiphon.service import who_hears
from antiphon.vocabulary.events import (
    CALLER,
    SESSION,
    Event,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ReasoningRetried,
    ReasoningStarted,
    Recorded,
    RoundOpened,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolFailed,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Value

Ended = ReasoningRetried | ReasoningFailed | ReasoningCompleted | SummaryFailed | SummaryCompleted
"""What ends an attempt of a call."""


class Passed(Value, frozen=True, kw_only=True):
    """A door, and the part of the query in which it was passed for good."""

    point: str
    when: When


def passages(events: Sequence[Recorded[Event]]) -> list[Passed]:
    """Every passage that a trace tells of and that going on from its end does not repeat.

    A call that is still under way is asked again from its beginning, so what it has passed so far is not counted.
    """
    hearers = doors_of_hearing()
    under_way = _UnderWay()
    when: When = "start"
    found: list[Passed] = []
    for recorded in events:
        event = recorded.event
        if isinstance(event, RoundOpened):
            when = part_of(event)
        points = [*_heard(event, hearers), *under_way.ended(event)]
        found += [Passed(point=point, when=when) for point in points]
    return found


def doors_of_hearing() -> dict[type[Event], list[str]]:
    """For each kind of event the doors between it and those who hear it, in their order."""
    found: dict[type[Event], list[str]] = {}
    for kind, handler in who_hears():
        found.setdefault(kind, []).append(point_of(kind, handler))
    return found


def door_of_saying(event: Event) -> str | None:
    """The door between a component and its mailbox; None for what no component says."""
    return None if set(event.emitted_by) <= {CALLER, SESSION} else f"publish.{event.__struct_config__.tag}"


def model_door(reasoner: str) -> str:
    """What the doors of a reasoner begin with."""
    return "model" if reasoner == "primary" else reasoner


def _heard(event: Event, hearers: dict[type[Event], list[str]]) -> Iterator[str]:
    said = door_of_saying(event)
    if said is not None:
        yield said
    yield from hearers.get(type(event), ())


class _UnderWay:
    """Calls that have begun; a fold that tells which doors an event closes."""

    def __init__(self) -> None:
        self._reasoner: dict[str, str] = {}
        self._requests: Counter[str] = Counter()
        self._tool: dict[str, str] = {}

    def ended(self, event: Event) -> list[str]:
        """The doors that were passed for good with this event."""
        match event:
            case ReasoningRequested() | SummaryRequested():
                self._reasoner[event.call_id] = model_door(event.reasoner)
            case ReasoningStarted():
                self._requests[event.call_id] += 1
            case ReasoningRetried() | ReasoningFailed() | ReasoningCompleted() | SummaryFailed() | SummaryCompleted():
                return self._attempt(event)
            case ToolStarted():
                return self._began(event.tool_call_id, event.name)
            case ToolSubstituted() | ToolSucceeded() | ToolFailed():
                return self._began(event.tool_call_id, None)
        return []

    def _attempt(self, event: Ended) -> list[str]:
        model = self._reasoner.get(event.call_id, "model")
        doors = [f"{model}.request", f"{model}.content"] * self._requests.pop(event.call_id, 0)
        if isinstance(event, ReasoningCompleted | SummaryCompleted):
            doors += [f"{model}.stream.{place}" for place in _places(event)]
        return doors

    def _began(self, call_id: str, name: str | None) -> list[str]:
        before = self._tool.pop(call_id, None)
        if name is not None:
            self._tool[call_id] = name
        return [] if before is None else [f"tool.{before}"]


def _places(reply: ReasoningCompleted | SummaryCompleted) -> Iterator[str]:
    """The places of a stream that a whole reply has passed."""
    if reply.content:
        yield "before_first_token"
    if reply.text.text:
        yield "in_text"
    if isinstance(reply, ReasoningCompleted) and reply.tool_calls:
        yield "in_tool_json"
    yield "before_end"
