"""A fault out of a trace: any recorded event as the fault that strikes at that point when the query is had again."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from antiphon.bus import PendingTable, fold_pending
from antiphon.faults.kinds import Kind
from antiphon.faults.passed import door_of_saying, doors_of_hearing, model_door, passages
from antiphon.faults.plan import Fault, Plan
from antiphon.faults.seams import seam_of
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    Event,
    FailureKind,
    HandlerFailed,
    QueryCancelled,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    ReasoningRetried,
    ReasoningStarted,
    Recorded,
    RecordingFailed,
    RoundOpened,
    SessionStalled,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolCallStreamed,
    ToolFailed,
    ToolFailureKind,
    ToolRequested,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.values import Value

Place = tuple[str, Kind]
"""A door, and the kind of fault that suits it best there."""

_OF_CALL: dict[FailureKind, Place] = {
    "rate_limit": ("request", "rate_limit"),
    "overloaded": ("request", "overload"),
    "timeout": ("request", "hang"),
    "silence": ("request", "hang"),
    "abandoned": ("request", "hang"),
    "connection": ("request", "drop"),
    "malformed": ("request", "malformed"),
    "invalid_request": ("request", "oversized"),
    "context_window": ("request", "oversized"),
    "truncated_stream": ("stream.before_end", "truncate"),
    "stream_error": ("stream.before_end", "drop"),
}
"""How a call fails again as it failed; the rest are refusals of other sorts, which `raise` stands for."""

_OF_TOOL: dict[ToolFailureKind, Kind] = {"timeout": "hang", "abandoned": "hang", "error": "raise"}
"""How a tool fails again; in the other failures no tool was run."""

_SHARED = ("query_closed", "tools_settled", "context_synthesized", "response_assembled")
"""What is owed until something else has come: a lost one of these is seldom why a query stalled."""


class Struck(Value, frozen=True, kw_only=True):
    """A fault out of a trace.

    Attributes:
        at: The event from which on the fault must stand ready: what `antiphon traces fork --at` takes.
        kinds: What else could happen at this event, by door.
    """

    plan: Plan
    at: int
    kinds: tuple[tuple[str, tuple[Kind, ...]], ...]


def fault_at(events: Sequence[Recorded[Event]], seq: int, kind: str | None = None, point: str | None = None) -> Struck:
    """The plan that breaks the recorded query at event `seq`.

    Args:
        kind: What is to happen; None is what suits the event: a failure as it was recorded, else the loss of the event.
        point: At which of the event's doors; None is the first that knows the kind.

    Raises:
        BadInputError: There is no such event, nothing can break it, or not in that way.
    """
    if not 1 <= seq <= len(events):
        raise BadInputError(f"There is no event {seq}: the trace has the events 1 to {len(events)}.")
    event = events[seq - 1].event
    places = _places(events, seq)
    kinds = tuple((door, seam_of(door).kinds) for door, _ in places)
    chosen = [(door, usual) for door, usual in places if point in (None, door)]
    fitting = [(door, usual) for door, usual in chosen if kind is None or kind in seam_of(door).kinds]
    if not fitting:
        raise BadInputError(_no_fault(events[seq - 1], kind, point, kinds))
    door, usual = fitting[0]
    at = _from(events, seq)
    times = _attempts(events[: seq - 1], event.call_id) if isinstance(event, ReasoningFailed | SummaryFailed) else 1
    wanted = next((each for each in seam_of(door).kinds if each == kind), usual)
    fault = Fault(point=door, kind=wanted, nth=_nth(events[: at - 1], events[seq - 1], door), times=times)
    return Struck(plan=Plan(faults=(fault,)), at=at, kinds=kinds)


def _no_fault(
    recorded: Recorded[Event], kind: str | None, point: str | None, kinds: Sequence[tuple[str, tuple[Kind, ...]]]
) -> str:
    name = f"event {recorded.seq} ({recorded.event.__struct_config__.tag})"
    if not kinds:
        return f"Nothing can break {name}: no part of this version says or hears it."
    known = "; ".join(f"{door}: {', '.join(sorted(some))}" for door, some in kinds)
    what = " at ".join(each[:40] for each in (kind, point) if each is not None)
    return f"{what!r} cannot happen at {name}. What can: {known}."


def _places(events: Sequence[Recorded[Event]], seq: int) -> list[Place]:
    """The doors of an event, the one first at which breaking it means most."""
    event = events[seq - 1].event
    door = door_of_saying(event)
    said: list[Place] = [] if door is None else [(door, "drop")]
    heard: list[Place] = [(door, "raise") for door in doors_of_hearing().get(type(event), ())]
    return [*_own(events, seq), *said, *heard]


def _own(events: Sequence[Recorded[Event]], seq: int) -> list[Place]:  # noqa: C901 - one arm an event
    """The doors behind an event: of the model, of a tool, of whatever had failed."""
    match events[seq - 1].event:
        case ReasoningStarted(call_id=call_id):
            return [(f"{_model(events[:seq], call_id)}.request", "overload")]
        case ReasoningCompleted(call_id=call_id) | SummaryCompleted(call_id=call_id):
            model = _model(events[:seq], call_id)
            return [(f"{model}.stream.before_end", "truncate"), (f"{model}.content", "malformed")]
        case ToolCallStreamed(call_id=call_id):
            return [(f"{_model(events[:seq], call_id)}.stream.in_tool_json", "truncate")]
        case (
            ReasoningRetried(call_id=call_id, why=failure)
            | ReasoningFailed(call_id=call_id, failure=failure)
            | SummaryFailed(call_id=call_id, failure=failure)
        ):
            door, kind = _OF_CALL.get(failure, ("request", "raise"))
            return [(f"{_model(events[:seq], call_id)}.{door}", kind)]
        case ToolStarted(name=name) | ToolSucceeded(name=name) | ToolSubstituted(substitute=name):
            return [(f"tool.{name}", "raise")]
        case ToolFailed(tool_call_id=call_id, failure=failure) if failure in _OF_TOOL:
            name = _ran(events[:seq], call_id)
            return [(f"tool.{name}", _OF_TOOL[failure])] if name else []
        case HandlerFailed(handler=handler, event_seq=at) if 0 < at < seq:
            return [(f"deliver.{events[at - 1].event.__struct_config__.tag}.{handler.partition('.')[0]}", "raise")]
        case RecordingFailed():
            return [("store.append", "locked")]
        case QueryCancelled():
            return [("client", "cancel")]
        case SessionStalled():
            return [(f"publish.{_lost(events[: seq - 1])}", "drop")]
    return []


def _from(events: Sequence[Recorded[Event]], seq: int) -> int:
    """The event from which on the fault must stand ready: as a rule the one that it strikes."""
    event = events[seq - 1].event
    if isinstance(event, HandlerFailed) and 0 < event.event_seq < seq:
        return event.event_seq
    if isinstance(event, QueryCancelled):
        return max((said.seq for said in events[:seq] if isinstance(said.event, RoundOpened)), default=1)
    if isinstance(event, SessionStalled):
        return _debt(events[: seq - 1])[1] + 1
    return seq


def _nth(prefix: Sequence[Recorded[Event]], struck: Recorded[Event], door: str) -> int:
    """Which passage through the door is the event's, when the query is gone on with after `prefix`."""
    before = sum(passed.point == door for passed in passages(prefix))
    return before + _repeated(prefix, struck, door) + 1


