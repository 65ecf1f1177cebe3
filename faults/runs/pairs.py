"""Faults two at a time: all pairs among the points at the border to the outside, and a covering choice of others."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

from antiphon.faults.plan import Fault, Plan, point_type
from antiphon.faults.plan_files import short
from antiphon.faults.results import (
    Cell,
    PairVerdict,
    run_command,
)
from antiphon.faults.runs.cells import cells_of, reconnoitre
from antiphon.faults.runs.checking import Checker
from antiphon.faults.runs.matrix import result_of
from antiphon.faults.runs.world import World

EXHAUSTIVE = ("model.", "tool.", "store.append")
"""The points of which all pairs are tried: those at which a query meets the world outside."""


def run_pairs(
    world: World,
    seed: int = 0,
    on_verdict: Callable[[PairVerdict, int], None] = lambda _, __: None,
    most: int = 0,
) -> list[PairVerdict]:
    """Tries pairs of faults.

    Args:
        on_verdict: Called with each verdict and the total number of pairs.
        most: Limit on the pairs, chosen by the seed; 0: all.
    """
    checker = Checker(world)
    # A query that is killed or refused meets no second fault, and a query has only one scenario.
    cells = [
        cell
        for cell in cells_of(world, reconnoitre(world, seed))
        if isinstance(cell, Cell)
        and cell.point not in ("process", "intake")
        and cell.scenario == "plain"
    ]
    pairs = list(_pairs_of(cells, seed))
    if 0 < most < len(pairs):
        pairs = random.Random(seed).sample(pairs, most)
    verdicts: list[PairVerdict] = []
    for first, second in pairs:
        verdict = _run_pair(checker, first, second, seed, world.named)
        verdicts.append(verdict)
        on_verdict(verdict, len(pairs))
    return verdicts


def _pairs_of(cells: Sequence[Cell], seed: int) -> Iterator[tuple[Cell, Cell]]:
    """Yields the pairs to try, each of two different points."""
    groups: dict[str, list[Cell]] = {prefix: [] for prefix in EXHAUSTIVE}
    core: list[Cell] = []
    rest: list[Cell] = []
    for cell in cells:
        if not cell.point.startswith(EXHAUSTIVE):
            rest.append(cell)
            continue
        core.append(cell)
        for prefix, group in groups.items():
            if cell.point.startswith(prefix):
                group.append(cell)
    for one, other in combinations(groups.values(), 2):
        yield from product(one, other)
    yield from _covering(rest, core, seed)


def _covering(
    rest: Sequence[Cell], core: Sequence[Cell], seed: int
) -> Iterator[tuple[Cell, Cell]]:
    """Yields a pair of cells for any two sorts of faults (type of point and kind) that are not both in the core."""
    chance = random.Random(seed)
    sorts: dict[tuple[str, str], list[Cell]] = {}
    for cell in (*rest, *core):
        sorts.setdefault((point_type(cell.point).prefix, cell.kind), []).append(cell)
    for one, other in combinations(sorts.values(), 2):
        # Drawn even if the pair is then skipped, so that a seed's choices do not depend on the core.
        first = chance.choice(one)
        second = chance.choice(other)
        # All pairs within the core are tried anyway.
        if first in core and second in core:
            continue
        yield first, second


def _run_pair(
    checker: Checker, first: Cell, second: Cell, seed: int, tools: str
) -> PairVerdict:
    faults: list[Fault] = [*first.plan(seed).faults, *second.plan(seed).faults]
    run, broken = checker.run(Plan(faults=tuple(faults), seed=seed))
    fired = len(run.sorts)
    # A broken promise counts even if neither fault fired.
    result = "broken" if broken else result_of(broken, fired=fired > 0)
    options: list[str] = []
    for fault in faults:
        options += ["--fault", short(fault)]
    command = run_command(options, tools, seed)
    return PairVerdict(
        first=first,
        second=second,
        command=command,
        result=result,
        fired=fired,
        broken=tuple(broken),
    )
