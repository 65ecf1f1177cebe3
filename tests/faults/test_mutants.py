"""The mutants fit the source, the tests find a random dozen of them, and each drawn change changes something."""

from __future__ import annotations

import ast
import os
import random

import pytest

from tests.faults.drawn import drawn, folders, known_alive
from tests.faults.mutants import ROOT, Mutant, mutants, mutated, report
from tests.faults.mutations import changes_of

DRAWN = 12
ALL = mutants()


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_each_mutant_fits_the_source_and_names_tests_that_exist(mutant: Mutant) -> None:
    assert mutated(mutant) != (ROOT / mutant.file).read_text()
    for path in mutant.by:
        assert (ROOT / path).exists(), path


def test_there_are_many_mutants_and_each_has_a_unique_name() -> None:
    names = [mutant.name for mutant in ALL]

    assert len(set(names)) == len(names) >= 60


@pytest.mark.skipif(
    not os.environ.get("CI"),
    reason="a dozen mutants take a minute or two: set CI=true, or run `python -m tests.faults.mutants` for all of them",
)
def test_a_dozen_mutants_drawn_by_chance_are_all_found() -> None:
    seed = random.randrange(10**6)

    alive = report(random.Random(seed).sample(ALL, DRAWN))

    assert alive == [], f"seed {seed}: name them to `python -m tests.faults.mutants`"


SOURCE = """
LIMIT = 3

def left(spent: int = 0, *, most: int = LIMIT) -> int:
    if spent > most and not most == 0:
        raise ValueError(f"{spent - most} too much")
    log.warning("spent", number=spent)
    noted(spent, most, why="asked")
    return most - spent
"""


def test_the_changes_cover_everything_a_function_does_and_nothing_else() -> None:
    changes = [change.words for change in changes_of("a.py", SOURCE)]

    assert changes == [
        "spent > most and not most == 0 → not (spent > most and not most == 0)",
        "spent > most and not most == 0 → (spent > most) or (not most == 0)",
        "spent > most → spent >= most",
        "not most == 0 → (most == 0)",
        "most == 0 → most != 0",
        "0 → 1",
        'raise ValueError(f"{spent - most} too much") → pass',
        'noted(spent, most, why="asked") → pass',
        'noted(spent, most, why="asked") → noted(most, spent, why="asked")',
        'noted(spent, most, why="asked") → noted(spent, most)',
        "return most - spent → return None",
        "most - spent → most + spent",
    ]


@pytest.mark.parametrize(("folder", "files"), folders().items())
def test_drawn_changes_parse_mean_something_else_and_are_the_same_each_time(
    folder: str, files: list[str]
) -> None:
    changes = drawn(files, 10, folder)

    assert drawn(files, 10, folder) == changes
    # A folder with one short module has fewer than ten.
    assert len(changes) == min(10, len(drawn(files, 1_000_000, folder))) > 0
    for change in changes:
        source = (ROOT / change.file).read_text()
        now = ast.dump(ast.parse(change.applied(source)))
        assert now != ast.dump(ast.parse(source)), change


def test_each_mutant_that_may_live_exists() -> None:
    for mutant in known_alive():
        file = mutant.partition(" ")[0]
        names = {change.name for change in changes_of(file, (ROOT / file).read_text())}
        assert mutant in names
