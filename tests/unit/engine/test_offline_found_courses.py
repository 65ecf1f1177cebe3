"""Courses that are found by what they say, and things that only share the words of a title."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task
from tests.unit.engine.answered import text
from tests.unit.engine.briefings import attempt, briefing, course, source
from tests.unit.engine.trades import BEES, BREAD, CATALOGUE, SAILING


def read(question: str, *earlier: str) -> Inquiry:
    return understand(question, earlier, CATALOGUE)


@pytest.mark.parametrize(
    "question",
    [
        "Find the course whose author fell off a pier and tell me who teaches it.",
        "Look for the course in which a pier collapses, then give me the outline of it.",
    ],
)
def test_an_order_to_find_a_course_is_one_question_of_that_course(
    question: str,
) -> None:
    inquiry = read(question)

    assert inquiry.kind == "find"
    assert "pier" in inquiry.topic
    assert "tell me" not in inquiry.topic


def test_the_second_step_is_asked_of_the_course_that_the_first_finds() -> None:
    inquiry = read(
        "Look up which course starts its first real lesson with a walk, and tell me who its instructor is."
    )

    sought, asked = inquiry.parts
    assert sought.kind == "across"
    assert asked.kind == "find"
    assert asked.asks == {"teacher"}
    assert "walk" in asked.topic


@pytest.mark.parametrize(
    ("question", "position"),
    [
        ("What is the last lesson of the pier course called?", -1),
        ("What is the third lesson in the course about piers?", 3),
        ("What is the first lesson after the introduction in the pier course?", 1),
    ],
)
def test_a_lesson_is_counted_in_the_course_that_is_found(
    question: str, position: int
) -> None:
    inquiry = read(question)

    assert inquiry.kind == "find"
    assert inquiry.courses == ()
    assert inquiry.place is not None
    assert inquiry.place.position == position


def test_the_lesson_of_a_course_that_was_found_is_searched_for_what_it_is_about() -> (
    None
):
    question = "What is lesson 2 of the pier course about?"
    found = source(f"{BEES} - Lesson 1", "The pier swarmed with bees.")
    first = attempt(query="pier", facts=(1,))
    request = briefing(question, found, attempts=(first,))

    calls = plan(read_task(request)._replace(catalogue=CATALOGUE))

    arguments = [call.arguments for call in calls]
    assert arguments[0]["course_name"] == BEES
    assert arguments[1]["course_name"] == BEES
    assert arguments[1]["lesson_number"] == 2


@pytest.mark.parametrize(
    "question",
    [
        "How does sail trim work?",
        "What does sail trim cost?",
        "How do night passages tire a crew?",
    ],
)
def test_what_a_thing_does_is_not_asked_of_the_course_that_has_it_in_its_title(
    question: str,
) -> None:
    inquiry = read(question)

    assert inquiry.kind == "plain"
    assert inquiry.course is None
    assert inquiry.topic == question


def test_a_lesson_called_by_words_of_its_courses_title_is_the_lesson() -> None:
    catalogue = Catalogue((course(BREAD, "Idris Kone", "Introduction", "Home Oven"),))

    inquiry = understand("Sum up the home oven lesson.", (), catalogue)

    assert (inquiry.kind, inquiry.lesson) == ("lesson", 2)


@pytest.mark.parametrize(
    "question",
    [
        "Which course starts its first real lesson with a joke?",
        "Which course has a whole lesson on feeding a dog?",
    ],
)
def test_some_lesson_is_none_that_shares_a_word_of_its_title(question: str) -> None:
    assert read(question).lesson is None


def test_the_clause_that_describes_a_course_is_none_of_what_is_asked() -> None:
    inquiry = read(
        "In the course by Tove Haugen who once missed a ferry, how long is a watch?"
    )

    assert inquiry.course == SAILING
    assert inquiry.topic == "how long is a watch?"


def test_a_name_that_is_a_word_too_is_a_teachers_where_it_has_something() -> None:
    inquiry = read("Rose has a lot on mites. Does any other course speak of them?")

    assert inquiry.kind == "across"
    assert inquiry.courses == (BEES,)


@pytest.mark.parametrize(
    "question",
    [
        "Apart from the bees course, which course speaks of mites?",
        "Are mites also spoken of outside of the bees course?",
    ],
)
def test_where_a_course_is_left_out_each_other_one_is_searched(question: str) -> None:
    calls = plan(read_task(briefing(question))._replace(catalogue=CATALOGUE))

    assert [call.arguments["course_name"] for call in calls] == [SAILING, BREAD]


def test_the_link_of_a_lesson_that_none_is_called_is_that_of_one_that_says_it() -> None:
    inquiry = read("Where can I watch the propolis lesson?")

    assert (inquiry.kind, inquiry.topic, inquiry.by_lesson) == (
        "find",
        "propolis",
        True,
    )


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Which tool is used to compare honey with wax?", "plain"),
        ("I want to compare honey with wax.", "compare"),
        ("Can you help me to compare honey with wax?", "compare"),
    ],
)
def test_what_is_for_comparing_is_asked_for_itself(question: str, kind: str) -> None:
    assert read(question).kind == kind


def test_a_word_that_ends_in_a_preposition_stays_whole() -> None:
    assert (
        read("In the bees course, what is a break-in?").topic == "what is a break-in?"
    )


@pytest.mark.parametrize(
    "question",
    [
        "What do I need to know before I take the bees course?",
        "Prerequisites of the bees course?",
        "Which prior knowledge does the bees course ask for?",
    ],
)
def test_what_to_know_before_a_course_is_looked_for_where_it_begins(
    question: str,
) -> None:
    (call,) = plan(read_task(briefing(question))._replace(catalogue=CATALOGUE))

    assert call.arguments["course_name"] == BEES
    assert call.arguments["lesson_number"] == 0


@pytest.mark.parametrize(
    ("said", "is_quoted"),
    [
        ("By the way, you need no more than a veil. ", True),
        ("A swarm needs a hollow tree. ", False),
    ],
)
def test_what_to_know_is_quoted_where_it_is_said_to_those_who_take_the_course(
    said: str, is_quoted: bool
) -> None:
    question = "What do I need to know before I take the bees course?"
    task = read_task(
        briefing(question, source(f"{BEES} - Lesson 0", said, "It buzzes."))
    )

    answer_text = text(answer(task._replace(catalogue=CATALOGUE)).blocks)

    assert (said.strip() in answer_text.replace("**", "")) == is_quoted
