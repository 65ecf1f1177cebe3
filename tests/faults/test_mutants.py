"""The list of mutants fits the source, and a dozen of them, drawn by chance, are found."""

from __future__ import annotations

import os
import random

import pytest

from tests.faults.mutants import ROOT, Mutant, mutants, mutated, report

DRAWN = 12
ALL = mutants()


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_each_mutant_fits_the_source_and_names_tests_that_exist(mutant: Mutant) -> None:
    assert mutated(mutant) != (ROOT / mutant.file).read_text()
    for path in mutant.by:
        assert (ROOT / path).exists(), path


def test_there_are_many_and_each_has_a_name_of_its_own() -> None:
    names = [mutant.name for mutant in ALL]

    assert len(set(names)) == len(names) >= 60


@pytest.mark.skipif(
    not os.environ.get("CI"),
    reason="a dozen mutants take a minute or two: set CI=true, or run `make faults-mutants` for all of them",
)
def test_a_dozen_mutants_drawn_by_chance_are_all_found() -> None:
    seed = random.randrange(10**6)

    alive = report(random.Random(seed).sample(ALL, DRAWN))

    assert alive == [], f"seed {seed}: name them to `python -m tests.faults.mutants`"
