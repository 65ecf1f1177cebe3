"""Two faults in one query: all pairs of model, tool and trace; for the rest enough that every pair of kinds meets."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

from antiphon.faults.plan import Fault, Plan
from antiphon.faults.plan_files import short
from antiphon.faults.points import point_type
from antiphon.faults.results import Cell, PairVerdict, Result, run_command
from antiphon.faults.runs.cells import cells_of, reconnoitre
from antiphon.faults.runs.checking import Checker
from antiphon.faults.runs.world import World

EXHAUSTIVE = ("model.", "tool.", "store.append")
"""The points of which every pair is tried: where a query meets the world outside."""


def run_pairs(
    world: World, seed: int = 0, on_verdict: Callable[[PairVerdict, int], None] = lambda _, __: None, most: int = 0
) -> list[PairVerdict]:
    """Tries pairs of faults.

    Args:
        on_verdict: Is called with each verdict, and with how many there will be.
        most: How many at most, chosen by the seed; 0 is all.
    """
    checker = Checker(world)
    cells: list[Cell] = []
    for cell in cells_of(world, reconnoitre(world, seed)):
        # A query that is killed or refused meets no second fault, and two scenarios cannot be had at once.
        if isinstance(cell, Cell) and cell.point not in ("process", "intake") and cell.scenario == "plain":
            cells.append(cell)
    pairs = list(pairs_of(cells, seed))
    if most and most < len(pairs):
        pairs = random.Random(seed).sample(pairs, most)
    verdicts: list[PairVerdict] = []
    for first, second in pairs:
        verdicts.append(_try(checker, first, second, seed, world.named))
        on_verdict(verdicts[-1], len(pairs))
    return verdicts


def pairs_of(cells: Sequence[Cell], seed: int) -> Iterator[tuple[Cell, Cell]]:
    """Yields the pairs to be tried, each of two different points."""
    core = [cell for cell in cells if cell.point.startswith(EXHAUSTIVE)]
    groups: list[list[Cell]] = []
    for prefix in EXHAUSTIVE:
        groups.append([cell for cell in core if cell.point.startswith(prefix)])
    for one, other in combinations(groups, 2):
        yield from product(one, other)
    yield from _covering(cells, core, seed)


def _covering(cells: Sequence[Cell], core: Sequence[Cell], seed: int) -> Iterator[tuple[Cell, Cell]]:
    """Yields one pair of cells for every two sorts of fault (a type of point and a kind) not both of the core."""
    chance = random.Random(seed)
    rest = [cell for cell in cells if cell not in core]
    sorts: dict[tuple[str, str], list[Cell]] = {}
    for cell in (*rest, *core):
        sorts.setdefault((point_type(cell.point).prefix, cell.kind), []).append(cell)
    for one, other in combinations(sorts.values(), 2):
        # Chosen before it is known to be of use: what a seed chooses depends on the cells alone, not on the core.
        first, second = chance.choice(one), chance.choice(other)
        if not (first in core and second in core):
            yield first, second


def _try(checker: Checker, first: Cell, second: Cell, seed: int, tools: str) -> PairVerdict:
    faults: list[Fault] = [*first.plan(seed).faults, *second.plan(seed).faults]
    run, broken = checker.run(Plan(faults=tuple(faults), seed=seed))
    fired = len(run.sorts)
    result: Result = "kept" if fired else "not fired"
    if broken:
        result = "broken"
    options: list[str] = []
    for fault in faults:
        options += ["--fault", short(fault)]
    command = run_command(options, tools, seed)
    return PairVerdict(first=first, second=second, command=command, result=result, fired=fired, broken=tuple(broken))
