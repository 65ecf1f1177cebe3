"""Wires the components of every query from two tables: the deciders, and the actions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import structlog

from antiphon.assembler import ResponseAssembler
from antiphon.bus import SystemClock
from antiphon.composition.components import components_here
from antiphon.composition.remote import ROOMS, Room
from antiphon.composition.resources import Resources
from antiphon.composition.stand_in import StandIn
from antiphon.composition.subscribers import catalog_of
from antiphon.coordinator import DeadlineTimer, ProviderWatch, QueryCoordinator
from antiphon.dispatcher import ToolDispatcher
from antiphon.engine import ReasoningEngine, SummaryEngine
from antiphon.synthesizer import ContextSynthesizer
from antiphon.traces import Redaction
from antiphon.vocabulary import events as e
from antiphon.vocabulary.containment import failure_of
from antiphon.vocabulary.deciding import Decider
from antiphon.vocabulary.events import Event, Live, Recorded
from antiphon.vocabulary.ports import EmitLive, Ports, Publish, Subscription
from antiphon.vocabulary.subscribers import Act, HearLive, Subscriber, Surroundings

_log = structlog.get_logger(__name__)


Deciders = tuple[type[Decider[Any]], ...]


class Action(NamedTuple):
    """One acting component's method and the event that it hears.

    Attributes:
        repeat: The method that is called instead in a resumed query that was interrupted between this request and
            its outcome; None: the same.
    """

    kind: type[Event]
    method: Callable[[Any, Recorded[Any]], None]
    repeat: Callable[[Any, Recorded[Any]], None] | None = None

    @property
    def owner(self) -> str:
        """The class of the component."""
        return self.method.__qualname__.partition(".")[0]


def deciders_of(subscribers: Sequence[Subscriber] = ()) -> Deciders:
    """Returns the deciders, in the order in which each event reaches them."""
    further = [
        subscriber.decider
        for subscriber in subscribers
        if subscriber.decider is not None
    ]
    # The coordinator comes last: all others have taken an event in before they hear what it emits in answer.
    return (ContextSynthesizer, ResponseAssembler, *further, QueryCoordinator)


ACTIONS: tuple[Action, ...] = (
    Action(e.QueryReceived, DeadlineTimer.on_query_received),
    Action(e.SummaryRequested, SummaryEngine.on_summary_requested),
    Action(e.SummaryFailed, ProviderWatch.on_summary_failed),
    Action(e.SummaryCompleted, ProviderWatch.on_summary_completed),
    Action(e.ReasoningRequested, ReasoningEngine.on_reasoning_requested),
    Action(e.ReasoningRequested, ProviderWatch.on_reasoning_requested),
    Action(e.ReasoningFailed, ProviderWatch.on_reasoning_failed),
    Action(e.ReasoningCompleted, ProviderWatch.on_reasoning_completed),
    Action(
        e.ToolRequested,
        ToolDispatcher.on_tool_requested,
        repeat=ToolDispatcher.ask_again,
    ),
    Action(e.ToolCallsConfirmed, ToolDispatcher.on_tool_calls_confirmed),
    Action(e.CallsAbandoned, ReasoningEngine.on_calls_abandoned),
    Action(e.CallsAbandoned, SummaryEngine.on_calls_abandoned),
    Action(e.CallsAbandoned, ToolDispatcher.on_calls_abandoned),
    Action(e.QueryResumed, DeadlineTimer.on_query_resumed),
    Action(e.QueryClosed, DeadlineTimer.on_query_closed),
)
"""The acting components. Each event reaches the deciders first, and then these, in this order."""


class Recalls(Protocol):
    """An acting component that needs the events from before its query was interrupted."""

    def recall(self, recorded: Recorded[Event]) -> None: ...


@dataclass(frozen=True)
class Wiring:
    """The components of one query.

    Attributes:
        deciders: The components whose state is a fold over events, in order.
        actions: The subscriptions of the acting components, in order.
        recalling: The acting components that take in a trace before its query goes on.
    """

    deciders: tuple[Decider[Any], ...]
    actions: Sequence[Subscription]
    recalling: tuple[Recalls, ...]

    def subscriptions(self) -> Sequence[Subscription]:
        """Returns all subscriptions, in the order in which an event reaches them."""
        deciding = [
            subscription
            for decider in self.deciders
            for subscription in decider.subscriptions()
        ]
        return (*deciding, *self.actions)


def wire(resources: Resources, ports: Ports) -> Wiring:
    """Builds one query's components: those that decide, and those that act on the outside."""
    # Text from outside is redacted before it becomes an event: decisions depend on exactly what is recorded.
    publish = redacting(ports.publish, resources.redaction)
    listeners: list[HearLive] = []
    emit_live = ports.emit_live
    outside = replace(ports, publish=publish)
    subscribed = _subscribed(
        (*resources.subscribers, *resources.observers),
        Surroundings(outside, resources.clock, resources.catalog, listeners.append),
    )
    if listeners:
        emit_live = _telling(listeners, emit_live)
    # The timer publishes by itself: its events hold numbers alone.
    clock = resources.clock
    timer = DeadlineTimer(ports.publish, ports.spawn, clock)
    watch = ProviderWatch(resources.provider_circuit)
    acting = replace(outside, emit_live=emit_live)
    stand_ins = _stand_ins(resources, acting)
    components = (timer, watch, *components_here(resources, acting, stand_ins))
    deciders = [
        decider(ports.publish) for decider in deciders_of(resources.subscribers)
    ]
    return Wiring(
        deciders=tuple(deciders),
        actions=(*_actions(components, stand_ins), *subscribed),
        recalling=_recalling(components, stand_ins),
    )


