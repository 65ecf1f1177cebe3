"""Derives the fault plan that makes one recorded event fail when the query is run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from antiphon.bus import Pending, PendingTable, fold_pending
from antiphon.faults.plan import Fault, Kind, Plan
from antiphon.faults.points import point_type
from antiphon.faults.ports.deliveries import delivery_point, publish_point
from antiphon.faults.ports.recorded import delivery_points, is_published, model_prefix, traversals
from antiphon.service import who_hears
from antiphon.vocabulary import events as e
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, FailureKind, Recorded, ToolFailureKind
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value

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


class TraceFault(Value, frozen=True, kw_only=True):
    """A fault out of a trace.

    Attributes:
        at: The event from which on the fault must stand ready: what `antiphon traces fork --at` takes.
        kinds: What else could happen at this event, by point.
    """

    plan: Plan
    at: int
    kinds: tuple[tuple[str, tuple[Kind, ...]], ...]


def fault_at(
    events: Trace,
    seq: int,
    kind: str | None = None,
    point: str | None = None,
    subscribers: Sequence[Subscriber] = (),
) -> TraceFault:
    """Makes the plan that breaks the recorded query at event `seq`.

    Args:
        kind: What is to happen; None is what suits the event: a failure as it was recorded, else the loss of the event.
        point: At which of the event's points; None is the first that knows the kind.
        subscribers: The components from outside that hear the query.

    Raises:
        BadInputError: There is no such event, nothing can break it, or not in that way.
    """
    if not 1 <= seq <= len(events):
        raise BadInputError(f"There is no event {seq}: the trace has the events 1 to {len(events)}.")
    recorded = events[seq - 1]
    options = _options(events, recorded, subscribers)
    chosen = _choose(options, kind, point)
    if chosen is None:
        raise BadInputError(_refusal(recorded, kind, point, options))
    at = _ready_at(events, recorded)
    times = 1
    if isinstance(recorded.event, e.ReasoningFailed | e.SummaryFailed):
        # A call fails for good only when each of its attempts does.
        times = _attempts(events[: seq - 1], recorded.event.call_id)
    nth = _traversal_of(events[: at - 1], recorded, chosen.point, subscribers)
    fault = Fault(point=chosen.point, kind=chosen.kind, nth=nth, times=times)
    kinds = tuple((option.point, option.kinds) for option in options)
    return TraceFault(plan=Plan(faults=(fault,)), at=at, kinds=kinds)


def _choose(options: Sequence[Option], kind: str | None, point: str | None) -> Option | None:
    """Picks the first option at `point` that knows `kind`; None stands for any."""
    for option in options:
        if point not in (None, option.point):
            continue
        if kind is None:
            return option
        for known in option.kinds:
            if known == kind:
                return Option(option.point, known)
    return None


def _refusal(recorded: Recorded[Event], kind: str | None, point: str | None, options: Sequence[Option]) -> str:
    name = f"event {recorded.seq} ({recorded.event.kind_name()})"
    if not options:
        return f"Nothing can break {name}: no part of this version says or hears it."
    known = "; ".join(f"{option.point}: {', '.join(sorted(option.kinds))}" for option in options)
    wanted = " at ".join(each[:40] for each in (kind, point) if each is not None)
    return f"{wanted!r} cannot happen at {name}. What can: {known}."


def _options(events: Trace, recorded: Recorded[Event], subscribers: Sequence[Subscriber]) -> list[Option]:
    """Lists the points of an event, the one first at which breaking it means most."""
    kind = type(recorded.event)
    options: list[Option] = []
    if kind in _ORIGINS:
        options += _ORIGINS[kind](events[: recorded.seq], recorded.event)
    if is_published(kind):
        options.append(Option(publish_point(kind), "drop"))
    for point in delivery_points(who_hears(subscribers)).get(kind, ()):
        options.append(Option(point, "raise"))
    return options


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
    owed = _likely_cause(events[:-1])
    lost = e.QueryClosed if owed is None else owed.outcomes[0]
    return [Option(publish_point(lost), "drop")]


_ORIGINS: dict[type[Event], Callable[[Trace, Any], list[Option]]] = {
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


def _ready_at(events: Trace, recorded: Recorded[Event]) -> int:
    """Returns the event from which on the fault must stand ready: as a rule the one that it breaks."""
    event, seq = recorded.event, recorded.seq
    if isinstance(event, e.HandlerFailed) and 0 < event.event_seq < seq:
        return event.event_seq
    if isinstance(event, e.QueryCancelled):
        rounds = [earlier.seq for earlier in events[:seq] if isinstance(earlier.event, e.RoundOpened)]
        return max(rounds, default=1)
    if isinstance(event, e.SessionStalled):
        owed = _likely_cause(events[: seq - 1])
        return seq if owed is None else owed.since_seq + 1
    return seq


def _traversal_of(prefix: Trace, recorded: Recorded[Event], point: str, subscribers: Sequence[Subscriber]) -> int:
    """Counts which traversal of the point is the event's, when the query goes on after `prefix`."""
    hearers = who_hears(subscribers)
    before = sum(traversal.point == point for traversal in traversals(prefix, hearers))
    return before + _repeated(prefix, recorded, point) + 1


