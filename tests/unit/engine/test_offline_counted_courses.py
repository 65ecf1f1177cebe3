"""Courses by how many lessons they have, and several things asked of one course at once."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.excerpts import look
from antiphon.engine.offline.reading import read_task
from antiphon.language.evidence import Measures
from antiphon.vocabulary.events import LOOSE_FIT
from antiphon.vocabulary.ports import Json
from tests.fakes_likeness import all_alike
from tests.unit.engine.briefings import CATALOGUE, RELIABILITY, briefing, source

OUTLINED = source(
    RELIABILITY,
    f"Course: {RELIABILITY}\n",
    "Instructor: Tom\u00e1s Ferreira\n",
    "Link: https://example.org/reliability\n",
    "Lessons: 3 (1 to 3)\n",
    "Lesson 1: Timeouts and Deadlines\n",
    "Lesson 2: Circuit Breakers\n",
    "Lesson 3: Blameless Postmortems\n",
)
LISTED = source(
    "All courses",
    "Courses: 3, with 9 lessons in all\n",
    "Course: Tea. Lessons: 3 (0 to 2)\n",
    "Course: Coffee. Lessons: 2 (1 to 2)\n",
    "Course: Cocoa. Lessons: 4 (1 to 4)\n",
)


def answered(question: str, *sources: Json) -> str:
    task = read_task(briefing(question, *sources))
    draft = answer(task._replace(catalogue=CATALOGUE))
    return "".join(block["text"] for block in draft.blocks)


@pytest.mark.parametrize(
    ("question", "courses"),
    [
        ("Which courses have exactly 3 lessons?", ["Tea"]),
        ("Which courses have more than two lessons?", ["Tea", "Cocoa"]),
        ("Are there courses with fewer than four lessons?", ["Tea", "Coffee"]),
        ("List the courses with at least 4 lessons.", ["Cocoa"]),
    ],
)
def test_courses_are_told_by_how_many_lessons_they_have(
    question: str, courses: list[str]
) -> None:
    said = answered(question, LISTED).splitlines()[2:]

    assert [line.partition(":")[0].removeprefix("- ") for line in said] == courses


def test_a_count_that_no_course_has_is_said_to_be_none() -> None:
    said = answered("Which courses have exactly 9 lessons?", LISTED)

    assert said == "No course has exactly 9 lessons."


@pytest.mark.parametrize(
    "question",
    [
        "reliability course - who, how many lessons?",
        "Anzahl der Lektionen und Dozent im Zuverl\u00e4ssigkeitskurs?",
    ],
)
def test_several_things_asked_at_once_are_all_answered(question: str) -> None:
    said = answered(question, OUTLINED)

    assert f"{RELIABILITY} is taught by Tom\u00e1s Ferreira." in said
    assert "3 lessons" in said


@pytest.mark.parametrize(
    ("question", "is_sure"),
    [
        ("In lesson 2 of the reliability course, which household object refuses guests and visitors?", True),
        ("Which household object refuses guests, visitors, neighbours and other animals?", False),
    ],
)  # fmt: skip
def test_less_shows_that_the_lesson_named_in_a_question_answers_it(
    question: str, *, is_sure: bool
) -> None:
    measures = Measures(likeness=all_alike(0.35))
    fuse = source(f"{RELIABILITY} - Lesson 2", "A fuse is blown for a while. ")
    task = read_task(briefing(question, fuse))._replace(catalogue=CATALOGUE)

    draft = answer(task, measures)

    assert look(task.passages, task.inquiry.focus, measures).certainty == "low"
    assert (draft.stop_reason == LOOSE_FIT) == is_sure


def test_a_place_before_the_first_lesson_is_said_in_words() -> None:
    said = answered(
        f"What is the tenth lesson from the end of {RELIABILITY} called?", OUTLINED
    )

    assert said.startswith(f"{RELIABILITY} has fewer than 10 lessons: it has 3 lessons")
