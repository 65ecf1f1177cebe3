"""Continues a query from a prefix of its trace: resume and fork are both this.

The deciders are folded over the prefix, which gives them their state. What they emit and the trace holds is done; what
they emit and the trace does not hold was about to be published, and is published now. What the trace requested and
holds no outcome of (the pending table knows) is requested once more. Nothing else is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from antiphon.bus import Bus, Session, Step
from antiphon.composition import Interceptor, Wiring
from antiphon.history.folding import Fold, RuleFailure, failures_by_event
from antiphon.vocabulary.events import CallsAbandoned, Event, QueryReceived, QueryResumed, Recorded
from antiphon.vocabulary.ports import EventLog, Ports, Publish, Subscription

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
) -> Session:
    """Starts a session that goes on after `prefix`, which must be stored already, from its first event.

    Args:
        interceptor: Stands round the session from here on; what came before is heard without it.
        store: Where the session is recorded; None is the bus's own store.

    Raises:
        TraceError: The query is open already.
    """
    built: list[tuple[Ports, Wiring]] = []

    def components(ports: Ports) -> Sequence[Subscription]:
        wiring = wire(ports)
        built.append((ports, wiring))
        return wiring.subscriptions()

    session = bus.open(prefix[0].query_id, interceptor.components(components), prefix, store)
    ports, wiring = built[0]  # built by `bus.open`; the interceptor may have put ports of its own in between
    fold, failed_steps = _fold(wiring, prefix)
    _recall(wiring, fold, prefix)
    # The session has folded the prefix too; what it still owes was under way when the query was interrupted.
    requested = [prefix[pending.since_seq - 1] for pending in session.pending()]
    repeated_steps = _repeat(wiring.actions, prefix, requested)
    unpublished_steps: list[Step] = []
    for emission in fold.emitted:
        unpublished_steps.append((prefix[emission.cause - 1], _publishing(ports.publish, emission.event)))
    # What had failed comes first, as it did; what is published here is delivered only after all steps were called.
    session.start(resumed, [*failed_steps, *repeated_steps, *unpublished_steps])
    return session


def _fold(wiring: Wiring, prefix: Sequence[Recorded[Event]]) -> tuple[Fold, list[Step]]:
    """Folds the deciders over the prefix; returns also the failures that the trace does not hold."""
    fold = Fold(tuple(type(decider) for decider in wiring.deciders))
    failed = failures_by_event(prefix)
    steps: list[Step] = []
    for recorded in prefix:
        _strike_out(fold, recorded)
        for failure in fold.hear(recorded, failed.get(recorded.seq, frozenset())):
            steps.append((recorded, _raising(failure, type(recorded.event))))
    return fold, steps


def _strike_out(fold: Fold, recorded: Recorded[Event]) -> None:
    """Takes away what was emitted and is recorded; what stands before it was dropped by other rules than today's."""
    if any(emission.stands_for(recorded) for emission in fold.emitted):
        while not fold.emitted.popleft().stands_for(recorded):
            pass


def _recall(wiring: Wiring, fold: Fold, prefix: Sequence[Recorded[Event]]) -> None:
    """Lets every component take in the prefix, none of them acting on it."""
    for decider in wiring.deciders:
        decider.state = fold.states[type(decider)]
    for recorded in prefix:
        for component in wiring.recalling:
            component.recall(recorded)
        for subscription in wiring.caller_hears:
            if subscription.kind is type(recorded.event):
                subscription.handler(recorded)


def _repeat(
    actions: Sequence[Subscription], prefix: Sequence[Recorded[Event]], requested: Sequence[Recorded[Event]]
) -> list[Step]:
    """Requests once more what has no outcome, and abandons once more what had been abandoned."""
    steps: list[Step] = []
    since: dict[str | int, int] = {}
    for recorded in requested:
        if isinstance(recorded.event, QueryReceived):
            continue  # its outcome is the end of the query, which everything else leads to
        since[recorded.event.subject()] = recorded.seq
        steps += _acting_on(actions, recorded)
    for recorded in prefix:
        event = recorded.event
        if not isinstance(event, CallsAbandoned):
            continue
        # Of a call that is requested once more, the abandoning that came after its request must be repeated too.
        if any(since.get(call_id, recorded.seq) < recorded.seq for call_id in event.call_ids):
            steps += _acting_on(actions, recorded)
    return steps


def _acting_on(actions: Sequence[Subscription], recorded: Recorded[Event]) -> list[Step]:
    steps: list[Step] = []
    for action in actions:
        if action.kind is type(recorded.event):
            steps.append((recorded, action._replace(handler=action.repeat or action.handler)))
    return steps


def _publishing(publish: Publish, event: Event) -> Subscription:
    def publish_now(_: Recorded[Event]) -> None:
        publish(event)

    return Subscription(type(event), publish_now, "continue_from.publish_now")


def _raising(failure: RuleFailure, kind: type[Event]) -> Subscription:
    """Returns a handler that fails as the rule that it stands for did."""
    return Subscription(kind, partial(_raise, failure.error), failure.handler)


def _raise(error: Exception, _: Recorded[Event]) -> None:
    raise error