def _stand_ins(resources: Resources, ports: Ports) -> dict[str, StandIn]:
    """Returns what stands here for components that act in other processes, by room."""
    # A query whose tools or models were replaced is worked on with those, which are here.
    return {
        part.name: StandIn(
            part.link,
            part.place,
            ports,
            resources.catalog,
            _kinds_of(part.room),
            resources.catalog.emitted_by(part.room.role),
        )
        for part in resources.remote
        if part.acts_with is resources.tools or part.acts_with is resources.models
    }


def _kinds_of(room: Room) -> tuple[type[Event], ...]:
    """Returns the events that a room hears."""
    names = {each.__name__ for each in room.classes}
    kinds = {action.kind: None for action in ACTIONS if action.owner in names}
    return tuple(kinds)


def _actions(
    components: Sequence[object], stand_ins: Mapping[str, StandIn]
) -> list[Subscription]:
    """Returns the subscriptions of the table; a stand-in hears an event once, whoever of its room hears it there."""
    rooms: dict[str, str] = {}
    for room in stand_ins:
        for each in ROOMS[room].classes:
            rooms[each.__name__] = room
    heard: set[tuple[str, type[Event]]] = set()
    subscriptions: list[Subscription] = []
    for action in ACTIONS:
        away = rooms.get(action.owner)
        if away is None:
            subscriptions.append(subscription_of(action, components))
        elif (away, action.kind) not in heard:
            heard.add((away, action.kind))
            stand_in = stand_ins[away]
            name = action.method.__qualname__
            subscriptions.append(
                Subscription(action.kind, stand_in.hear, name, stand_in.hear_again)
            )
    return subscriptions


def _recalling(
    components: Sequence[object], stand_ins: Mapping[str, StandIn]
) -> tuple[Recalls, ...]:
    here = [
        component
        for component in components
        if isinstance(component, DeadlineTimer | ToolDispatcher)
    ]
    return (*stand_ins.values(), *here)


def who_hears(
    subscribers: Sequence[Subscriber] = (),
) -> tuple[tuple[type[Event], str], ...]:
    """Returns every pair of an event and a handler (`Class.on_event`) that hears it, without building anything."""
    pairs: list[tuple[type[Event], str]] = []
    for decider in deciders_of(subscribers):
        pairs += [(kind, decider.handler_name(kind)) for kind in decider.rules]
    pairs += [(action.kind, action.method.__qualname__) for action in ACTIONS]
    # Subscribers are built to be looked at: their ports lead nowhere.
    ports = Ports(
        publish=lambda _: None,
        emit_live=lambda _: None,
        spawn=lambda *_, **__: lambda: None,
    )
    nowhere = Surroundings(ports, SystemClock(), catalog_of(subscribers))
    heard = _subscribed(subscribers, nowhere)
    pairs += [(subscription.kind, subscription.name) for subscription in heard]
    return tuple(pairs)


def subscription_of(action: Action, components: Sequence[object]) -> Subscription:
    """Subscribes a component's own method, found by the name of its class."""
    name = action.method.__qualname__
    for component in components:
        if type(component).__name__ == action.owner:
            repeat = (
                partial(action.repeat, component) if action.repeat is not None else None
            )
            return Subscription(
                action.kind, partial(action.method, component), name, repeat
            )
    raise LookupError(
        f"{name} stands in the table of actions, and no component is a {action.owner}"
    )


def _subscribed(
    subscribers: Sequence[Subscriber], surroundings: Surroundings
) -> list[Subscription]:
    subscriptions: list[Subscription] = []
    for subscriber in subscribers:
        if subscriber.act is not None:
            subscriptions += _acted(subscriber.name, subscriber.act, surroundings)
    return subscriptions


def _acted(name: str, act: Act, surroundings: Surroundings) -> Sequence[Subscription]:
    """Returns what a subscriber hears; where it cannot be built, the query goes on without it, and records why."""
    try:
        return tuple(act(surroundings))
    except BaseException as error:  # noqa: BLE001 - a user's code may raise anything; it becomes an event
        failure = failure_of(error)

    def fail(_: Recorded[Event]) -> None:
        raise failure

    return (
        Subscription(e.QueryReceived, fail, f"{name}.act"),
        Subscription(e.QueryResumed, fail, f"{name}.act"),
    )


def _telling(listeners: list[HearLive], emit_live: EmitLive) -> EmitLive:
    """Returns an `emit_live` that tells subscribers first; one that fails is told nothing more of this query."""

    def emit_and_tell(live: Live, /) -> None:
        for listener in tuple(listeners):
            try:
                listener(live)
            except BaseException as error:  # noqa: BLE001 - as above
                listeners.remove(listener)
                _log.error("live_listener_failed", exc_info=failure_of(error))
        emit_live(live)

    return emit_and_tell


def redacting(publish: Publish, redaction: Redaction) -> Publish:
    """Returns a `publish` for events that hold text from outside."""
    if not redaction:
        return publish

    def publish_redacted(event: Event, /) -> None:
        publish(redaction.event(event))

    return publish_redacted
