"""The points in a recorded query: those that it has traversed for good, and those at which to break an event.

A fork or a resumed query must not count the former again; `from_trace` chooses among the latter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from antiphon.bus import Pending, PendingTable, fold_pending
from antiphon.faults.plan import Kind, When, part_of, point_type
from antiphon.faults.ports.deliveries import delivery_point, publish_point
from antiphon.vocabulary import events as e
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import (
    CALLER,
    SESSION,
    Event,
    FailureKind,
    Recorded,
    RoundOpened,
    ToolFailureKind,
)
from antiphon.vocabulary.values import Value

Hearers = Iterable[tuple[type[Event], str]]
"""Pairs of an event and a handler of it (`Class.on_event`)."""
Trace = Sequence[Recorded[Event]]
AttemptEnd = (
    e.ReasoningRetried
    | e.ReasoningFailed
    | e.ReasoningCompleted
    | e.SummaryFailed
    | e.SummaryCompleted
)
"""Events that end an attempt of a call."""


class Traversal(Value, frozen=True, kw_only=True):
    """A point, and the part of the query in which it was traversed for good."""

    point: str
    when: When


def traversals(
    events: Sequence[Recorded[Event]], hearers: Hearers
) -> Iterator[Traversal]:
    """Yields the traversals in a trace that resuming from its end does not repeat.

    Resuming repeats a call under way from its beginning, so the points that it has passed so far do not count.
    """
    delivered = delivery_points(hearers)
    calls = _CallsUnderWay()
    when: When = "start"
    for recorded in events:
        event = recorded.event
        if isinstance(event, RoundOpened):
            when = part_of(event)
        kind = type(event)
        if is_published(kind):
            yield Traversal(point=publish_point(kind), when=when)
        for point in (*delivered.get(kind, ()), *calls.ended_by(event)):
            yield Traversal(point=point, when=when)


def delivery_points(hearers: Hearers) -> dict[type[Event], list[str]]:
    """Lists for each kind of event the points between it and its handlers, in their order."""
    found: dict[type[Event], list[str]] = {}
    for kind, handler in hearers:
        found.setdefault(kind, []).append(delivery_point(kind, handler))
    return found


def is_published(kind: type[Event]) -> bool:
    """Returns True if a component emits the event, as opposed to the caller or the session."""
    return not {CALLER, SESSION}.issuperset(kind.emitted_by)


def model_prefix(reasoner: str) -> str:
    """Returns the prefix of a reasoner's points."""
    return "model" if reasoner == "primary" else reasoner


class _CallsUnderWay:
    """The calls under way; a fold over events."""

    def __init__(self) -> None:
        self._models: dict[str, str] = {}
        self._requests: Counter[str] = Counter()
        self._tools: dict[str, str] = {}

    def ended_by(self, event: Event) -> list[str]:
        """Takes in an event; returns the points of models and tools that have been traversed for good with it."""
        if isinstance(event, e.ReasoningRequested | e.SummaryRequested):
            self._models[event.call_id] = model_prefix(event.reasoner)
        elif isinstance(event, e.ReasoningStarted):
            self._requests[event.call_id] += 1
        elif isinstance(event, AttemptEnd):
            return self._attempt_ended(event)
        elif isinstance(event, e.ToolStarted):
            # A second start under the same call is a retry: the last attempt has ended.
            ended = self._tool_ended(event.tool_call_id)
            self._tools[event.tool_call_id] = event.name
            return ended
        elif isinstance(event, e.ToolSubstituted | e.ToolSucceeded | e.ToolFailed):
            return self._tool_ended(event.tool_call_id)
        return []

    def _attempt_ended(self, event: AttemptEnd) -> list[str]:
        model = self._models.get(event.call_id, "model")
        requests = self._requests.pop(event.call_id, 0)
        # A summarising call may consist of several requests, each of which passes both points.
        points = [f"{model}.request", f"{model}.content"] * requests
        if isinstance(event, e.ReasoningCompleted | e.SummaryCompleted):
            for place in _stream_places(event):
                points.append(f"{model}.stream.{place}")
        return points

    def _tool_ended(self, call_id: str) -> list[str]:
        if call_id not in self._tools:
            return []
        return [f"tool.{self._tools.pop(call_id)}"]


def _stream_places(reply: e.ReasoningCompleted | e.SummaryCompleted) -> Iterator[str]:
    """Yields the places of a stream that a whole reply has traversed."""
    if reply.content:
        yield "before_first_token"
    if reply.text.text:
        yield "in_text"
    if isinstance(reply, e.ReasoningCompleted) and reply.tool_calls:
        yield "in_tool_json"
    yield "before_end"


class Option(NamedTuple):
    """An injection point at which an event can be broken, and the kind of fault that suits it best."""

    point: str
    kind: Kind

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """All kinds of faults that the point knows."""
        return point_type(self.point).kinds


_OF_CALL: dict[FailureKind, Option] = {
    "rate_limit": Option("request", "rate_limit"),
    "overloaded": Option("request", "overload"),
    "timeout": Option("request", "hang"),
    "silence": Option("request", "hang"),
    "abandoned": Option("request", "hang"),
    "connection": Option("request", "drop"),
    "malformed": Option("request", "malformed"),
    "invalid_request": Option("request", "oversized"),
    "context_window": Option("request", "oversized"),
    "truncated_stream": Option("stream.before_end", "truncate"),
    "stream_error": Option("stream.before_end", "drop"),
}
"""The fault that reproduces a call's failure; for the rest, which are other refusals, `raise` does."""

