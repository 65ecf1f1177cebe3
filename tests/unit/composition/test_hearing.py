"""A query's components hear what the wiring says, and each query's events reach its own components alone."""

from __future__ import annotations

from antiphon.bus import SystemClock
from antiphon.composition import Resources, wire
from antiphon.composition.wiring import who_hears
from antiphon.dispatcher import Registry
from antiphon.engine import offline_model
from antiphon.vocabulary.ports import Ports

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
