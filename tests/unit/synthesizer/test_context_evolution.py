"""How each layer of memory stands after each event of five scripted queries, against files that people can read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from antiphon.vocabulary.events import Event
from tests.unit.synthesizer.scenarios import FOLDER, SCENARIOS, told


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_the_layers_evolve_as_written_down(
    scenario: Callable[[], tuple[Event, ...]],
) -> None:
    expected = (FOLDER / f"{scenario.__name__}.txt").read_text(encoding="utf-8")

    assert told(scenario()) == expected