_OF_TOOL: dict[ToolFailureKind, Kind] = {
    "timeout": "hang",
    "abandoned": "hang",
    "error": "raise",
}
"""The fault that reproduces a tool's failure; in all other failures no tool ran."""


def _of_request(events: Trace, event: e.ReasoningStarted) -> list[Option]:
    model = _model(events, event.call_id)
    return [Option(f"{model}.request", "overload")]


def _of_reply(
    events: Trace, event: e.ReasoningCompleted | e.SummaryCompleted
) -> list[Option]:
    model = _model(events, event.call_id)
    return [
        Option(f"{model}.stream.before_end", "truncate"),
        Option(f"{model}.content", "malformed"),
    ]


def _of_streamed_call(events: Trace, event: e.ToolCallStreamed) -> list[Option]:
    model = _model(events, event.call_id)
    return [Option(f"{model}.stream.in_tool_json", "truncate")]


def _of_retry(events: Trace, event: e.ReasoningRetried) -> list[Option]:
    return _of_failure(events, event.call_id, event.why)


def _of_failed_call(
    events: Trace, event: e.ReasoningFailed | e.SummaryFailed
) -> list[Option]:
    return _of_failure(events, event.call_id, event.failure)


def _of_failure(events: Trace, call_id: str, failure: FailureKind) -> list[Option]:
    # The points in the table lack the model, which depends on the trace.
    same = _OF_CALL.get(failure, Option("request", "raise"))
    model = _model(events, call_id)
    return [Option(f"{model}.{same.point}", same.kind)]


def _of_tool(_: Trace, event: e.ToolStarted | e.ToolSucceeded) -> list[Option]:
    return [Option(f"tool.{event.name}", "raise")]


def _of_substitute(_: Trace, event: e.ToolSubstituted) -> list[Option]:
    return [Option(f"tool.{event.substitute}", "raise")]


def _of_failed_tool(events: Trace, event: e.ToolFailed) -> list[Option]:
    if event.failure not in _OF_TOOL:
        return []
    kind = _OF_TOOL[event.failure]
    # The tool that ran last, which may be a substitute under the same call.
    for earlier in _backwards(events):
        if (
            isinstance(earlier, e.ToolStarted)
            and earlier.tool_call_id == event.tool_call_id
        ):
            return [Option(f"tool.{earlier.name}", kind)]
    return []


def _of_failed_handler(events: Trace, event: e.HandlerFailed) -> list[Option]:
    if not 0 < event.event_seq < len(events):
        return []
    handled = events[event.event_seq - 1].event
    return [Option(delivery_point(type(handled), event.handler), "raise")]


def _of_failed_recording(_: Trace, __: e.RecordingFailed) -> list[Option]:
    return [Option("store.append", "locked")]


def _of_cancelling(_: Trace, __: e.QueryCancelled) -> list[Option]:
    return [Option("client", "cancel")]


def _of_stall(events: Trace, _: e.SessionStalled) -> list[Option]:
    owed = likely_cause(events[:-1])
    lost: type[Event] = owed.outcomes[0] if owed is not None else e.QueryClosed
    return [Option(publish_point(lost), "drop")]


ORIGINS: dict[type[Event], Callable[[Trace, Any], list[Option]]] = {
    e.ReasoningStarted: _of_request,
    e.ReasoningCompleted: _of_reply,
    e.SummaryCompleted: _of_reply,
    e.ToolCallStreamed: _of_streamed_call,
    e.ReasoningRetried: _of_retry,
    e.ReasoningFailed: _of_failed_call,
    e.SummaryFailed: _of_failed_call,
    e.ToolStarted: _of_tool,
    e.ToolSucceeded: _of_tool,
    e.ToolSubstituted: _of_substitute,
    e.ToolFailed: _of_failed_tool,
    e.HandlerFailed: _of_failed_handler,
    e.RecordingFailed: _of_failed_recording,
    e.QueryCancelled: _of_cancelling,
    e.SessionStalled: _of_stall,
}
"""For events that come from outside the components, the options to break them. Each gets the trace up to its event.

All other events, such as those of subscribers, can only get lost on their way.
"""


def _backwards(events: Trace) -> Iterator[Event]:
    for recorded in reversed(events):
        yield recorded.event


def _model(events: Trace, call_id: str) -> str:
    """Returns the prefix of the model that a call went to."""
    for event in _backwards(events):
        if (
            isinstance(event, e.ReasoningRequested | e.SummaryRequested)
            and event.call_id == call_id
        ):
            return model_prefix(event.reasoner)
    return "model"


def pending_after(events: Trace) -> PendingTable:
    """Returns the outcomes that the query still waits for at the end of `events`."""
    # A trace may contain events of subscribers that are not wired here.
    catalog = BUILT_IN.extended(
        dict.fromkeys(type(recorded.event) for recorded in events)
    )
    table: PendingTable = {}
    # The same fold as the session's own, so that both expect the same outcomes.
    for recorded in events:
        table = fold_pending(table, recorded, catalog)
    return table


def likely_cause(events: Trace) -> Pending | None:
    """Returns the outcome that a stalled query most likely waited for; None if it waited for none.

    The end of a round or of the query stays pending until other events have come, so its loss is seldom the cause of a
    stall. Of the others the one requested last is.
    """
    likely: Pending | None = None
    # Strictly greater, so that of two equally likely ones the first stays.
    for owed in pending_after(events).values():
        if likely is None or _likelihood(owed) > _likelihood(likely):
            likely = owed
    return likely


def _likelihood(owed: Pending) -> tuple[bool, int]:
    return owed.outcomes[0].about.kind in ("call", "tool_call"), owed.since_seq
