"""Tries every cell, judges what came of it, and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from faults.cells import Cell, NotApplicable, cells_of, reconnoitre
from faults.invariants import broken_promises, same_trace
from faults.killing import kill_everywhere
from faults.plan import Plan
from faults.points import all_points
from faults.running import Run, run_plan
from faults.world import World
from vocabulary.events import AnyEvent, Recorded
from vocabulary.values import Value

Result = Literal["kept", "broken", "not fired"]


class Verdict(Value, frozen=True, kw_only=True):
    """What came of a cell: `not fired` is a failure of the harness, `broken` one of the service."""

    cell: Cell
    result: Result
    broken: tuple[str, ...] = ()
    status: str = ""
    query_id: str = ""
    runs: int = 1


@dataclass
class Chosen:
    """Which cells are tried: all whose point, kind and part are named; nothing named means all."""

    points: Sequence[str] = ()
    kinds: Sequence[str] = ()
    when: str = ""

    def takes(self, cell: Cell | NotApplicable) -> bool:
        point = not self.points or any(_fits(cell.point, wanted) for wanted in self.points)
        return point and (not self.kinds or cell.kind in self.kinds) and self.when in ("", cell.when)


def _fits(point: str, wanted: str) -> bool:
    return point.startswith(wanted[:-1]) if wanted.endswith("*") else point == wanted or point.startswith(f"{wanted}.")


@dataclass
class Report:
    """What came of the whole matrix."""

    seed: int
    verdicts: list[Verdict] = field(default_factory=list)
    not_applicable: list[NotApplicable] = field(default_factory=list)

    @property
    def failures(self) -> list[Verdict]:
        """Everything that is not as it should be."""
        return [verdict for verdict in self.verdicts if verdict.result != "kept"]


class Judge:
    """Runs plans against the promises; knows how the neighbour's trace looks when nothing is broken."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._unbroken: dict[int, Sequence[Recorded[AnyEvent]]] = {}
        self._seed = seed

    def judge(self, plan: Plan, *, twice: bool = False) -> tuple[Run, list[str]]:
        """The run of a plan, and each promise that it breaks.

        Args:
            twice: Runs it again and compares the traces.
        """
        run = run_plan(self._world, plan)
        broken = broken_promises(run)
        differs = same_trace(self._neighbour(plan.seed), run.neighbour)
        if differs:
            broken.append(f"the query beside it changed: {differs}")
        if twice and (differs := same_trace(run.trace, run_plan(self._world, plan).trace)):
            broken.append(f"the same plan gave another trace: {differs}")
        return run, broken

    def _neighbour(self, seed: int) -> Sequence[Recorded[AnyEvent]]:
        if seed not in self._unbroken:
            self._unbroken[seed] = run_plan(self._world, Plan(seed=seed)).neighbour
        return self._unbroken[seed]


TWICE_EVERY = 7
"""Every so many cells one is run twice, to see that the same seed gives the same trace."""


def run_singles(
    world: World,
    seed: int = 0,
    chosen: Chosen | None = None,
    told: Callable[[Verdict], None] = lambda _: None,
    *,
    fail_fast: bool = False,
) -> Report:
    """Tries every chosen cell by itself; `fail_fast` ends at the first that fails."""
    report = Report(seed=seed)
    judge = Judge(world, seed)
    for number, cell in enumerate(_cells(world, seed, chosen or Chosen())):
        if isinstance(cell, NotApplicable):
            report.not_applicable.append(cell)
            continue
        verdict = _killed(cell) if cell.point == "process" else _tried(judge, cell, seed, number)
        report.verdicts.append(verdict)
        told(verdict)
        if fail_fast and verdict.result != "kept":
            break
    return report


def _cells(world: World, seed: int, chosen: Chosen) -> Iterable[Cell | NotApplicable]:
    return (cell for cell in cells_of(all_points(world), reconnoitre(world, seed)) if chosen.takes(cell))


def _tried(judge: Judge, cell: Cell, seed: int, number: int) -> Verdict:
    run, broken = judge.judge(cell.plan(seed), twice=number % TWICE_EVERY == 0)
    result: Result = "broken" if broken else "kept"
    return Verdict(
        cell=cell,
        result=result if run.fired or cell.kind == "none" else "not fired",
        broken=tuple(broken),
        status="refused" if run.refused else run.outcome.status if run.outcome else "none",
        query_id=run.outcome.query_id if run.outcome else "",
    )


def _killed(cell: Cell) -> Verdict:
    runs, broken = kill_everywhere()
    return Verdict(cell=cell, result="broken" if broken else "kept", broken=tuple(broken), status="killed", runs=runs)
