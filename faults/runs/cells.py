"""Every injection point of a query, and the cells of the matrix: which fault is tried in which part of which query.

Points come from the wiring, the ports and what the scenarios show: nobody lists them by hand.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from antiphon.dispatcher import CourseLibrary
from antiphon.faults.injector import is_port
from antiphon.faults.plan import KINDS, SUMMARY, WHENS, Experiment, Kind, Plan, When, matches, model_points, point_type
from antiphon.faults.ports.deliveries import delivery_point, publish_point
from antiphon.faults.ports.recorded import is_published, model_prefix
from antiphon.faults.results import Cell, NotApplicable
from antiphon.faults.runs.service import run_plan
from antiphon.faults.runs.world import World
from antiphon.faults.scenarios import SCENARIOS
from antiphon.service import Resources, who_hears
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.events import REVIEWER, Event
from antiphon.vocabulary.ports import Clock, Embedder, QueryStore

Reached = Mapping[tuple[str, When], str]
"""The first scenario that traverses a point in a part of the query."""

_PROTOCOLS: dict[str, type] = {"clock": Clock, "embedder": Embedder, "library": CourseLibrary, "store": QueryStore}

UNUSED = {
    "store.read": "a query writes its trace and never reads it",
    "store.clear_conversation": "a query does not clear conversations",
    "summary.stream.in_tool_json": "a summarising call is offered no tools",
    "embedder.count_tokens": "only indexing counts tokens",
    "provider_circuit.keeps_out": "the service asks it before the query begins",
    "redaction.text": "only a service that redacts passes through it",
    "redaction.event": "only a service that redacts passes through it",
}
"""Points of ports that nothing traverses in a query, and why."""
NOBODY_REVIEWS = "nobody reviews drafts in this service"


def all_points(world: World) -> list[str]:
    """Lists the points, in the order in which a query meets their types."""
    parts = world.parts()
    points = ["intake", *_wired(parts)]
    for reasoner in parts.models:
        points += model_points(model_prefix(reasoner))
    points += model_points(SUMMARY)
    points += [f"tool.{tool.name}" for tool in parts.tools.tools]
    for name, protocol in (_PROTOCOLS | _other_ports(parts)).items():
        points += _method_points(name, protocol)
    return [*points, "follower", "client", "process"]


def unknown_points(world: World, experiment: Experiment) -> list[str]:
    """Lists the points that an experiment names and that are not there.

    What components start is known only when it is started: any `spawn.` is believed.
    """
    known = all_points(world)
    unknown: set[str] = set()
    for plan in experiment.plans:
        for fault in plan.faults:
            started = fault.point.startswith("spawn.")
            if not started and not any(map(fault.is_at, known)):
                unknown.add(fault.point)
    return sorted(unknown)


def _wired(parts: Resources) -> list[str]:
    """Lists the points of events: of every event that there is, and by the one table of who hears what."""
    points = [publish_point(kind) for kind in parts.catalog.events]
    for kind, handler in who_hears(parts.subscribers):
        points.append(delivery_point(kind, handler))
    return points


def unused_points(world: World) -> dict[str, str]:
    """Lists the points that nothing traverses in a query of this world, and why."""
    parts = world.parts()
    unused = dict(UNUSED)
    reviewed = any(subscriber.reviews for subscriber in parts.subscribers)
    for kind in parts.catalog.events:
        if not is_published(kind):
            unused[publish_point(kind)] = f"the {kind.emitted_by[0]} emits it, no component"
        elif not reviewed and _is_of_reviews(kind, parts.catalog):
            unused[publish_point(kind)] = NOBODY_REVIEWS
    for kind, handler in who_hears(parts.subscribers):
        if not reviewed and _is_of_reviews(kind, parts.catalog):
            unused[delivery_point(kind, handler)] = NOBODY_REVIEWS
    return unused


def _is_of_reviews(kind: type[Event], catalog: Catalog) -> bool:
    """Returns True if a reviewer emits the event, or is asked by it for another."""
    outcomes = catalog.outcomes.get(kind, ())
    return REVIEWER in kind.emitted_by or any(REVIEWER in outcome.emitted_by for outcome in outcomes)


def _other_ports(parts: Resources) -> dict[str, type]:
    """Finds the ports that nobody has described here."""
    found: dict[str, type] = {}
    for field in dataclasses.fields(parts):
        value = getattr(parts, field.name)
        if field.name not in ("clock", "models", "tools") and is_port(value):
            found[field.name] = type(value)
    return found


def _method_points(port: str, protocol: type) -> list[str]:
    points: list[str] = []
    # A port may be made of smaller ones: those that it names first come first.
    for kind in reversed(protocol.__mro__):
        for name, member in vars(kind).items():
            if callable(member) and not name.startswith("_"):
                points.append(f"{port}.{name}")
    return points


def reconnoitre(world: World, seed: int) -> dict[tuple[str, When], str]:
    """Runs every scenario unbroken and notes which points it traverses, and when."""
    reached: dict[tuple[str, When], str] = {}
    for name in SCENARIOS:
        run = run_plan(world, Plan(scenario=name, seed=seed))
        for place in run.injected.traversed:
            reached.setdefault(place, name)
    return reached


def cells_of(world: World, reached: Reached) -> Iterator[Cell | NotApplicable]:
    """Yields every scenario by itself, then every point with every kind in every part of a query."""
    for name in SCENARIOS:
        yield Cell(point=f"scenario.{name}", kind="none", when="any", scenario=name)
    # The work that components start is in no table before it runs.
    started: set[str] = set()
    for point, _ in reached:
        if point.startswith("spawn."):
            started.add(point)
    unused = unused_points(world)
    for point in (*all_points(world), *sorted(started)):
        known = point_type(point)
        for kind in KINDS:
            if kind not in known.kinds:
                yield NotApplicable(point=point, kind=kind, why=known.why_not)
            elif point in unused:
                yield NotApplicable(point=point, kind=kind, why=unused[point])
            else:
                yield from _cells_of_kind(point, kind, reached)


def _cells_of_kind(point: str, kind: Kind, reached: Reached) -> Iterator[Cell | NotApplicable]:
    if point == "process":
        yield Cell(point=point, kind=kind, when="any", scenario="plain")
        return
    if not any((point, when) in reached for when in WHENS):
        # It will not fire, which is a failure of the harness: a scenario is missing.
        yield Cell(point=point, kind=kind, when="any")
        return
    for when in WHENS:
        if (point, when) in reached:
            yield Cell(point=point, kind=kind, when=when, scenario=reached[point, when])
        else:
            yield NotApplicable(point=point, kind=kind, when=when, why=f"no query passes through it in {when}")


def is_chosen(point: str, pattern: str) -> bool:
    """Returns True if `pattern` names the point, or a port or folder of points that it belongs to."""
    return matches(point, pattern) or point.startswith(f"{pattern}.")