def _repeated(prefix: Sequence[Recorded[Event]], struck: Recorded[Event], door: str) -> int:
    """Passages that going on makes again before the event's: those of calls that are asked again before its own."""
    owed = {waiting.since_seq for waiting in _owed(prefix).values()}
    again = {_call(said.event) for said in prefix if said.seq in owed} - {""}
    if door.startswith("tool."):
        return _before(prefix, again, _call(struck.event), door.removeprefix("tool."))
    if not door.startswith(("publish.", "deliver.")):
        return 0
    began = max((said.seq for said in prefix if isinstance(said.event, ReasoningRetried)), default=0)
    return sum(
        type(said.event) is type(struck.event)
        and said.seq > began
        and said.seq not in owed
        and _call(said.event) in again
        for said in prefix
    )


def _before(prefix: Sequence[Recorded[Event]], again: set[str], call_id: str, name: str) -> int:
    """Calls of the tool `name` that are asked again before the call `call_id`."""
    asked = [
        said.event.call for said in prefix if isinstance(said.event, ToolRequested) and said.event.call.id in again
    ]
    order = [call.id for call in asked]
    earlier = asked[: order.index(call_id)] if call_id in order else asked
    return sum(call.name == name for call in earlier)


def _call(event: Event) -> str:
    """The call that an event belongs to; empty for the others."""
    if isinstance(event, ToolRequested):
        return event.call.id
    return str(getattr(event, "tool_call_id", None) or getattr(event, "call_id", None) or "")


def _model(events: Sequence[Recorded[Event]], call_id: str) -> str:
    asked = [said.event for said in events if isinstance(said.event, ReasoningRequested | SummaryRequested)]
    return next((model_door(each.reasoner) for each in reversed(asked) if each.call_id == call_id), "model")


def _ran(events: Sequence[Recorded[Event]], call_id: str) -> str:
    """The tool that a call ran last."""
    started = [said.event for said in events if isinstance(said.event, ToolStarted)]
    return next((each.name for each in reversed(started) if each.tool_call_id == call_id), "")


def _attempts(events: Sequence[Recorded[Event]], call_id: str) -> int:
    started = (said.event for said in events if isinstance(said.event, ReasoningStarted))
    return max(1, sum(event.call_id == call_id for event in started))


def _owed(events: Sequence[Recorded[Event]]) -> PendingTable:
    table: PendingTable = {}
    return reduce(fold_pending, events, table)


def _debt(events: Sequence[Recorded[Event]]) -> tuple[str, int]:
    """What a stalled query waited for, and the event that had asked for it."""
    owed = sorted(_owed(events).values(), key=lambda each: (each.event in _SHARED, -each.since_seq))
    if not owed:
        return "query_closed", len(events)
    return owed[0].outcomes[0].kind_name(), owed[0].since_seq


def _lost(events: Sequence[Recorded[Event]]) -> str:
    return _debt(events)[0]
