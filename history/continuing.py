"""Continues a query from a prefix of its trace; both resuming and forking do this.

Folding the deciders over the prefix restores their state. Of the events that they emit meanwhile, those in the trace
need nothing more; the interruption kept the others from being published, so they are published now. Each request
without an outcome in the trace (see the pending table) is repeated. Nothing else is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from antiphon.bus import Bus, Session, Step
from antiphon.composition import Interceptor, Wiring
from antiphon.history.folding import Fold, RuleFailure, failures_by_event
from antiphon.vocabulary.events import (
    CallsAbandoned,
    Event,
    QueryReceived,
    QueryResumed,
    Recorded,
)
from antiphon.vocabulary.ports import Clock, EventLog, Ports, Publish, Subscription

Wire = Callable[[Ports], Wiring]
"""Builds a query's components."""


def continue_from(
    bus: Bus,
    wire: Wire,
    prefix: Sequence[Recorded[Event]],
    resumed: QueryResumed,
    *,
    interceptor: Interceptor,
    store: EventLog | None = None,
    clock: Clock | None = None,
    repeats: bool = True,
    last: Event | None = None,
) -> Session:
    """Starts a session that goes on after `prefix`, which must be stored already, from its first event.

    Args:
        interceptor: Applies to the session from here on, but not to the prefix.
        store: The store that records the session; None: the bus's own.
        clock: The clock for its events; None: the bus's own.
        repeats: Repeats the requests without an outcome. False: they stay without one, because such a request may be
            what crashed the process that worked on it.
        last: An event to publish after all others, before anything acts; None: none.

    Raises:
        TraceError: The query is open already.
    """
    built: list[tuple[Ports, Wiring]] = []

    def components(ports: Ports) -> Sequence[Subscription]:
        wiring = wire(ports)
        built.append((ports, wiring))
        return wiring.subscriptions()

    session = bus.open(
        prefix[0].query_id, interceptor.components(components), prefix, store, clock
    )
    ports, wiring = built[
        0
    ]  # built by `bus.open`; the interceptor may have put ports of its own in between
    fold, failed_steps = _fold(wiring, prefix)
    for decider in wiring.deciders:
        decider.state = fold.states[type(decider)]
    # The session has folded the prefix too; its pending requests were under way at the interruption.
    repeated_steps: list[Step] = []
    if repeats:
        requested = [prefix[pending.since_seq - 1] for pending in session.pending()]
        repeated_steps = _repeat(wiring.actions, prefix, requested)
    unpublished_steps = [
        (prefix[emission.cause - 1], _publishing(ports.publish, emission.event))
        for emission in fold.emitted
    ]
    # Failures come first, as they did before; events published here are delivered only after all steps have run.
    session.start(resumed, [*failed_steps, *repeated_steps, *unpublished_steps])
    if last is not None:
        session.publish(last)
    return session


def _fold(wiring: Wiring, prefix: Sequence[Recorded[Event]]) -> tuple[Fold, list[Step]]:
    """Folds the deciders over the prefix; also returns steps for the failures that the trace lacks."""
    fold = Fold(tuple(type(decider) for decider in wiring.deciders))
    failed = failures_by_event(prefix)
    steps: list[Step] = []
    for recorded in prefix:
        fold.take(recorded)
        for failure in fold.hear(recorded, failed.get(recorded.seq, frozenset())):
            steps.append((recorded, _raising(failure, type(recorded.event))))
    return fold, steps


def _repeat(
    actions: Sequence[Subscription],
    prefix: Sequence[Recorded[Event]],
    requested: Sequence[Recorded[Event]],
) -> list[Step]:
    """Repeats the requests without an outcome, and the abandoning of calls that had been abandoned."""
    steps: list[Step] = []
    requested_at: dict[str | int, int] = {}
    for recorded in requested:
        if isinstance(recorded.event, QueryReceived):
            continue  # its outcome is the end of the query, to which all other events lead
        requested_at[recorded.event.subject()] = recorded.seq
        steps += _acting_on(actions, recorded)
    for recorded in prefix:
        event = recorded.event
        if not isinstance(event, CallsAbandoned):
            continue
        # An id may be used again later: abandoning the earlier call must not end the later one, which is repeated.
        ended = [
            call_id
            for call_id in event.call_ids
            if requested_at.get(call_id, recorded.seq) < recorded.seq
        ]
        if ended:
            steps += _acting_on(actions, recorded)
    return steps


def _acting_on(
    actions: Sequence[Subscription], recorded: Recorded[Event]
) -> list[Step]:
    """Returns the acting components' handlers for this event, in their variant for repeated requests."""
    return [
        (recorded, action._replace(handler=action.repeat or action.handler))
        for action in actions
        if action.kind is type(recorded.event)
    ]


def _publishing(publish: Publish, event: Event) -> Subscription:
    def publish_now(_: Recorded[Event]) -> None:
        publish(event)

    return Subscription(type(event), publish_now, "continue_from.publish_now")


def _raising(failure: RuleFailure, kind: type[Event]) -> Subscription:
    """Returns a handler that raises the rule's error, so that the session records the failure."""

    def fail(_: Recorded[Event]) -> None:
        raise failure.error

    return Subscription(kind, fail, failure.handler)
