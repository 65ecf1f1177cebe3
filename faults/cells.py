"""The cells of the matrix: which fault, in which part of which query; and which cells make no sense, and why."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from antiphon.faults.kinds import KINDS, Kind
from antiphon.faults.plan import WHENS, Fault, Plan, When
from antiphon.faults.scenarios import SCENARIOS
from antiphon.faults.seams import seam_of
from antiphon.faults.stage import run_plan
from antiphon.faults.world import World
from antiphon.vocabulary.values import Value

Reached = Mapping[tuple[str, When], str]
"""The first scenario that passes through a door in a part of the query."""


class Cell(Value, frozen=True, kw_only=True):
    """One fault to be tried. `scenario` is empty where nothing passes through the door."""

    point: str
    kind: Kind | Literal["none"]
    when: When
    scenario: str = ""

    def plan(self, seed: int) -> Plan:
        """The plan that tries it."""
        if self.kind == "none":
            return Plan(scenario=self.scenario, seed=seed)
        when = "any" if self.point == "intake" else self.when
        return Plan(
            faults=(Fault(point=self.point, kind=self.kind, when=when),), scenario=self.scenario or "plain", seed=seed
        )

    def command(self, tools: str, seed: int) -> str:
        """The command that tries it alone, with these tools and this seed."""
        wanted = ["--points", self.point, "--kinds", self.kind, "--when", self.when]
        return shlex.join(["antiphon", "faults", "run", *wanted, *with_same(tools, seed)])


def with_same(tools: str, seed: int) -> list[str]:
    """The options that say the tools and the seed again, where they are not what goes without saying."""
    return [*(["--tools", tools] if tools else []), *(["--seed", str(seed)] if seed else [])]


class NotApplicable(Value, frozen=True, kw_only=True):
    """A cell that makes no sense. `when` is empty where it makes none in any part of a query."""

    point: str
    kind: Kind
    why: str
    when: str = ""


UNUSED = {
    "store.read": "a query writes its trace and never reads it",
    "store.clear_conversation": "a query does not clear conversations",
    "summary.stream.in_tool_json": "a summarising call is offered no tools",
    "embedder.count_tokens": "only indexing counts tokens",
    "provider_circuit.keeps_out": "the service asks it before the query begins",
    "redaction.text": "only a service that redacts passes through it",
    "redaction.event": "only a service that redacts passes through it",
    "publish.query_resumed": "the service says it, no component",
    "publish.query_received": "the caller says it, no component",
    "publish.query_cancelled": "the caller says it, no component",
    "publish.handler_failed": "the session says it, no component",
    "publish.session_stalled": "the session says it, no component",
    "publish.recording_failed": "the session says it, no component",
}
"""Doors that no component passes through in a query, and why."""


def reconnoitre(world: World, seed: int) -> dict[tuple[str, When], str]:
    """Runs every scenario unbroken and notes which doors it passes through, and when."""
    reached: dict[tuple[str, When], str] = {}
    for name in SCENARIOS:
        for place in run_plan(world, Plan(scenario=name, seed=seed)).meeting.seen:
            reached.setdefault(place, name)
    return reached


def with_works(points: Sequence[str], reached: Reached) -> list[str]:
    """The doors, and the work that components were seen to start: no table names it before it runs."""
    return [*points, *sorted({point for point, _ in reached if point.startswith("spawn.")})]


def cells_of(points: Sequence[str], reached: Reached) -> Iterator[Cell | NotApplicable]:
    """Every scenario by itself, then every point with every kind in every part of a query."""
    for name in SCENARIOS:
        yield Cell(point=f"scenario.{name}", kind="none", when="any", scenario=name)
    for point in with_works(points, reached):
        seam = seam_of(point)
        for kind in KINDS:
            if kind not in seam.kinds:
                yield NotApplicable(point=point, kind=kind, why=seam.why_not)
            elif point in UNUSED:
                yield NotApplicable(point=point, kind=kind, why=UNUSED[point])
            elif point == "process":
                yield Cell(point=point, kind=kind, when="any", scenario="plain")
            else:
                yield from _in_each_part(point, kind, reached)


def _in_each_part(point: str, kind: Kind, reached: Reached) -> Iterator[Cell | NotApplicable]:
    passed = [when for when in WHENS if (point, when) in reached]
    if not passed:
        yield Cell(point=point, kind=kind, when="any")
        return
    for when in WHENS:
        if when in passed:
            yield Cell(point=point, kind=kind, when=when, scenario=reached[point, when])
        else:
            yield NotApplicable(point=point, kind=kind, when=when, why=f"no query passes through it in {when}")
