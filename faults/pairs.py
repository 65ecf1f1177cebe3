"""Two faults in one query: all pairs of model, tool and trace; for the rest enough that every pair of kinds meets."""

from __future__ import annotations

import random
import shlex
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

from antiphon.faults.cells import Cell, cells_of, reconnoitre, with_same
from antiphon.faults.judge import Judge
from antiphon.faults.matrix import Result
from antiphon.faults.plan import Plan
from antiphon.faults.points import all_points
from antiphon.faults.reading import short
from antiphon.faults.seams import seam_of
from antiphon.faults.world import World
from antiphon.vocabulary.values import Value

EXHAUSTIVE = ("model.", "tool.", "store.append")


class PairVerdict(Value, frozen=True, kw_only=True):
    """What came of two faults together; `fired` counts those that did (the first may keep the second from firing).

    Attributes:
        command: Tries the pair alone.
    """

    first: Cell
    second: Cell
    command: str
    result: Result
    fired: int
    broken: tuple[str, ...] = ()


def run_pairs(
    world: World, seed: int = 0, told: Callable[[PairVerdict, int], None] = lambda _, __: None, most: int = 0
) -> list[PairVerdict]:
    """Tries pairs of faults.

    Args:
        told: Hears each verdict, and how many there will be.
        most: How many at most, chosen by the seed; 0 is all.
    """
    judge = Judge(world)
    cells = [c for c in cells_of(all_points(world), reconnoitre(world, seed)) if isinstance(c, Cell) and _usable(c)]
    pairs = list(pairs_of(cells, seed))
    if most and most < len(pairs):
        pairs = random.Random(seed).sample(pairs, most)
    verdicts = []
    for pair in pairs:
        verdicts.append(_tried(judge, *pair, seed, world.named))
        told(verdicts[-1], len(pairs))
    return verdicts


def _usable(cell: Cell) -> bool:
    return cell.point not in ("process", "intake") and cell.scenario == "plain"


def pairs_of(cells: Sequence[Cell], seed: int) -> Iterator[tuple[Cell, Cell]]:
    """The pairs to be tried: of different doors, the first in the first round or before where there are many."""
    core = [cell for cell in cells if cell.point.startswith(EXHAUSTIVE)]
    groups = [[cell for cell in core if cell.point.startswith(prefix)] for prefix in EXHAUSTIVE]
    for one, other in combinations(groups, 2):
        yield from product(one, other)
    yield from _covering([cell for cell in cells if cell not in core], core, seed)


def _covering(rest: Sequence[Cell], core: Sequence[Cell], seed: int) -> Iterator[tuple[Cell, Cell]]:
    """For every two sorts of fault (a seam and a kind) that are not both of the core, one pair of cells."""
    chance = random.Random(seed)
    sorts: dict[tuple[str, str], list[Cell]] = {}
    for cell in (*rest, *core):
        sorts.setdefault((seam_of(cell.point).prefix, cell.kind), []).append(cell)
    kept = {cell.point for cell in core}
    for one, other in combinations(sorts.values(), 2):
        first, second = chance.choice(one), chance.choice(other)
        if not (first.point in kept and second.point in kept):
            yield first, second


def _tried(judge: Judge, first: Cell, second: Cell, seed: int, tools: str) -> PairVerdict:
    faults = (*first.plan(seed).faults, *second.plan(seed).faults)
    run, broken = judge.judge(Plan(faults=faults, seed=seed))
    fired = len({(each.point, each.kind) for each in run.fired})
    result: Result = "broken" if broken else "kept" if fired else "not fired"
    named = (word for fault in faults for word in ("--fault", short(fault)))
    command = shlex.join(["antiphon", "faults", "run", *named, *with_same(tools, seed)])
    return PairVerdict(first=first, second=second, command=command, result=result, fired=fired, broken=tuple(broken))
