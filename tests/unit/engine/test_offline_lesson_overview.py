"""How a lesson is summed up: what it announces, and what holds most of its own words, in its order."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.reading import read_task
from tests.unit.engine.answered import text
from tests.unit.engine.briefings import CATALOGUE, RELIABILITY, briefing, source

PARTS = ("Deadlines end waiting", "Retries spread load", "Budgets bound retries")
FILLER = "It goes on like this for a while in the same words as before. "
POINTS = (
    "A hull rests on its keel and the keel carries the ballast. ",
    "Barnacles slow a hull, so the hull is scraped and painted twice. ",
    "The rigging holds the mast, and shrouds hold the rigging sideways. ",
)


def _sentences() -> list[str]:
    found: list[str] = []
    for part in PARTS:
        found += [FILLER] * 5
        found.append(f"{part} and that is what Timeouts and Deadlines are about. ")
        found += [FILLER] * 5
    return found


def _summed_up(*passages: Sequence[str]) -> str:
    lessons = [
        source(f"{RELIABILITY} - Lesson 1", *passage, title="Timeouts and Deadlines")
        for passage in passages
    ]
    request = briefing("Sum up lesson 1 of the reliability course.", *lessons)
    return text(answer(read_task(request)._replace(catalogue=CATALOGUE)).blocks)


def test_a_long_lesson_is_summed_up_from_three_places_in_its_order() -> None:
    said = _summed_up(_sentences())

    places = [said.find(part) for part in PARTS]
    assert -1 not in places
    assert places == sorted(places)
    assert len(said) < 3 * 600


def test_what_a_lesson_announces_comes_first_wherever_it_was_found() -> None:
    announced = "Alright, in this lesson we rig a small boat. "

    said = _summed_up([FILLER] * 12, [announced, *[FILLER] * 12])

    assert said.find("we rig a small boat") < said.find("goes on like this")
    assert "we rig a small boat" in said


def test_sentences_with_words_that_a_lesson_comes_back_to_are_quoted_before_odd_ones() -> (
    None
):
    odd = "My uncle once bought a trombone there. "
    lesson: list[str] = []
    for point in POINTS:
        lesson += [odd, FILLER, FILLER, FILLER, FILLER, FILLER, FILLER, FILLER, point]
        lesson += [FILLER] * 8

    said = _summed_up(lesson)

    assert [point.strip() for point in POINTS if point.strip() not in said] == []


def test_a_short_lesson_is_quoted_once_and_as_it_stands() -> None:
    said = _summed_up(["A timeout ends a wait. ", "A deadline is a point in time."])

    assert "A timeout ends a wait." in said.replace("**", "")
    assert said.count("Lesson 1, Timeouts and Deadlines") == 1


def test_a_lesson_cut_into_very_many_pieces_is_summed_up_all_the_same() -> None:
    said = _summed_up(["a. "] * 900 + ["In this lesson we count. "])

    assert "Lesson 1" in said
