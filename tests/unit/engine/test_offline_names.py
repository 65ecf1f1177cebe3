"""Which courses and lessons of a catalogue a question names."""

from __future__ import annotations

import time
from typing import NamedTuple

import pytest

from antiphon.engine.offline.known import Lesson
from antiphon.engine.offline.names import READ_CHARS, Catalogue, catalogue_of
from tests.unit.engine.briefings import course
from tests.unit.engine.trades import BEES, CATALOGUE, PHOTOS


class Known(NamedTuple):
    """A course as a library knows it."""

    title: str
    instructor: str | None = None
    lessons: tuple[Lesson, ...] = ()
    language: str | None = None


def named(question: str) -> list[str]:
    place = CATALOGUE.place(question)
    courses = [place.course, *place.others]
    return [each.title for each in courses if each is not None]


@pytest.mark.parametrize(
    ("question", "lesson"),
    [
        ("What is in lesson 2 of the photo archive course?", 2),
        (f"What is in lesson two of {PHOTOS}?", 2),
        (f"What is the first lesson of {PHOTOS}?", 0),
        (f"What is the 2nd lesson of {PHOTOS}?", 1),
        (f"What is the last lesson of {PHOTOS}?", 3),
        (f"What is the second to last lesson of {PHOTOS}?", 2),
        (f"What is the one before the last lesson of {PHOTOS}?", 2),
    ],
)
def test_a_lesson_is_named_by_its_number_or_its_place(
    question: str, lesson: int
) -> None:
    place = CATALOGUE.place(question)

    assert (place.lesson, place.by_number, place.step) == (lesson, True, 0)


def test_a_lesson_is_named_by_its_title_and_its_course_with_it() -> None:
    place = CATALOGUE.place("What is said in the lesson Swarms in May?")

    assert (place.lesson, place.by_number) == (1, False)
    assert place.course == CATALOGUE.course(BEES)


@pytest.mark.parametrize(
    "question",
    ["What is keyword search?", "How does feeding a starter work?", "naming files"],
)
def test_a_topic_that_a_lesson_is_called_by_is_no_place(question: str) -> None:
    place = CATALOGUE.place(question)

    assert (place.course, place.lesson) == (None, None)
    assert place.rest == question


@pytest.mark.parametrize(
    ("question", "described", "step"),
    [
        ("Which lesson comes after the one on dust and scratches?", "dust and scratches", 1),
        ("What comes before the lesson that is about varroa, please?", "varroa", -1),
        ("What is the lesson following the one where dough rests?", "dough rests", 1),
    ],
)  # fmt: skip
def test_a_lesson_beside_one_that_is_described_has_its_description(
    question: str, described: str, step: int
) -> None:
    place = CATALOGUE.place(question)

    assert (place.lesson, place.described, place.step) == (None, described, step)


def test_a_lesson_beside_the_last_is_none() -> None:
    photos = CATALOGUE.courses[0]

    assert photos.beside(2, 1) == Lesson(3, "Keyword Search")
    assert photos.beside(3, 1) is None
    assert photos.beside(0, -1) is None
    assert photos.beside(9, 1) is None
    assert photos.placed(5) is None
    assert photos.placed(-5) is None


def test_teachers_of_a_library_are_told_apart() -> None:
    tea = Known("Tea", "Ann One, Bo Two and Cy Three", (Lesson(1, "Leaves"),))

    catalogue = catalogue_of([tea, Known("Rum")])

    assert catalogue.courses[0].teachers == ("Ann One", "Bo Two", "Cy Three")
    assert catalogue.courses[0].lessons == (Lesson(1, "Leaves"),)
    assert catalogue.courses[1].teachers == ()


@pytest.mark.parametrize(
    "hostile",
    [
        "after the one on ", "course ", "photo archive course ", "lesson 1 and ", "second to last ", "the very ",
        "Working with Photo ", "'", "a.", "x",
    ],
)  # fmt: skip
def test_a_hostile_question_is_read_in_no_time(hostile: str) -> None:
    start = time.process_time()

    CATALOGUE.place(hostile * (400_000 // len(hostile)))

    assert time.process_time() - start < 0.5


def test_what_stands_behind_the_part_that_is_read_names_nothing() -> None:
    assert named("a " * READ_CHARS + PHOTOS) == []


def test_a_title_that_several_lessons_have_is_that_of_the_course_that_is_named() -> (
    None
):
    both = Catalogue(
        (
            course("Rum One", "A", "Old Casks"),
            course("Rum Two", "B", "Stills", "Old Casks"),
        )
    )

    of_one = both.place("What is in the lesson Old Casks of Rum Two?")
    of_any = both.place("What is in the lesson Old Casks?")

    assert of_one.course is not None
    assert (of_one.course.title, of_one.lesson) == ("Rum Two", 2)
    assert (of_any.course, of_any.lesson) == (None, None)


YEARS = ("Harbour School: 2019 Lectures", "Harbour School: 2020 Lectures")
ROPES = "Ropes and Knots for Sailors (2e)"
EDITIONS = catalogue_of(
    [Known(title) for title in (*YEARS, ROPES, "MIT 18.06, Spring")]
)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("How many lessons has Harbour School 2020?", [YEARS[1]]),
        ("how many lessons has the 2019 harbour school", [YEARS[0]]),
        ("What are the lessons of Harbour School (2020)?", [YEARS[1]]),
        ("How many lectures does MIT 18.06 have?", ["MIT 18.06, Spring"]),
        ("Who teaches Ropes and Knots?", [ROPES]),
        ("who teaches ropes and knots for sailors?", [ROPES]),
        # All that share the name, also with a year that none of them has.
        ("How many lessons has Harbour School?", list(YEARS)),
        ("How many lessons has Harbour School 2021?", list(YEARS)),
        # Words of a title that are a topic, or stand apart.
        ("How are ropes and knots kept dry?", []),
        ("Where are Ropes? Knots are dry.", []),
        ("How many lectures does MIT 18.05 have?", []),
    ],
)
def test_a_course_is_named_by_words_that_no_other_title_holds_together(
    question: str, titles: list[str]
) -> None:
    place = EDITIONS.place(question)

    named = [place.course, *place.others]
    assert [course.title for course in named if course is not None] == titles
    assert "2021" not in place.rest
