"""Every door of a query, from the wiring table, the vocabulary and the ports: nobody lists them by hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from antiphon.dispatcher import CourseLibrary
from antiphon.faults.deliveries import point_of
from antiphon.faults.injector import is_port
from antiphon.faults.model_door import PLACES, SUMMARY
from antiphon.faults.story import Story
from antiphon.faults.world import World
from antiphon.service import Resources, who_hears
from antiphon.vocabulary.events import DraftReviewed, ReviewRequested
from antiphon.vocabulary.ports import Clock, Embedder, TraceStore

_PROTOCOLS: dict[str, type] = {"clock": Clock, "embedder": Embedder, "library": CourseLibrary, "store": TraceStore}


def all_points(world: World) -> list[str]:
    """The doors, in the order in which a query meets their sorts."""
    parts = world.parts()
    points = ["intake", *_wired(parts)]
    for model in ("model", *(name for name in parts.models if name != "primary"), SUMMARY):
        points += [f"{model}.request", *(f"{model}.stream.{place}" for place in PLACES), f"{model}.content"]
    points += [f"tool.{tool.name}" for tool in parts.tools.tools]
    for name, protocol in (_PROTOCOLS | _new_ports(parts)).items():
        points += [f"{name}.{method}" for method in _methods(protocol)]
    return [*points, "follower", "client", "process"]


def unknown_points(world: World, story: Story) -> list[str]:
    """The points of a story that are no doors; what work components start is known only while they run."""
    known = all_points(world)
    named = {fault.point for step in story.steps for plan in step.at_once for fault in plan.faults}
    return sorted(name for name in named if not name.startswith("spawn.") and not _is_there(name, known))


def _is_there(name: str, known: Sequence[str]) -> bool:
    return any(point.startswith(name[:-1]) if name.endswith("*") else point == name for point in known)


def _wired(parts: Resources) -> Iterator[str]:
    """What is published and delivered, by the one table of who hears what."""
    table = who_hears(parts.subscribers)
    reviewed = any(subscriber.reviews for subscriber in parts.subscribers)
    for kind in parts.catalog.events:
        if reviewed or kind not in (ReviewRequested, DraftReviewed):
            yield f"publish.{kind.kind_name()}"
    for kind, handler in table:
        if reviewed or kind not in (ReviewRequested, DraftReviewed):
            yield point_of(kind, handler)


def _new_ports(parts: Resources) -> dict[str, type]:
    """The ports that nobody has described here."""
    values = {field.name: getattr(parts, field.name) for field in dataclasses.fields(parts)}
    known = {"clock", "models", "tools"}
    return {name: type(value) for name, value in values.items() if name not in known and is_port(value)}


def _methods(protocol: type) -> list[str]:
    return [
        name
        for name, member in vars(protocol).items()
        if callable(member) and not isinstance(member, property) and not name.startswith("_")
    ]
