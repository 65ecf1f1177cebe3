"""Derives the fault plan that makes one recorded event fail when the query is rerun."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.faults.plan import Fault, Kind, Plan
from antiphon.faults.ports.deliveries import publish_point
from antiphon.faults.ports.recorded import (
    ORIGINS,
    Option,
    Trace,
    delivery_points,
    is_published,
    likely_cause,
    pending_after,
    traversals,
)
from antiphon.service import who_hears
from antiphon.vocabulary import events as e
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Value


class TraceFault(Value, frozen=True, kw_only=True):
    """A fault derived from a trace.

    Attributes:
        at: The event from which on the fault must be in place, for `antiphon traces fork --at`.
        kinds: The kinds of faults that are possible at this event, by point.
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
        kind: The kind of fault; None: the kind that suits the event: a failure as recorded, else the loss of the event.
        point: One of the event's points; None: the first that knows the kind.
        subscribers: The components from outside that hear the query.

    Raises:
        BadInputError: There is no such event, or it cannot be broken, or not in that way.
    """
    if not 1 <= seq <= len(events):
        raise BadInputError(
            f"There is no event {seq}: the trace has the events 1 to {len(events)}."
        )
    recorded = events[seq - 1]
    # All options are computed first, because a refusal names them.
    options = _options(events, recorded, subscribers)
    chosen = _choose(options, kind, point)
    if chosen is None:
        raise BadInputError(_refusal(recorded, kind, point, options))
    at = _ready_at(events, recorded)
    times = _attempts(events[: seq - 1], recorded.event)
    nth = _traversal_of(events[: at - 1], recorded, chosen.point, subscribers)
    fault = Fault(point=chosen.point, kind=chosen.kind, nth=nth, times=times)
    kinds = tuple((option.point, option.kinds) for option in options)
    return TraceFault(plan=Plan(faults=(fault,)), at=at, kinds=kinds)


def _choose(
    options: Sequence[Option], kind: str | None, point: str | None
) -> Option | None:
    """Picks the first option at `point` that knows `kind`; None matches any."""
    for option in options:
        if point not in (None, option.point):
            continue
        if kind is None:
            return option
        # Returns the known kind, because `kind` is only text from a caller.
        for known in option.kinds:
            if known == kind:
                return Option(option.point, known)
    return None


def _refusal(
    recorded: Recorded[Event],
    kind: str | None,
    point: str | None,
    options: Sequence[Option],
) -> str:
    name = f"event {recorded.seq} ({recorded.event.kind_name()})"
    if not options:
        return f"Nothing can break {name}: no part of this version emits or hears it."
    known = [f"{option.point}: {', '.join(sorted(option.kinds))}" for option in options]
    # Cut, because both come from a command line and may have any length.
    words = [word[:40] for word in (kind, point) if word is not None]
    wanted = " at ".join(words)
    return f"{wanted!r} cannot happen at {name}. What can: {'; '.join(known)}."


def _options(
    events: Trace, recorded: Recorded[Event], subscribers: Sequence[Subscriber]
) -> list[Option]:
    """Lists the points of an event, first the one at which a break is most natural."""
    kind = type(recorded.event)
    options: list[Option] = []
    if kind in ORIGINS:
        until_event = events[: recorded.seq]
        options += ORIGINS[kind](until_event, recorded.event)
    # Any event that a component emits can get lost on its way.
    if is_published(kind):
        options.append(Option(publish_point(kind), "drop"))
    for point in delivery_points(who_hears(subscribers)).get(kind, ()):
        options.append(Option(point, "raise"))
    return options


def _ready_at(events: Trace, recorded: Recorded[Event]) -> int:
    """Returns the event from which on the fault must be in place: usually the one that it breaks."""
    event = recorded.event
    seq = recorded.seq
    # These events record something that began earlier, at an event that the fault must not miss.
    if isinstance(event, e.HandlerFailed) and 0 < event.event_seq < seq:
        return event.event_seq
    if isinstance(event, e.QueryCancelled):
        return _last_round(events[:seq])
    if isinstance(event, e.SessionStalled):
        owed = likely_cause(events[: seq - 1])
        if owed is not None:
            return owed.since_seq + 1
    return seq


def _last_round(events: Trace) -> int:
    """Returns the last event at which a caller can leave: harness and command line cancel when a round opens."""
    for recorded in reversed(events):
        if isinstance(recorded.event, e.RoundOpened):
            return recorded.seq
    return 1


def _traversal_of(
    prefix: Trace,
    recorded: Recorded[Event],
    point: str,
    subscribers: Sequence[Subscriber],
) -> int:
    """Returns the number of the event's traversal of the point if the query is resumed after `prefix`."""
    before = 0
    for traversal in traversals(prefix, who_hears(subscribers)):
        if traversal.point == point:
            before += 1
    return before + _repeated(prefix, recorded, point) + 1


def _repeated(prefix: Trace, recorded: Recorded[Event], point: str) -> int:
    """Counts the earlier traversals that resuming repeats: those of calls without an outcome."""
    owed = {pending.since_seq for pending in pending_after(prefix).values()}
    unfinished = {_call_of(earlier.event) for earlier in prefix if earlier.seq in owed}
    # Resuming repeats only events that belong to a call.
    unfinished.discard("")
    # Tools are called again in the order of their requests; events are published again with their call.
    if point.startswith("tool."):
        return _calls_before(
            prefix, unfinished, _call_of(recorded.event), point.removeprefix("tool.")
        )
    if not point.startswith(("publish.", "deliver.")):
        return 0
    # Events before the last retry belong to an attempt that is not repeated.
    candidates = [
        earlier for earlier in prefix[_last_retry(prefix) :] if earlier.seq not in owed
    ]
    return _count_alike(candidates, recorded.event, unfinished)


def _count_alike(candidates: Trace, event: Event, calls: set[str]) -> int:
    """Counts the events of the same kind as `event` that belong to one of these calls."""
    count = 0
    for recorded in candidates:
        if type(recorded.event) is type(event) and _call_of(recorded.event) in calls:
            count += 1
    return count


def _last_retry(prefix: Trace) -> int:
    """Returns the last event at which a model call was retried; 0 if there is none."""
    for recorded in reversed(prefix):
        if isinstance(recorded.event, e.ReasoningRetried):
            return recorded.seq
    return 0


def _calls_before(prefix: Trace, unfinished: set[str], call_id: str, name: str) -> int:
    """Counts the unfinished calls of the tool `name` requested before the call `call_id`."""
    count = 0
    for recorded in prefix:
        event = recorded.event
        if not isinstance(event, e.ToolRequested) or event.call.id not in unfinished:
            continue
        if event.call.id == call_id:
            break
        if event.call.name == name:
            count += 1
    return count


def _call_of(event: Event) -> str:
    """Returns the call that an event belongs to; empty if it belongs to none."""
    # A streamed tool call belongs to the reasoning call that streams it, because resuming repeats that call.
    if event.about.kind == "tool_call" and not isinstance(event, e.ToolCallStreamed):
        return str(event.subject())
    call_id = getattr(event, "call_id", None)
    if call_id is None:
        return ""
    return str(call_id)


def _attempts(events: Trace, event: Event) -> int:
    """Counts the attempts that must fail for the event to happen."""
    # A call fails for good only if all its attempts do.
    if not isinstance(event, e.ReasoningFailed | e.SummaryFailed):
        return 1
    attempts = 0
    for recorded in events:
        if (
            isinstance(recorded.event, e.ReasoningStarted)
            and recorded.event.call_id == event.call_id
        ):
            attempts += 1
    # A call that never started still fails at its first attempt.
    return max(1, attempts)
