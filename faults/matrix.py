"""Tries every cell, judges what came of it, and counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from antiphon.faults.cells import Cell, NotApplicable, cells_of, reconnoitre
from antiphon.faults.judge import Judge
from antiphon.faults.killing import kill_everywhere
from antiphon.faults.kinds import KINDS
from antiphon.faults.own_tools import own_cells, unsound
from antiphon.faults.plan import WHENS
from antiphon.faults.points import all_points
from antiphon.faults.world import World
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import Value

Result = Literal["kept", "broken", "not fired"]


class Verdict(Value, frozen=True, kw_only=True):
    """What came of a cell: `not fired` is a failure of the harness, `broken` one of the service.

    Attributes:
        command: Tries the cell alone.
    """

    cell: Cell
    command: str
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

    def refuse_unknown(self) -> None:
        """Raises BadInputError where a kind or a part is named that there is not."""
        if self.when not in ("", "any", *WHENS):
            raise BadInputError(f"There is no part {self.when!r} of a query; there are {', '.join(WHENS)}.")
        for kind in self.kinds:
            if kind not in (*KINDS, "none"):
                raise BadInputError(f"There is no kind of fault {kind!r}; there are {', '.join(KINDS)}.")

    def refuse_unknown_points(self, points: Sequence[str]) -> None:
        """Raises BadInputError where a point is named that is none of `points`."""
        for wanted in self.points:
            if not any(_fits(point, wanted) for point in points):
                raise BadInputError(f"There is no point {wanted!r}: `antiphon faults list` names them.")


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


TWICE_EVERY = 7
"""Every so many cells one is run twice, to see that the same seed gives the same trace."""


def run_singles(
    world: World,
    seed: int = 0,
    chosen: Chosen | None = None,
    told: Callable[[Verdict, int], None] = lambda _, __: None,
    *,
    fail_fast: bool = False,
) -> Report:
    """Tries every chosen cell by itself.

    Args:
        told: Hears each verdict, and how many there will be.
        fail_fast: Ends at the first cell that fails.

    Raises:
        BadInputError: A point or a kind is chosen that there is not.
    """
    judge = Judge(world)
    found = _cells(world, seed, chosen or Chosen())
    cells = [cell for cell in found if isinstance(cell, Cell)]
    report = Report(seed=seed, not_applicable=[cell for cell in found if isinstance(cell, NotApplicable)])
    for number, cell in enumerate(cells):
        command = cell.command(world.named, seed)
        verdict = _killed(cell, command) if cell.point == "process" else _tried(judge, cell, command, seed, number)
        report.verdicts.append(verdict)
        told(verdict, len(cells))
        if fail_fast and verdict.result != "kept":
            break
    return report


def _cells(world: World, seed: int, chosen: Chosen) -> list[Cell | NotApplicable]:
    chosen.refuse_unknown()
    # Where nothing is to be broken, nobody need know which doors are passed.
    reached = {} if set(chosen.kinds) == {"none"} else reconnoitre(world, seed)
    cells = [*own_cells(world), *cells_of(all_points(world), reached)]
    chosen.refuse_unknown_points([cell.point for cell in cells])
    return [cell for cell in cells if chosen.takes(cell)]


def _tried(judge: Judge, cell: Cell, command: str, seed: int, number: int) -> Verdict:
    run, broken = judge.judge(cell.plan(seed), twice=number % TWICE_EVERY == 0)
    if cell.kind == "none":
        broken += unsound(run, cell.point)
    result: Result = "broken" if broken else "kept"
    return Verdict(
        cell=cell,
        command=command,
        result=result if run.fired or cell.kind == "none" else "not fired",
        broken=tuple(broken),
        status="refused" if run.refused else run.outcome.status if run.outcome else "none",
        query_id=run.outcome.query_id if run.outcome else "",
    )


def _killed(cell: Cell, command: str) -> Verdict:
    runs, broken = kill_everywhere()
    result: Result = "broken" if broken else "kept"
    return Verdict(cell=cell, command=command, result=result, broken=tuple(broken), status="killed", runs=runs)