def _repeated(prefix: Trace, recorded: Recorded[Event], point: str) -> int:
    """Counts the traversals before the event's that going on makes again: those of calls that are made again."""
    owed = {pending.since_seq for pending in _pending(prefix).values()}
    again = {_call_of(earlier.event) for earlier in prefix if earlier.seq in owed} - {""}
    if point.startswith("tool."):
        return _calls_before(prefix, again, _call_of(recorded.event), point.removeprefix("tool."))
    if not point.startswith(("publish.", "deliver.")):
        return 0
    # What came before the last retry belongs to an attempt that is not made again.
    retries = [earlier.seq for earlier in prefix if isinstance(earlier.event, e.ReasoningRetried)]
    began = max(retries, default=0)
    count = 0
    for earlier in prefix:
        same_kind = type(earlier.event) is type(recorded.event)
        if same_kind and earlier.seq > began and earlier.seq not in owed and _call_of(earlier.event) in again:
            count += 1
    return count


def _calls_before(prefix: Trace, again: set[str], call_id: str, name: str) -> int:
    """Counts the calls of the tool `name` that are made again before the call `call_id`."""
    count = 0
    for recorded in prefix:
        event = recorded.event
        if not isinstance(event, e.ToolRequested) or event.call.id not in again:
            continue
        if event.call.id == call_id:
            break
        if event.call.name == name:
            count += 1
    return count


def _call_of(event: Event) -> str:
    """Returns the call that an event belongs to; an empty text for the others."""
    # A streamed tool call belongs to the reasoning call that streams it, for that is what is made again.
    if event.about.kind == "tool_call" and not isinstance(event, e.ToolCallStreamed):
        return str(event.subject())
    return str(getattr(event, "call_id", None) or "")


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


def _attempts(events: Trace, call_id: str) -> int:
    attempts = 0
    for recorded in events:
        if isinstance(recorded.event, e.ReasoningStarted) and recorded.event.call_id == call_id:
            attempts += 1
    return max(1, attempts)


def _pending(events: Trace) -> PendingTable:
    catalog = BUILT_IN.extended(dict.fromkeys(type(recorded.event) for recorded in events))
    table: PendingTable = {}
    for recorded in events:
        table = fold_pending(table, recorded, catalog)
    return table


def _likely_cause(events: Trace) -> Pending | None:
    """Returns what a stalled query most likely waited for; None where nothing was owed.

    The end of a round or of the query is owed until something else has come: a lost one of these is seldom why a query
    stalled. Of the others the one that was requested last is.
    """
    likely: Pending | None = None
    for owed in _pending(events).values():
        if likely is None or _likelihood(owed) > _likelihood(likely):
            likely = owed
    return likely


def _likelihood(owed: Pending) -> tuple[bool, int]:
    return owed.outcomes[0].about.kind in ("call", "tool_call"), owed.since_seq
