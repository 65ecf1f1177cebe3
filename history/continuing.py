"""Continue from a prefix: a session that goes on from what was recorded. Resume and fork are both this.

The deciding parts hear the prefix again, which gives them their state. What they say and the trace holds is done; what
they say and the trace does not hold was about to be said, and is said now. What the trace asked for and holds no answer
to (the waiter table knows) is asked again. Nothing else is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, runtime_checkable

from antiphon.bus import Bus, Handler, Ports, Session, Step, Subscription
from antiphon.composition.caller import Caller
from antiphon.composition.wiring import Interceptor
from antiphon.dispatcher import ToolDispatcher
from antiphon.history.folding import DECIDERS, DecidingParts, Notebook, Raised, Said, failures_by_event, owner_of
from antiphon.vocabulary.events import (
    AnyEvent,
    CallsAbandoned,
    Event,
    QueryReceived,
    QueryResumed,
    ReasoningRequested,
    Recorded,
    SummaryRequested,
    ToolRequested,
)
from antiphon.vocabulary.ports import Publish, TraceStore

Wire = Callable[[Ports, Caller], Sequence[Subscription]]
"""Builds a query's components and says who hears what."""


@runtime_checkable
class Recalling(Protocol):
    """An acting part that must know what happened before its query was interrupted."""

    def recall(self, said: Recorded[Event]) -> None: ...


class _Gate:
    """A `Publish` that writes down what is said until it is opened, and then lets it through."""

    def __init__(self) -> None:
        self.notebook = Notebook()
        self.opened: Publish | None = None

    def __call__(self, event: AnyEvent, /) -> None:
        (self.opened or self.notebook)(event)


def continue_from(
    bus: Bus,
    wiring: Wire,
    caller: Caller,
    prefix: Sequence[Recorded[AnyEvent]],
    resumed: QueryResumed,
    *,
    around: Interceptor | None = None,
    store: TraceStore | None = None,
) -> Session:
    """Starts a session that goes on after `prefix`, which must be stored already, from its first event.

    Args:
        around: What stands round the session from here on; what was heard before is heard without it.
        store: Where the session is recorded; None is the bus's own store.

    Raises:
        TraceError: The query is open already.
    """
    gate = _Gate()
    wired: list[Subscription] = []

    def components(ports: Ports) -> Sequence[Subscription]:
        wired.extend(wiring(Ports(publish=gate, tell=ports.tell, spawn=ports.spawn), caller))
        gate.opened = ports.publish
        return wired

    session = bus.open(prefix[0].query_id, around.components(components) if around else components, prefix, store)
    publish, gate.opened = gate.opened, None
    assert publish is not None
    steps = _recall(wired, gate.notebook, prefix)
    again = _ask_again(wired, prefix, [waiting.since_seq for waiting in session.waiting()])
    gate.opened = publish
    unsaid = [(prefix[said.cause - 1], partial(_say, publish, said.event)) for said in gate.notebook.said]
    session.start(resumed, [*steps, *again, *unsaid])
    return session


def _recall(wired: Sequence[Subscription], notebook: Notebook, prefix: Sequence[Recorded[AnyEvent]]) -> list[Step]:
    """Lets every part take in the prefix; returns the failures that the trace does not hold."""
    deciding = DecidingParts(wired, notebook)
    owners = list({id(owner): owner for owner in map(owner_of, (handler for _, handler in wired))}.values())
    callers = [(kind, handler) for kind, handler in wired if isinstance(owner_of(handler), Caller)]
    failed = failures_by_event(prefix)
    steps: list[Step] = []
    for recorded in prefix:
        _take(deciding, recorded)
        raised = deciding.hear(recorded, failed.get(recorded.seq, frozenset()))
        steps += [(recorded, _raising(each)) for each in raised]
        for owner in owners:
            if isinstance(owner, Recalling):
                owner.recall(recorded)
        for kind, handler in callers:
            if kind is type(recorded.event):
                handler(recorded)
    return steps


def _take(deciding: DecidingParts, recorded: Recorded[AnyEvent]) -> None:
    """Strikes out what was said and is recorded. What stands before it was dropped by other rules than today's."""
    for at, said in enumerate(deciding.said):
        if said.cause == recorded.cause and type(said.event) is type(recorded.event):
            for _ in range(at + 1):
                deciding.said.popleft()
            return


def _ask_again(wired: Sequence[Subscription], prefix: Sequence[Recorded[AnyEvent]], owed: Sequence[int]) -> list[Step]:
    """What was asked for and not answered goes to the acting parts again, and what was given up is given up again."""
    asked = [prefix[seq - 1] for seq in owed if not isinstance(prefix[seq - 1].event, QueryReceived)]
    steps: list[Step] = [(each, handler) for each in asked for handler in _acting(wired, each)]
    calls = {_call_id(each.event): each.seq for each in asked}
    for recorded in prefix:
        event = recorded.event
        if not isinstance(event, CallsAbandoned):
            continue
        if any(calls.get(name, recorded.seq) < recorded.seq for name in event.call_ids):
            steps += [(recorded, handler) for handler in _acting(wired, recorded)]
    return steps


def _acting(wired: Sequence[Subscription], recorded: Recorded[AnyEvent]) -> list[Handler]:
    """The handlers of an event that act on it."""
    found: list[Handler] = []
    for kind, handler in wired:
        owner = owner_of(handler)
        if kind is not type(recorded.event) or isinstance(owner, (*DECIDERS, Caller)):
            continue
        is_tool = kind is ToolRequested and isinstance(owner, ToolDispatcher)
        found.append(owner.ask_again if is_tool and isinstance(owner, ToolDispatcher) else handler)
    return found


def _call_id(event: AnyEvent) -> str:
    if isinstance(event, ReasoningRequested | SummaryRequested):
        return event.call_id
    return event.call.id if isinstance(event, ToolRequested) else ""


def _say(publish: Publish, event: AnyEvent, _: Recorded[Event]) -> None:
    publish(event)


def _raising(raised: Raised) -> Handler:
    """A handler that fails as the one that it stands for did."""

    def fail(_: Recorded[Event]) -> None:
        raise raised.error

    fail.__qualname__ = raised.handler
    return fail


__all__ = ["Said", "Wire", "continue_from"]
