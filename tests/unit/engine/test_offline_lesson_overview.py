"""How a lesson is summed up: an excerpt of its beginning, its middle and its end."""

from __future__ import annotations

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.reading import read_task
from tests.unit.engine.answered import text
from tests.unit.engine.briefings import CATALOGUE, RELIABILITY, briefing, source

PARTS = ("Deadlines end waiting", "Retries spread load", "Budgets bound retries")


def _sentences() -> list[str]:
    filler = "It goes on like this for a while in the same words as before. "
    found: list[str] = []
    for part in PARTS:
        found += [filler] * 5
        found.append(f"{part} and that is what Timeouts and Deadlines are about. ")
        found += [filler] * 5
    return found


def test_a_long_lesson_is_summed_up_from_three_places_in_its_order() -> None:
    lesson = source(
        f"{RELIABILITY} - Lesson 1", *_sentences(), title="Timeouts and Deadlines"
    )
    request = briefing("Sum up lesson 1 of the reliability course.", lesson)

    draft = answer(read_task(request)._replace(catalogue=CATALOGUE))

    said = text(draft.blocks)
    places = [said.find(part) for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)
    assert len(said) < 3 * 600
