"""Tries every cell by itself, or pairs of cells, and checks the promises on what came of it.

Of pairs all of model, tool and trace are tried; of the rest enough that every two kinds of faults meet.
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
"""Every so many cells one is run twice, to see that the same seed gives the same trace.

Running all of them twice would take twice as long.
"""
_CUT = "\n[cut: "
"""The dispatcher's mark of what was too large (dispatcher/output.py)."""


@dataclass
class Chosen:
    """A choice of cells: all whose point, kind and part are named; nothing named means all."""

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
        """Raises BadInputError if a kind or a part is named that there is not."""
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
        """Raises BadInputError if a point is named that is none of `points`."""
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
        on_verdict: Is called with each verdict, and with how many there will be.
        on_run: Is called with the run of each cell but of those that kill the process, which have none.
        fail_fast: Ends at the first cell that fails.

    Raises:
        BadInputError: A point or a kind is chosen that there is not.
    """
    # Its unbroken neighbours are run once for all cells.
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
    # If nothing is to be broken, nobody need know which points are traversed.
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
    # A process that is killed leaves no run to check, only what its store holds.
    if cell.kind == "kill":
        return _kill(cell, command, checker.world)
    run, broken = checker.run(cell.plan(seed), twice=twice)
    on_run(run)
    fired = len(run.fired) > 0
    if cell.kind == "none":
        # Here nothing is meant to fire: what a tool does wrong it does by itself.
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
    """Sums up a run in a word."""
    if not fired:
        return "not fired"
    if broken:
        return "broken"
    return "kept"


def unsound(run: Run, point: str) -> Iterator[str]:
    """Yields what a tool did wrong though nothing was broken; nothing for points that are no tools."""
    calls = _calls_at(run, point)
    for failed in run.events(ToolFailed):
        call = calls.get(failed.tool_call_id)
        # The other failures are not the tool's own doing.
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
