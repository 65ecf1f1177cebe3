"""Questions in two steps: a course or a lesson that is only described, and what is asked of it, or of its neighbour."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import attempt, briefing, outline, source
from tests.unit.engine.trades import BEES, BREAD, CATALOGUE, SAILING


def read(question: str) -> Inquiry:
    return understand(question, (), CATALOGUE)


@pytest.mark.parametrize(
    ("question", "said", "wanted"),
    [
        (
            "In the course that rebuilds a rotten pier, which nails are used?",
            "rebuilds a rotten pier",
            "which nails are used?",
        ),
        (
            "According to the course by a former lighthouse keeper, how long does paint dry?",
            "a former lighthouse keeper",
            "how long does paint dry?",
        ),
        (
            "The course that mentions a pier also talks about rust: which oil is used?",
            "mentions a pier",
            "rust: which oil is used?",
        ),
        (
            "The course made by somebody at the harbour office: how many ropes are needed?",
            "somebody at the harbour office",
            "how many ropes are needed?",
        ),
        (
            "The course with the pier also paints it every spring. Which colour is that?",
            "the pier",
            "paints it every spring: Which colour is that?",
        ),
        (
            "The instructor who sang in a choir: how many ropes does he take?",
            "sang in a choir",
            "how many ropes does he take?",
        ),
        (
            "There's a course that rebuilds a pier. Which nails does it use?",
            "that rebuilds a pier",
            "Which nails does it use?",
        ),
        (
            "What does the course with the pier say about wet paint?",
            "the pier",
            "What is said about wet paint?",
        ),
    ],
)
def test_what_is_asked_of_a_course_that_is_described_is_asked_of_its_texts(
    question: str, said: str, wanted: str
) -> None:
    inquiry = read(question)

    assert inquiry.kind == "find"
    assert inquiry.asks_of_found_course
    assert inquiry.topic == said
    assert inquiry.wanted.rstrip("?") == wanted.rstrip("?")


@pytest.mark.parametrize(
    "question",
    [
        "In the course on bees, when do they swarm?",
        "In the course with the pier, what comes right after the lesson on ropes?",
        "Which course has a pier in it?",
        "What do the courses say about wet paint?",
    ],
)
def test_other_questions_of_courses_stay_what_they_are(question: str) -> None:
    assert not read(question).wanted


@pytest.mark.parametrize(
    ("question", "said", "step"),
    [
        ("In the lesson after the one where the pier collapses, which nails are used?", "the pier collapses", 1),
        ("Take the lesson that precedes the one in which paint dries: which nails are used?", "paint dries", -1),
    ],
)  # fmt: skip
def test_what_is_asked_of_the_lesson_beside_one_that_has_to_be_found(
    question: str, said: str, step: int
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.topic, inquiry.step) == ("find", said, step)
    assert inquiry.wanted == "which nails are used?"


def test_the_lesson_after_the_one_to_look_at_is_the_one_that_is_asked() -> None:
    inquiry = read(
        "Take the lesson right after Setting Sails: how long is a watch at night?"
    )

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", SAILING, 2)


@pytest.mark.parametrize(
    "question",
    [
        "Which other course treats the topic of lesson 1 of the bread course, and who teaches it?",
        "Which other course shares a topic with lesson 1 of the bread course, and who teaches it?",
        "Name the other course with a lesson on the same topic as lesson 1 of the bread course and say who teaches it",
    ],
)
def test_the_teacher_that_is_asked_for_is_that_of_the_other_course(
    question: str,
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("look_up", BREAD, 1)
    assert "teacher" in inquiry.asks


def test_what_is_taught_after_a_lesson_is_the_next_one() -> None:
    inquiry = read("What is taught right after Setting Sails?")

    assert (inquiry.course, inquiry.lesson, inquiry.step) == (SAILING, 1, 1)


def test_the_verb_behind_a_description_is_none_of_it() -> None:
    inquiry = read("What does the last lesson of the course about piers warn about?")

    assert inquiry.unknown == "piers"


@pytest.mark.parametrize(
    "question",
    [
        "One of the teachers at our school likes piers. Which nails are cheap?",
        "There is one class where everything is about piers. What is it called and who is the person speaking in it?",
    ],
)
def test_what_is_not_asked_of_the_texts_of_what_was_told_is_no_second_step(
    question: str,
) -> None:
    assert not read(question).wanted


def test_the_found_course_is_searched_for_what_is_asked_of_it() -> None:
    question = "In the course that rebuilds a rotten pier, which nails are used?"
    first = plan(read_task(briefing(question))._replace(catalogue=CATALOGUE))
    found: Json = source(f"{BEES} - Lesson 2", "We rebuild a rotten pier.")
    done = attempt(query=first[0].arguments["query"], facts=(1,))
    task = read_task(briefing(question, found, attempts=(done,)))

    _, call = plan(task._replace(catalogue=CATALOGUE))

    assert [each.arguments["query"] for each in first] == ["rebuilds a rotten pier"]
    assert call.arguments["course_name"] == BEES
    assert call.arguments["query"] == "which nails are used?"
    assert "lesson_number" not in call.arguments


def test_who_teaches_the_other_course_is_looked_up_beside_its_topic() -> None:
    question = "Which other course treats the topic of lesson 1 of the bread course, and who teaches it?"
    told = outline(BREAD, "Introduction", "Feeding a Real Starter")
    done = attempt(tool="get_course_outline", course_name=BREAD, facts=(1,))
    listing: Json = {
        "name": "get_course_outline",
        "description": "Lists.",
        "input_schema": {
            "type": "object",
            "properties": {"course_name": {"type": "string"}},
        },
    }
    task = read_task(
        briefing(question, told, attempts=(done,), tools=(listing,))
    )._replace(catalogue=CATALOGUE)

    tools = [(call.tool, "course_name" in call.arguments) for call in plan(task)]

    assert ("get_course_outline", False) in tools


@pytest.mark.parametrize(
    "question",
    [
        "lesson 1 sail trim and night passages contents",
        "contents of lesson 1 of the sail trim course",
        "Which topics are in lesson 1 of the sail trim course?",
    ],
)
def test_the_contents_of_a_lesson_are_what_it_says(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", SAILING, 1)
    assert inquiry.asks == {"overview"}


def test_the_contents_of_a_course_and_a_lesson_that_is_not_there_are_the_catalogues() -> (
    None
):
    whole = read("sail trim course contents")
    missing = read("contents of lesson 9 of the sail trim course")

    assert (whole.kind, whole.course) == ("outline", SAILING)
    assert (missing.kind, missing.missing_lesson) == ("outline", 9)
