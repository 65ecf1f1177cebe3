"""Tries every cell by itself, or pairs of cells, and checks the promises on the results.

It tries all pairs among model, tool and trace, and enough of the rest that all two sorts of faults meet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from antiphon.faults.plan import KINDS, WHENS
from antiphon.faults.results import (
    Cell,
    NotApplicable,
    Report,
    Result,
    Run,
    Verdict,
)
from antiphon.faults.runs.cells import cells_of, is_chosen, reconnoitre
from antiphon.faults.runs.checking import Checker
from antiphon.faults.runs.killing import kill_everywhere
from antiphon.faults.runs.world import World
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import ToolFailed, ToolRequested, ToolSucceeded
from antiphon.vocabulary.values import ToolCall

TWICE_EVERY = 7
"""One in so many cells runs twice, to check that the same seed gives the same trace.

Running all cells twice would take twice as long.
"""
_CUT = "\n[cut: "
"""The dispatcher's mark on output that was too large (dispatcher/output.py)."""


@dataclass
class Chosen:
    """A choice of cells by point, kind and part; an empty field matches all."""

    points: Sequence[str] = ()
    kinds: Sequence[str] = ()
    when: str = ""

    def takes(self, cell: Cell | NotApplicable) -> bool:
        if self.kinds and cell.kind not in self.kinds:
            return False
        if self.when not in ("", cell.when):
            return False
        if not self.points:
            return True
        return any(is_chosen(cell.point, wanted) for wanted in self.points)

    def refuse_unknown(self) -> None:
        """Raises BadInputError if the choice names an unknown kind or part."""
        if self.when not in ("", "any", *WHENS):
            raise BadInputError(
                f"There is no part {self.when!r} of a query; there are {', '.join(WHENS)}."
            )
        for kind in self.kinds:
            if kind not in (*KINDS, "none"):
                raise BadInputError(
                    f"There is no kind of fault {kind!r}; there are {', '.join(KINDS)}."
                )

    def refuse_unknown_points(self, points: Sequence[str]) -> None:
        """Raises BadInputError if the choice names a point that is not in `points`."""
        for wanted in self.points:
            named = [point for point in points if is_chosen(point, wanted)]
            if not named:
                raise BadInputError(
                    f"There is no point {wanted!r}: `antiphon faults list` names them."
                )


def run_singles(
    world: World,
    seed: int = 0,
    chosen: Chosen | None = None,
    on_verdict: Callable[[Verdict, int], None] = lambda _, __: None,
    on_run: Callable[[Run], None] = lambda _: None,
    *,
    fail_fast: bool = False,
) -> Report:
    """Tries every chosen cell by itself.

    Args:
        on_verdict: Called with each verdict and the total number of cells.
        on_run: Called with the run of each cell, except those that kill the process and so have no run.
        fail_fast: Stops at the first cell that fails.

    Raises:
        BadInputError: The choice names an unknown point or kind.
    """
    # One checker, so that the unbroken neighbours run only once for all cells.
    checker = Checker(world)
    report = Report(seed=seed)
    if chosen is None:
        chosen = Chosen()
    cells: list[Cell] = []
    for found in _chosen_cells(world, seed, chosen):
        if isinstance(found, Cell):
            cells.append(found)
        else:
            report.not_applicable.append(found)
    for number, cell in enumerate(cells):
        command = cell.command(world.named, seed)
        twice = number % TWICE_EVERY == 0
        verdict = _run_cell(checker, cell, command, seed, on_run, twice=twice)
        report.verdicts.append(verdict)
        on_verdict(verdict, len(cells))
        if fail_fast and verdict.result != "kept":
            break
    return report


def _chosen_cells(
    world: World, seed: int, chosen: Chosen
) -> list[Cell | NotApplicable]:
    chosen.refuse_unknown()
    # Cells without faults do not need the traversed points.
    reached = {} if set(chosen.kinds) == {"none"} else reconnoitre(world, seed)
    cells: list[Cell | NotApplicable] = [
        Cell(point=f"tool.{name}", kind="none", when="any", scenario="plain")
        for name in world.own
    ]
    cells += cells_of(world, reached)
    chosen.refuse_unknown_points([cell.point for cell in cells])
    return [cell for cell in cells if chosen.takes(cell)]


def _run_cell(
    checker: Checker,
    cell: Cell,
    command: str,
    seed: int,
    on_run: Callable[[Run], None],
    *,
    twice: bool,
) -> Verdict:
    # A killed process leaves no run to check, only its store.
    if cell.kind == "kill":
        return _kill(cell, command, checker.world)
    run, broken = checker.run(cell.plan(seed), twice=twice)
    on_run(run)
    fired = len(run.fired) > 0
    if cell.kind == "none":
        # No fault fires here, so any misbehaviour is the tool's own.
        broken += unsound(run, cell.point)
        fired = True
    query_id = run.outcome.query_id if run.outcome is not None else ""
    return Verdict(
        cell=cell,
        command=command,
        result=result_of(broken, fired=fired),
        broken=tuple(broken),
        status=run.status,
        query_id=query_id,
    )


def _kill(cell: Cell, command: str, world: World) -> Verdict:
    runs, broken = kill_everywhere(world.open_store)
    result = result_of(broken, fired=True)
    return Verdict(
        cell=cell,
        command=command,
        result=result,
        broken=tuple(broken),
        status="killed",
        runs=runs,
    )


def result_of(broken: Sequence[str], *, fired: bool) -> Result:
    """Sums up a run in one word."""
    if not fired:
        return "not fired"
    if broken:
        return "broken"
    return "kept"


def unsound(run: Run, point: str) -> Iterator[str]:
    """Yields the misbehaviour of a tool without a fault; nothing for points that are not tools."""
    calls = _calls_at(run, point)
    for failed in run.events(ToolFailed):
        call = calls.get(failed.tool_call_id)
        # The tool does not cause other failures itself.
        if call is not None and failed.failure in ("error", "timeout"):
            yield f"the tool by itself: {failed.detail} (called with {call.arguments})"
    for succeeded in run.events(ToolSucceeded):
        if succeeded.tool_call_id not in calls:
            continue
        _, cut, size = succeeded.output.text.rpartition(_CUT)
        if cut:
            yield f"the tool by itself: it returned too much [{size}"


def _calls_at(run: Run, point: str) -> dict[str, ToolCall]:
    return {
        requested.call.id: requested.call
        for requested in run.events(ToolRequested)
        if point == f"tool.{requested.call.name}"
    }
