"""The points that a recorded query has traversed: what a fork or a resumed query must not count again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from antiphon.faults.plan import When, part_of
from antiphon.faults.ports.deliveries import delivery_point, publish_point
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import CALLER, SESSION, Event, Recorded, RoundOpened
from antiphon.vocabulary.values import Value

Hearers = Iterable[tuple[type[Event], str]]
"""Pairs of an event and the handler (`Class.on_event`) that hears it."""
AttemptEnd = e.ReasoningRetried | e.ReasoningFailed | e.ReasoningCompleted | e.SummaryFailed | e.SummaryCompleted
"""What ends an attempt of a call."""


class Traversal(Value, frozen=True, kw_only=True):
    """A point, and the part of the query in which it was traversed for good."""

    point: str
    when: When


def traversals(events: Sequence[Recorded[Event]], hearers: Hearers) -> list[Traversal]:
    """Lists every traversal that a trace shows and that going on from its end does not repeat.

    A call that is still under way is made again from its beginning, so what it has traversed so far is not counted.
    """
    delivered = delivery_points(hearers)
    calls = _CallsUnderWay()
    when: When = "start"
    found: list[Traversal] = []
    for recorded in events:
        event = recorded.event
        if isinstance(event, RoundOpened):
            when = part_of(event)
        points = [*delivered.get(type(event), ()), *calls.ended_by(event)]
        if is_published(type(event)):
            points.insert(0, publish_point(type(event)))
        for point in points:
            found.append(Traversal(point=point, when=when))
    return found


def delivery_points(hearers: Hearers) -> dict[type[Event], list[str]]:
    """Lists for each kind of event the points between it and those who hear it, in their order."""
    found: dict[type[Event], list[str]] = {}
    for kind, handler in hearers:
        found.setdefault(kind, []).append(delivery_point(kind, handler))
    return found


def is_published(kind: type[Event]) -> bool:
    """Returns True if a component emits the event; the caller's and the session's own pass through no component."""
    return not set(kind.emitted_by) <= {CALLER, SESSION}


def model_prefix(reasoner: str) -> str:
    """Returns what the points of a reasoner begin with."""
    return "model" if reasoner == "primary" else reasoner


class _CallsUnderWay:
    """Calls that have begun; a fold over events."""

    def __init__(self) -> None:
        self._models: dict[str, str] = {}
        self._requests: Counter[str] = Counter()
        self._tools: dict[str, str] = {}

    def ended_by(self, event: Event) -> list[str]:
        """Takes in an event; returns the points of models and tools that were traversed for good with it."""
        match event:
            case e.ReasoningRequested() | e.SummaryRequested():
                self._models[event.call_id] = model_prefix(event.reasoner)
            case e.ReasoningStarted():
                self._requests[event.call_id] += 1
            case (
                e.ReasoningRetried()
                | e.ReasoningFailed()
                | e.ReasoningCompleted()
                | e.SummaryFailed()
                | e.SummaryCompleted()
            ):
                return self._attempt_ended(event)
            case e.ToolStarted():
                # A tool that starts again under the same call is tried once more: its last try has ended.
                ended = self._tool_ended(event.tool_call_id)
                self._tools[event.tool_call_id] = event.name
                return ended
            case e.ToolSubstituted() | e.ToolSucceeded() | e.ToolFailed():
                return self._tool_ended(event.tool_call_id)
        return []

    def _attempt_ended(self, event: AttemptEnd) -> list[str]:
        model = self._models.get(event.call_id, "model")
        requests = self._requests.pop(event.call_id, 0)
        points = [f"{model}.request", f"{model}.content"] * requests
        if isinstance(event, e.ReasoningCompleted | e.SummaryCompleted):
            for place in _stream_places(event):
                points.append(f"{model}.stream.{place}")
        return points

    def _tool_ended(self, call_id: str) -> list[str]:
        if call_id not in self._tools:
            return []
        return [f"tool.{self._tools.pop(call_id)}"]


def _stream_places(reply: e.ReasoningCompleted | e.SummaryCompleted) -> list[str]:
    """Lists the places of a stream that a whole reply has traversed."""
    places: list[str] = []
    if reply.content:
        places.append("before_first_token")
    if reply.text.text:
        places.append("in_text")
    if isinstance(reply, e.ReasoningCompleted) and reply.tool_calls:
        places.append("in_tool_json")
    return [*places, "before_end"]
