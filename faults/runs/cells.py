"""All injection points of a query, and the cells of the matrix: each a fault, a part of a query and a scenario.

Points come from the wiring, the ports and the runs of scenarios, not from a list kept by hand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from itertools import starmap

from antiphon.dispatcher import CourseLibrary
from antiphon.faults.injector import is_port
from antiphon.faults.plan import (
    KINDS,
    SUMMARY,
    WHENS,
    Experiment,
    Kind,
    Plan,
    When,
    matches,
    model_points,
    point_type,
)
from antiphon.faults.ports.deliveries import delivery_point, publish_point
from antiphon.faults.ports.recorded import is_published, model_prefix
from antiphon.faults.results import Cell, NotApplicable
from antiphon.faults.runs.service import run_plan
from antiphon.faults.runs.world import World
from antiphon.faults.scenarios import SCENARIOS
from antiphon.service import Resources, who_hears
from antiphon.vocabulary.events import REVIEWER, Event
from antiphon.vocabulary.ports import Clock, Embedder, QueryStore

Reached = Mapping[tuple[str, When], str]
"""The first scenario that traverses a point in a part of the query."""

_PROTOCOLS: dict[str, type] = {
    "clock": Clock,
    "embedder": Embedder,
    "library": CourseLibrary,
    "store": QueryStore,
}

UNUSED = {
    "store.read": "a query writes its trace and never reads it",
    "store.clear_conversation": "a query does not clear conversations",
    "summary.stream.in_tool_json": "a summarising call is offered no tools",
    "embedder.count_tokens": "only indexing counts tokens",
    "provider_circuit.keeps_out": "the service asks it before the query begins",
    "tool_circuits.is_open": "metrics ask it, beside the queries",
    "model_table.price": "only its own methods ask it",
    "model_table.rate": "the service asks it before the query begins",
    "model_speeds.longest_s": "only a query that nobody follows asks it, and each query here is followed",
    "redaction.needs_none": "only the store asks it, and is broken as a whole",
    "redaction.text": "only lines of logs pass through it, and events through `event`",
}
"""Points of ports that a query never traverses, and why."""
NOBODY_REVIEWS = "nobody reviews drafts in this service"


def all_points(world: World) -> list[str]:
    """Lists the points by type, in the order in which a query meets the types."""
    resources = world.parts()
    points = ["intake"]
    # For all events of the catalog, and all subscriptions in the wiring's table.
    points += map(publish_point, resources.catalog.events)
    points += starmap(delivery_point, who_hears(resources.subscribers))
    for reasoner in resources.models:
        points += model_points(model_prefix(reasoner))
    points += model_points(SUMMARY)
    for tool in resources.tools.tools:
        points.append(f"tool.{tool.name}")
    for name, protocol in (_PROTOCOLS | _other_ports(resources)).items():
        points += _method_points(name, protocol)
    points += ["follower", "client", "process"]
    return points


def unknown_points(world: World, experiment: Experiment) -> list[str]:
    """Lists the points that an experiment names but that do not exist.

    The work of components is known only once it starts, so any `spawn.` point is accepted.
    """
    known = all_points(world)
    unknown: set[str] = set()
    for plan in experiment.plans:
        for fault in plan.faults:
            if fault.point.startswith("spawn."):
                continue
            if not any(map(fault.is_at, known)):
                unknown.add(fault.point)
    return sorted(unknown)


def unused_points(world: World) -> dict[str, str]:
    """Lists the points that a query of this world never traverses, and why."""
    resources = world.parts()
    has_reviews = any(subscriber.reviews for subscriber in resources.subscribers)
    idle = set() if has_reviews else _events_of_reviews(resources)
    unused = dict(UNUSED)
    for kind in resources.catalog.events:
        if not is_published(kind):
            unused[publish_point(kind)] = (
                f"the {kind.emitted_by[0]} emits it, no component"
            )
        elif kind in idle:
            unused[publish_point(kind)] = NOBODY_REVIEWS
    for kind, handler in who_hears(resources.subscribers):
        if kind in idle:
            unused[delivery_point(kind, handler)] = NOBODY_REVIEWS
    return unused


def _events_of_reviews(resources: Resources) -> set[type[Event]]:
    """Returns the events that a reviewer emits and those that request them."""
    catalog = resources.catalog
    found: set[type[Event]] = set()
    for kind in catalog.events:
        for emitted in (kind, *catalog.outcomes.get(kind, ())):
            if REVIEWER in emitted.emitted_by:
                found.add(kind)
    return found


def _other_ports(resources: Resources) -> dict[str, type]:
    """Finds the ports that are not described here."""
    found: dict[str, type] = {}
    for field in dataclasses.fields(resources):
        value = getattr(resources, field.name)
        if field.name not in ("clock", "models", "tools") and is_port(value):
            found[field.name] = type(value)
    return found


def _method_points(port: str, protocol: type) -> Iterator[str]:
    # A port may inherit from smaller ones, whose methods come before its own.
    for kind in reversed(protocol.__mro__):
        for name, member in vars(kind).items():
            if callable(member) and not name.startswith("_"):
                yield f"{port}.{name}"


def reconnoitre(world: World, seed: int) -> dict[tuple[str, When], str]:
    """Runs all scenarios without further faults; returns the first scenario that traverses each point and part."""
    reached: dict[tuple[str, When], str] = {}
    for name in SCENARIOS:
        run = run_plan(world, Plan(scenario=name, seed=seed))
        for place in run.injected.traversed:
            # The first scenario stays, because the plainest ones come first.
            reached.setdefault(place, name)
    return reached


def cells_of(world: World, reached: Reached) -> Iterator[Cell | NotApplicable]:
    """Yields each scenario by itself, then all combinations of point, kind and part of a query."""
    for name in SCENARIOS:
        yield Cell(point=f"scenario.{name}", kind="none", when="any", scenario=name)
    # The work of components is in no table before it runs.
    started = {point for point, _ in reached if point.startswith("spawn.")}
    unused = unused_points(world)
    for point in (*all_points(world), *sorted(started)):
        for kind in KINDS:
            why_not = _why_not(point, kind, unused)
            if why_not:
                yield NotApplicable(point=point, kind=kind, why=why_not)
            else:
                yield from _cells_of_kind(point, kind, reached)


def _why_not(point: str, kind: Kind, unused: Mapping[str, str]) -> str:
    """Returns the reason why no query can be broken like this; empty if one can."""
    known = point_type(point)
    if kind not in known.kinds:
        return known.why_not
    return unused.get(point, "")


def _cells_of_kind(
    point: str, kind: Kind, reached: Reached
) -> Iterator[Cell | NotApplicable]:
    if point == "process":
        yield Cell(point=point, kind=kind, when="any", scenario="plain")
        return
    parts = [when for when in WHENS if (point, when) in reached]
    if not parts:
        # The fault will not fire, which counts as a failure of the harness: it lacks a scenario.
        yield Cell(point=point, kind=kind, when="any")
        return
    for when in WHENS:
        if when in parts:
            yield Cell(point=point, kind=kind, when=when, scenario=reached[point, when])
        else:
            yield NotApplicable(
                point=point,
                kind=kind,
                when=when,
                why=f"no query passes through it in {when}",
            )


def is_chosen(point: str, pattern: str) -> bool:
    """Returns True if `pattern` names the point, its port, or its group of points."""
    return matches(point, pattern) or point.startswith(f"{pattern}.")
