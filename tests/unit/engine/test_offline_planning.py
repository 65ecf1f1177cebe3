"""The calls that are made for a question, round by round."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.engine.offline.names import Catalogue
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import OUTLINE, SEARCH, attempt, outline, source
from tests.unit.engine.planned import Calls, outlined, planned, search
from tests.unit.engine.trades import BEES, BREAD, CATALOGUE, PHOTOS

DUST = source(f"{PHOTOS} - Lesson 1", "Dust is brushed off first.")
LIST: Json = OUTLINE | {"input_schema": {"type": "object", "properties": {}}}
AFTER_DUST = "Which lesson comes after the one on dust?"


def calls_of(question: str, *sources: Json, **more: Any) -> Calls:
    return planned(question, *sources, **({"catalogue": CATALOGUE} | more))


@pytest.mark.parametrize(
    "question", ["What removes dust?", "and ++?", "why?", "What does $? mean"]
)
def test_a_question_is_searched_as_it_was_asked(question: str) -> None:
    assert calls_of(question) == [search(question)]


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("What does the photo archive course say of dust?", {"course_name": PHOTOS}),
        (f"What does lesson 1 of {PHOTOS} say of dust?", {"course_name": PHOTOS, "lesson_number": 1}),
        ("What does lesson 1 say of dust?", {"lesson_number": 1}),
    ],
)  # fmt: skip
def test_where_a_place_is_named_all_courses_are_searched_too(
    question: str, place: dict[str, object]
) -> None:
    assert calls_of(question) == [search(question, **place), search(question)]


def test_the_only_course_is_no_place_to_search_apart() -> None:
    question = "What does the photo archive course say of dust?"

    calls = calls_of(question, catalogue=Catalogue(CATALOGUE.courses[:1]))

    assert calls == [search(question)]


def test_other_courses_are_searched_one_by_one() -> None:
    question = f"Which other course than {PHOTOS} speaks of swarms?"

    calls = calls_of(question)

    others = [each.title for each in CATALOGUE.courses if each.title != PHOTOS]
    assert calls == [
        *[search(question, course_name=title) for title in others],
        search(question),
    ]


def test_what_the_catalogue_knows_is_asked_of_the_outlines() -> None:
    titles = [each.title for each in CATALOGUE.courses]

    assert calls_of(f"Who teaches {BREAD}?") == [outlined(BREAD)]
    assert set(dict(calls_of(f"Who teaches {BREAD} and {BEES}?"))) == {
        "get_course_outline"
    }
    assert calls_of("Which courses are there?") == [outlined(t) for t in titles]
    assert calls_of("Which courses are there?", tools=(LIST, SEARCH)) == [
        ("get_course_outline", {})
    ]


def test_a_lesson_as_a_whole_is_named_and_read_by_its_title() -> None:
    calls = calls_of(f"What is in lesson 1 of {PHOTOS}?")

    place = {"course_name": PHOTOS, "lesson_number": 1}
    assert calls == [outlined(PHOTOS), search("Scanning Negatives", **place)]


def test_what_has_to_be_found_is_searched_and_then_looked_up() -> None:
    question = "Who teaches the course in which dust is brushed?"

    first = calls_of(question)
    second = calls_of(question, DUST, attempts=(attempt(query=question, facts=(1,)),))

    assert first == [search(question)]
    assert second == [outlined(PHOTOS)]


def test_a_lesson_that_speaks_of_something_is_searched_by_that_or_known_by_its_title() -> (
    None
):
    by_text = calls_of("Which lesson is about dust brushes?")
    by_title = calls_of("Which lessons cover negatives?")
    after = calls_of(
        "Which lesson is about dust brushes?",
        DUST,
        attempts=(attempt(query="dust brushes", facts=(1,)),),
    )

    assert by_text == [search("dust brushes")]
    assert by_title == [outlined(PHOTOS), search("negatives")]
    assert after == [outlined(PHOTOS)]


def test_a_lesson_beside_one_that_is_described_is_read_in_a_second_round() -> None:
    first = calls_of(AFTER_DUST)
    done = attempt(query="dust", facts=(1,)), attempt(query=AFTER_DUST, facts=(1,))
    second = calls_of(AFTER_DUST, DUST, attempts=done)

    assert first == [search("dust"), search(AFTER_DUST)]
    place = {"course_name": PHOTOS, "lesson_number": 2}
    assert second == [outlined(PHOTOS), search(AFTER_DUST, **place)]


def test_where_the_catalogue_says_nothing_the_texts_are_searched() -> None:
    question = f"Who teaches {BREAD}?"
    failed = attempt(tool="get_course_outline", course_name=BREAD, outcome="failed")
    found = attempt(tool="get_course_outline", course_name=BREAD, facts=(1,))

    assert calls_of(question, attempts=(failed,)) == [search(question)]
    assert calls_of(question, outline(BREAD, "Flour"), attempts=(found,)) == []


def test_a_text_question_is_answered_after_one_round_and_any_after_two() -> None:
    once = attempt(query="What removes dust?", facts=(1,))
    twice = attempt(round_number=2, query="x", outcome="nothing")

    assert calls_of("What removes dust?", DUST, attempts=(once,)) == []
    assert calls_of(AFTER_DUST, DUST, attempts=(once, twice)) == []
    assert calls_of(f"Who teaches {BREAD}?", attempts=(twice, once)) == []


def test_a_call_that_was_made_is_not_made_again() -> None:
    question = "Who teaches the course in which dust is brushed?"
    outline_call = attempt(tool="get_course_outline", course_name=PHOTOS)
    done = (attempt(query=question, facts=(1,)), outline_call)

    assert calls_of(question, DUST, attempts=done) == []
    assert len(calls_of(f"Who teaches {BREAD} and {BREAD}?")) == 1


@pytest.mark.parametrize("said", ["Hello!", "thanks", "What did I ask first?"])
def test_a_greeting_or_a_question_about_the_conversation_needs_no_call(
    said: str,
) -> None:
    assert calls_of(said) == []


def test_a_query_is_no_longer_than_the_tool_takes() -> None:
    ((_, arguments),) = calls_of("dust " * 700)

    assert len(str(arguments["query"])) == 1_200
