"""Tries every cell by itself, or pairs of them, and checks the promises on what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from antiphon.faults.plan import KINDS, WHENS
from antiphon.faults.results import Cell, NotApplicable, Report, Result, Run, Verdict
from antiphon.faults.runs.cells import cells_of, is_chosen, reconnoitre
from antiphon.faults.runs.checking import Checker
from antiphon.faults.runs.killing import kill_everywhere
from antiphon.faults.runs.world import World
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import ToolFailed, ToolRequested, ToolSucceeded
from antiphon.vocabulary.values import ToolCall

TWICE_EVERY = 7
"""Every so many cells one is run twice, to see that the same seed gives the same trace.

Running all of them twice would take twice as long.
"""
_CUT = "\n[cut: "
"""The dispatcher's mark of what was too large (dispatcher/output.py)."""


@dataclass
class Chosen:
    """Which cells are tried: all whose point, kind and part are named; nothing named means all."""

    points: Sequence[str] = ()
    kinds: Sequence[str] = ()
    when: str = ""

    def takes(self, cell: Cell | NotApplicable) -> bool:
        if self.kinds and cell.kind not in self.kinds:
            return False
        if self.when not in ("", cell.when):
            return False
        return not self.points or any(is_chosen(cell.point, wanted) for wanted in self.points)

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
            if not any(is_chosen(point, wanted) for point in points):
                raise BadInputError(f"There is no point {wanted!r}: `antiphon faults list` names them.")


def run_singles(
    world: World,
    seed: int = 0,
    chosen: Chosen | None = None,
    on_verdict: Callable[[Verdict, int], None] = lambda _, __: None,
    *,
    fail_fast: bool = False,
) -> Report:
    """Tries every chosen cell by itself.

    Args:
        on_verdict: Is called with each verdict, and with how many there will be.
        fail_fast: Ends at the first cell that fails.

    Raises:
        BadInputError: A point or a kind is chosen that there is not.
    """
    # Its unbroken neighbours are run once for all cells.
    checker = Checker(world)
    report = Report(seed=seed)
    cells: list[Cell] = []
    for found in _chosen_cells(world, seed, chosen or Chosen()):
        if isinstance(found, Cell):
            cells.append(found)
        else:
            report.not_applicable.append(found)
    for number, cell in enumerate(cells):
        command = cell.command(world.named, seed)
        if cell.point == "process":
            verdict = _kill(cell, command)
        else:
            verdict = _try(checker, cell, command, seed, twice=number % TWICE_EVERY == 0)
        report.verdicts.append(verdict)
        on_verdict(verdict, len(cells))
        if fail_fast and verdict.result != "kept":
            break
    return report


def _chosen_cells(world: World, seed: int, chosen: Chosen) -> list[Cell | NotApplicable]:
    chosen.refuse_unknown()
    # Where nothing is to be broken, nobody need know which points are traversed.
    reached = {} if set(chosen.kinds) == {"none"} else reconnoitre(world, seed)
    cells: list[Cell | NotApplicable] = []
    for name in world.own:
        cells.append(Cell(point=f"tool.{name}", kind="none", when="any", scenario="plain"))
    cells += cells_of(world, reached)
    chosen.refuse_unknown_points([cell.point for cell in cells])
    return [cell for cell in cells if chosen.takes(cell)]


def _try(checker: Checker, cell: Cell, command: str, seed: int, *, twice: bool) -> Verdict:
    run, broken = checker.run(cell.plan(seed), twice=twice)
    if cell.kind == "none":
        broken += unsound(run, cell.point)
    return Verdict(
        cell=cell,
        command=command,
        result=result_of(broken, fired=bool(run.fired) or cell.kind == "none"),
        broken=tuple(broken),
        status=run.status,
        query_id=run.outcome.query_id if run.outcome else "",
    )


def _kill(cell: Cell, command: str) -> Verdict:
    runs, broken = kill_everywhere()
    result = result_of(broken, fired=True)
    return Verdict(cell=cell, command=command, result=result, broken=tuple(broken), status="killed", runs=runs)


def result_of(broken: Sequence[str], *, fired: bool) -> Result:
    """Sums up a run in a word."""
    if not fired:
        return "not fired"
    return "broken" if broken else "kept"


def unsound(run: Run, point: str) -> Iterator[str]:
    """Yields what a tool did wrong though nothing was broken; nothing for points that are no tools."""
    calls = _calls_at(run, point)
    for failed in run.events(ToolFailed):
        if failed.tool_call_id in calls and failed.failure in ("error", "timeout"):
            arguments = calls[failed.tool_call_id].arguments
            yield f"the tool by itself: {failed.detail} (called with {arguments})"
    for succeeded in run.events(ToolSucceeded):
        _, cut, size = succeeded.output.text.rpartition(_CUT)
        if succeeded.tool_call_id in calls and cut:
            yield f"the tool by itself: it returned too much [{size}"


def _calls_at(run: Run, point: str) -> dict[str, ToolCall]:
    calls: dict[str, ToolCall] = {}
    for requested in run.events(ToolRequested):
        if point == f"tool.{requested.call.name}":
            calls[requested.call.id] = requested.call
    return calls
