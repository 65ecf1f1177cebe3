"""Wires the components of every query: the deciders, the outside, and the listeners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from antiphon.assembler import ResponseAssembler
from antiphon.bus import Performing, SystemClock
from antiphon.composition.outside import PERFORMED, LiveOutside, live_outside
from antiphon.composition.resources import Resources
from antiphon.composition.subscribers import catalog_of
from antiphon.coordinator import ProviderCircuit, ProviderWatch, QueryCoordinator
from antiphon.dispatcher import ToolDispatcher
from antiphon.synthesizer import ContextSynthesizer
from antiphon.traces import Redaction
from antiphon.vocabulary import events as e
from antiphon.vocabulary.containment import failure_of, traceback_of
from antiphon.vocabulary.deciding import Decider
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import EmitLive, Ports, Publish, Subscription, no_past
from antiphon.vocabulary.subscribers import Act, HearLive, Subscriber, Surroundings

_log = structlog.get_logger(__name__)


Deciders = tuple[type[Decider[Any]], ...]


def deciders_of(subscribers: Sequence[Subscriber] = ()) -> Deciders:
    """Returns the deciders, in the order in which each event reaches them."""
    further = [
        subscriber.decider
        for subscriber in subscribers
        if subscriber.decider is not None
    ]
    # The coordinator comes last: the others have taken an event in before they get the events it emits in answer.
    return (
        ToolDispatcher,
        ContextSynthesizer,
        ResponseAssembler,
        *further,
        QueryCoordinator,
    )


@dataclass(frozen=True)
class Wiring:
    """The components of one query.

    Attributes:
        deciders: The components whose state is a fold over events, in order.
        performing: Hands requests to the outside.
        subscribed: The subscriptions of the others that act: the provider's watch, subscribers and observers.
    """

    deciders: tuple[Decider[Any], ...]
    performing: Performing
    subscribed: tuple[Subscription, ...]

    @property
    def actions(self) -> Sequence[Subscription]:
        """The subscriptions of all components that act, in the order in which an event reaches them."""
        return (*self.performing.subscriptions(), *self.subscribed)

    def subscriptions(self) -> Sequence[Subscription]:
        """Returns all subscriptions, in the order in which an event reaches them."""
        deciding = [
            subscription
            for decider in self.deciders
            for subscription in decider.subscriptions()
        ]
        return (*deciding, *self.actions)


def wire(resources: Resources, ports: Ports) -> Wiring:
    """Builds one query's components: the deciders, the listeners, and the outside."""
    # Text from outside is redacted before it becomes an event: decisions depend on exactly what is recorded.
    publish = redacting(ports.publish, resources.redaction)
    listeners: list[HearLive] = []
    emit_live = ports.emit_live
    beyond = replace(ports, publish=publish)
    subscribed = _subscribed(
        (*resources.subscribers, *resources.observers),
        Surroundings(beyond, resources.clock, resources.catalog, listeners.append),
    )
    if listeners:
        emit_live = _telling(listeners, emit_live)
    build = resources.outside or live_outside
    outside = build(resources, replace(beyond, emit_live=emit_live))
    watch = ProviderWatch(resources.provider_circuit)
    deciders = [
        decider(ports.publish) for decider in deciders_of(resources.subscribers)
    ]
    return Wiring(
        deciders=tuple(deciders),
        performing=Performing(outside, PERFORMED, ports.past),
        subscribed=(*watch.subscriptions(), *subscribed),
    )


def who_hears(
    subscribers: Sequence[Subscriber] = (),
) -> tuple[tuple[type[Event], str], ...]:
    """Returns every pair of an event and a handler of it (`Class.on_event`), without connecting to anything."""
    pairs: list[tuple[type[Event], str]] = []
    for decider in deciders_of(subscribers):
        pairs += [(kind, decider.handler_name(kind)) for kind in decider.rules]
    # Built only to be listed: their ports lead nowhere.
    ports = Ports(
        publish=lambda _: None,
        emit_live=lambda _: None,
        spawn=lambda *_, **__: lambda: None,
    )
    nowhere = Surroundings(ports, SystemClock(), catalog_of(subscribers))
    acting = (
        *Performing(LiveOutside({}), PERFORMED, no_past).subscriptions(),
        *ProviderWatch(ProviderCircuit()).subscriptions(),
        *_subscribed(subscribers, nowhere),
    )
    pairs += [(subscription.kind, subscription.name) for subscription in acting]
    return tuple(pairs)


def _subscribed(
    subscribers: Sequence[Subscriber], surroundings: Surroundings
) -> list[Subscription]:
    subscriptions: list[Subscription] = []
    for subscriber in subscribers:
        if subscriber.act is not None:
            subscriptions += _acted(subscriber.name, subscriber.act, surroundings)
    return subscriptions


def _acted(name: str, act: Act, surroundings: Surroundings) -> Sequence[Subscription]:
    """Returns a subscriber's subscriptions; if it cannot be built, the query goes on without it, and records why."""
    try:
        return tuple(act(surroundings))
    except BaseException as error:  # noqa: BLE001 - a user's code may raise anything; it becomes an event
        failure = failure_of(error)

    # A handler of the first event raises it, because the bus records errors of handlers only.
    def fail(_: Recorded[Event]) -> None:
        raise failure

    return (
        Subscription(e.QueryReceived, fail, f"{name}.act"),
        Subscription(e.QueryResumed, fail, f"{name}.act"),
    )


def _telling(listeners: list[HearLive], emit_live: EmitLive) -> EmitLive:
    """Returns an `emit_live` that calls the subscribers first; one that raises gets nothing more of this query."""

    def emit_and_tell(live: Live, /) -> None:
        for listener in tuple(listeners):
            try:
                listener(live)
            except BaseException as error:  # noqa: BLE001 - as above
                listeners.remove(listener)
                failure = failure_of(error)
                _log.error("live_listener_failed", exception=traceback_of(failure))
        emit_live(live)

    return emit_and_tell


def redacting(publish: Publish, redaction: Redaction) -> Publish:
    """Returns a `publish` for events that hold text from outside."""

    def publish_redacted(event: Event, /) -> None:
        publish(redaction.event(event))

    return publish_redacted
