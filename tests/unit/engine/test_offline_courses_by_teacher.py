"""Courses named by their teacher, lessons counted from another one, and questions behind a statement."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.spelling import corrected
from antiphon.engine.offline.task import Source
from tests.unit.engine.briefings import course
from tests.unit.engine.trades import BEES, BREAD, CATALOGUE, SAILING


def read(question: str) -> Inquiry:
    return understand(question, (), CATALOGUE)


@pytest.mark.parametrize(
    ("question", "title", "ask"),
    [
        ("Show me the outline of the bread course by Idris Kone.", BREAD, "contents"),
        ("is there anything taught by Rose Amsel?", BEES, "teacher"),
        ("What does Tove teach?", SAILING, "teacher"),
    ],
)
def test_a_course_is_found_by_its_teacher_and_by_nickname_and_teacher_together(
    question: str, title: str, ask: str
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", title)
    assert ask in inquiry.asks


def test_a_teacher_without_an_apostrophe_owns_the_course_all_the_same() -> None:
    inquiry = read("in the final lesson of roses course, what comes first?")

    assert (inquiry.course, inquiry.lesson) == (BEES, 2)


def test_a_course_of_two_teachers_is_found_by_either() -> None:
    catalogue = Catalogue(
        (
            course("Knots", "Yuki Sandoval and Bram Teller", "Bowlines", first=1),
            course("Splices", "Ada Holm", "Eyes", first=1),
        )
    )

    for teacher in ("Yuki Sandoval", "Bram Teller"):
        inquiry = understand(f"Which course does {teacher} teach?", (), catalogue)

        assert inquiry.course == "Knots"


@pytest.mark.parametrize(
    ("question", "lesson"),
    [
        ("What is two lessons after the introduction in the bees course?", 2),
        ("What is in the second lesson after the introduction of the bees course?", 2),
    ],
)
def test_lessons_are_counted_from_another_one(question: str, lesson: int) -> None:
    inquiry = read(question)

    assert (inquiry.course, inquiry.lesson) == (BEES, lesson)
    assert inquiry.missing_lesson is None


def test_lessons_are_counted_backwards_too() -> None:
    inquiry = read(
        "Two lessons before the one on watches at night, same course: what is said about ropes?"
    )

    assert (inquiry.course, inquiry.lesson) == (SAILING, 0)


@pytest.mark.parametrize(
    ("question", "topic", "wanted"),
    [
        (
            "One of the lecturers used to be a lighthouse keeper. What does that person do when it storms?",
            "used to be a lighthouse keeper",
            "What does that person do when it storms?",
        ),
        (
            "Find me the lesson where a pier collapses, and tell me which nails are used.",
            "pier collapses",
            "which nails are used.",
        ),
    ],
)
def test_what_is_told_in_front_is_looked_for_and_what_is_asked_behind_is_wanted(
    question: str, topic: str, wanted: str
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.topic, inquiry.wanted) == ("find", topic, wanted)


def test_a_question_to_another_course_is_not_asked_of_the_one_told_about() -> None:
    inquiry = read(
        "Lesson 1 of the sailing course deals with sails. What does the bread course say about flour?"
    )

    assert inquiry.course == BREAD


def test_a_word_misspelt_at_its_end_is_the_word_of_the_courses_with_its_stem() -> None:
    told = Source(
        0, f"{BEES} - Lesson 1", BEES, ("The convergence of two swarms is rare.",)
    )

    text = corrected("What does convergance mean?", lambda _: 1.0, CATALOGUE, [told])

    assert text == "What does convergence mean?"
