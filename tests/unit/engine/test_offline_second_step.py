"""Questions in two steps: what is asked of the lesson that the first step finds, and how sure that is."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.intents import Inquiry, understand
from tests.unit.engine.briefings import CATALOGUE, EVENTS, RELIABILITY


def read(question: str) -> Inquiry:
    return understand(question, (), CATALOGUE)


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (
            f"Which other course is on the topic of lesson 2 of {RELIABILITY}, and what does it say wakes the breaker?",
            "What wakes the breaker?",
        ),
        (
            f"Lesson 2 of {EVENTS} has a topic of another course too. Which two signs of overload are named there?",
            "Which two signs of overload are named there?",
        ),
        (
            f"Is there another course on what lesson 3 of {EVENTS} is about; how large should the token bucket be?",
            "how large should the token bucket be?",
        ),
    ],
)
def test_what_is_asked_of_the_other_course_is_looked_for_in_it(
    question: str, wanted: str
) -> None:
    inquiry = read(question)

    assert inquiry.kind == "look_up"
    assert inquiry.wanted == wanted


@pytest.mark.parametrize(
    "question",
    [
        f"Which other course treats the topic of lesson 2 of {RELIABILITY}?",
        f"I've finished lesson 2 of {RELIABILITY}. Which other courses bring up queues, and in which context?",
        f"The topic of lesson 2 of {EVENTS} comes up again elsewhere. In which lesson, and what does it say there?",
    ],
)
def test_who_asks_for_the_place_alone_wants_nothing_more_of_it(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.wanted) == ("look_up", "")


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        (
            "There's a course that has a florist as its example. What does its lesson 2 say about where the key lives?",
            "where the key lives?",
        ),
        (
            "One of the courses is about a florist. What does its last lesson say about wilting?",
            "What is said about wilting?",
        ),
        (
            "In lesson 2 of the course that has a florist as its example, where does the key live?",
            "where does the key live?",
        ),
        (
            "What does lesson 2 of the course with the florist say about the key?",
            "What is said about the key?",
        ),
    ],
)
def test_a_course_that_is_described_is_found_before_its_lesson_is_asked(
    question: str, wanted: str
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson, inquiry.lesson) == ("find", False, None)
    assert "florist" in inquiry.topic
    assert inquiry.place is not None
    assert inquiry.wanted == wanted


@pytest.mark.parametrize(
    "question",
    [
        "Is there a lesson somewhere about wilting flowers? Which course is it in?",
        "Is there any lecture in one of the courses about wilting flowers? Where is it?",
        "there was one lesson on wilting flowers. title and course?",
    ],
)
def test_a_lesson_and_the_course_that_it_is_in_are_found_together(
    question: str,
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert inquiry.topic == "wilting flowers"


@pytest.mark.parametrize(
    "question",
    [
        "How does the lecturer define a saga?",
        "What does the instructor mean by a saga?",
        "how do they define a saga",
        "How is a saga defined?",
    ],
)
def test_how_somebody_defines_a_thing_asks_what_it_is(question: str) -> None:
    inquiry = read(question)

    assert inquiry.kind == "plain"
    assert inquiry.question == "What is a saga?"


def test_what_a_teacher_does_is_not_who_that_is() -> None:
    assert "teacher" not in read("How does the lecturer explain a saga?").asks
    assert read(f"Who is the lecturer of {EVENTS}?").asks == {"teacher"}
    assert read(f"What is the lecturer of {EVENTS} called?").asks >= {"teacher"}


@pytest.mark.parametrize(
    ("question", "other", "wanted"),
    [
        (
            f"Lesson 2 of {EVENTS} is on sagas. Someone else teaches them as well: what wakes the breaker?",
            None,
            "what wakes the breaker?",
        ),
        (
            f"Lesson 2 of {EVENTS} is on sagas. What does the reliability course say about that topic?",
            RELIABILITY,
            "",
        ),
    ],
)
def test_what_is_told_of_a_lesson_is_asked_of_another_course_in_the_next_sentence(
    question: str, other: str | None, wanted: str
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("look_up", EVENTS, 2)
    assert (inquiry.other, inquiry.wanted) == (other, wanted)


@pytest.mark.parametrize(
    ("question", "step", "wanted"),
    [
        (
            "Look up which lesson has the florist, then tell me what wilts first there.",
            0,
            "what wilts first there.",
        ),
        (
            "Find the lesson where the florist wilts and tell me what the next lesson says about pots.",
            1,
            "what the next lesson says about pots.",
        ),
        (
            "Which lesson is about the florist, and how often does the gardener water there?",
            0,
            "how often does the gardener water there?",
        ),
        ("In which lesson is the florist explained, and what comes after it?", 1, ""),
        (
            "In which lesson is the florist explained, and what is the next one about?",
            1,
            "",
        ),
    ],
)
def test_a_lesson_that_has_to_be_found_is_asked_in_one_step_more(
    question: str, step: int, wanted: str
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert "florist" in inquiry.topic
    assert inquiry.step == step
    assert inquiry.wanted.rstrip("?.") == wanted.rstrip("?.")


def test_what_the_next_lesson_says_is_read_there() -> None:
    inquiry = read(
        f"Look up lesson 1 of {EVENTS}, then tell me what the following lesson does to undo payments."
    )

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", EVENTS, 2)
