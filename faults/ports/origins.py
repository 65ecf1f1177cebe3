"""The points behind events that come from outside the components: what breaks a model, a tool or the store again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from antiphon.bus import Pending, PendingTable, fold_pending
from antiphon.faults.plan import Kind
from antiphon.faults.points import point_type
from antiphon.faults.ports.deliveries import delivery_point, publish_point
from antiphon.faults.ports.recorded import model_prefix
from antiphon.vocabulary import events as e
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event, FailureKind, Recorded, ToolFailureKind

Trace = Sequence[Recorded[Event]]


class Option(NamedTuple):
    """An injection point at which an event can be broken, and the kind of fault that suits it best there."""

    point: str
    kind: Kind

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Every kind of fault that the point knows."""
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
"""How a call fails again as it failed; the rest are refusals of other sorts, which `raise` stands for."""

_OF_TOOL: dict[ToolFailureKind, Kind] = {"timeout": "hang", "abandoned": "hang", "error": "raise"}
"""How a tool fails again; in the other failures no tool was run."""


def _of_request(events: Trace, event: e.ReasoningStarted) -> list[Option]:
    return [Option(f"{_model(events, event.call_id)}.request", "overload")]


def _of_reply(events: Trace, event: e.ReasoningCompleted | e.SummaryCompleted) -> list[Option]:
    model = _model(events, event.call_id)
    return [Option(f"{model}.stream.before_end", "truncate"), Option(f"{model}.content", "malformed")]


def _of_streamed_call(events: Trace, event: e.ToolCallStreamed) -> list[Option]:
    return [Option(f"{_model(events, event.call_id)}.stream.in_tool_json", "truncate")]


def _of_retry(events: Trace, event: e.ReasoningRetried) -> list[Option]:
    return _of_failure(events, event.call_id, event.why)


def _of_failed_call(events: Trace, event: e.ReasoningFailed | e.SummaryFailed) -> list[Option]:
    return _of_failure(events, event.call_id, event.failure)


def _of_failure(events: Trace, call_id: str, failure: FailureKind) -> list[Option]:
    # The points in the table are without the model, which is another one in each trace.
    again = _OF_CALL.get(failure, Option("request", "raise"))
    return [Option(f"{_model(events, call_id)}.{again.point}", again.kind)]


def _of_tool(_: Trace, event: e.ToolStarted | e.ToolSucceeded) -> list[Option]:
    return [Option(f"tool.{event.name}", "raise")]


def _of_substitute(_: Trace, event: e.ToolSubstituted) -> list[Option]:
    return [Option(f"tool.{event.substitute}", "raise")]


def _of_failed_tool(events: Trace, event: e.ToolFailed) -> list[Option]:
    name = _last_tool(events, event.tool_call_id)
    if event.failure not in _OF_TOOL or not name:
        return []
    return [Option(f"tool.{name}", _OF_TOOL[event.failure])]


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
    lost = e.QueryClosed if owed is None else owed.outcomes[0]
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
"""Events that come from outside the components: what breaks there. Each is handed the trace up to its event.

An event that is not here, as those of subscribers, can be lost on its way like any other.
"""


def _backwards(events: Trace) -> Iterator[Event]:
    for recorded in reversed(events):
        yield recorded.event


def _model(events: Trace, call_id: str) -> str:
    """Returns the prefix of the model that a call was made to."""
    for event in _backwards(events):
        if isinstance(event, e.ReasoningRequested | e.SummaryRequested) and event.call_id == call_id:
            return model_prefix(event.reasoner)
    return "model"


def _last_tool(events: Trace, call_id: str) -> str:
    """Returns the tool that a call ran last; a substitute runs under the call that it stands in for."""
    for event in _backwards(events):
        if isinstance(event, e.ToolStarted) and event.tool_call_id == call_id:
            return event.name
    return ""


def pending_after(events: Trace) -> PendingTable:
    # A trace may hold events of subscribers that are not wired here.
    catalog = BUILT_IN.extended(dict.fromkeys(type(recorded.event) for recorded in events))
    table: PendingTable = {}
    for recorded in events:
        table = fold_pending(table, recorded, catalog)
    return table


def likely_cause(events: Trace) -> Pending | None:
    """Returns what a stalled query most likely waited for; None where nothing was owed.

    The end of a round or of the query is owed until something else has come: a lost one of these is seldom why a query
    stalled. Of the others the one that was requested last is.
    """
    likely: Pending | None = None
    for owed in pending_after(events).values():
        if likely is None or _likelihood(owed) > _likelihood(likely):
            likely = owed
    return likely


def _likelihood(owed: Pending) -> tuple[bool, int]:
    return owed.outcomes[0].about.kind in ("call", "tool_call"), owed.since_seq
