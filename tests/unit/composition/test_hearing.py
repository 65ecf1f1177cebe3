"""A query's components hear what the wiring says, and each query's events reach its own components alone."""

from __future__ import annotations

from antiphon.bus import SystemClock
from antiphon.composition import Resources, wire
from antiphon.composition.wiring import who_hears
from antiphon.dispatcher import Registry
from antiphon.engine import offline_model
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.ports import Ports
from tests.story import placed, query_received

PORTS = Ports(
    publish=lambda _: None,
    emit_live=lambda _: None,
    spawn=lambda work, **_: work.close,
)


def resources() -> Resources:
    registry = Registry([])
    return Resources(
        clock=SystemClock(),
        models={"primary": offline_model(), "fallback": offline_model()},
        tools=registry,
        tool_definitions=registry.definitions(),
    )


def test_the_subscriptions_of_a_query_are_those_that_the_wiring_says() -> None:
    subscriptions = wire(resources(), PORTS).subscriptions()

    assert [(each.kind, each.name) for each in subscriptions] == list(who_hears())
    assert len(subscriptions) == len(list(who_hears()))
    assert subscriptions[0].name == who_hears()[0][1]


def test_queries_share_no_components() -> None:
    shared = resources()
    wirings = [wire(shared, PORTS) for _ in range(2)]
    one, _ = [wiring.subscriptions() for wiring in wirings]

    (received,) = placed("q1", [query_received("What is BM25?")])
    for subscription in one:
        if subscription.kind is QueryReceived and "Synthesizer" in subscription.name:
            subscription.handler(received)
    asked = [wiring.deciders[1].state.memory.intent.question for wiring in wirings]
    assert asked == ["What is BM25?", ""]
