"""Lessons by number, place and title; titles by meaning are tests/integration/test_knowledge_course_names.py's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from antiphon.knowledge import Course, Lesson, resolve_lesson


def course(title: str, *lessons: tuple[int, str]) -> Course:
    listed = tuple(Lesson(number=number, title=name) for number, name in lessons)
    return Course(title=title, link=None, instructor=None, lessons=listed, chunks=0)


SEARCH = course(
    "Practical Search",
    (0, "Introduction"),
    (1, "Indexes on Disk"),
    (2, "Ranking with BM25"),
    (4, "Evaluation"),
    (5, "Final Project"),
)
EVENTS = course("Events", (1, "Introduction"), (2, "Ordering"), (3, "Delivery"))
EMPTY = course("Notes")


def nothing_like(texts: Sequence[str]) -> Sequence[Sequence[float]]:
    return [[0.0] for _ in texts]


def unasked(texts: Sequence[str]) -> Sequence[Sequence[float]]:
    raise AssertionError(f"the embedder was asked for {texts}")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        (4, 4),
        ("4", 4),
        ("lesson 4", 4),
        ("Lesson #4", 4),
        ("lesson no. 4", 4),
        ("lesson number four", 4),
        ("FOUR", 4),
        ("Lesson 4: Something else", 4),
        ("zero", 0),
        ("lesson one", 1),
        ("first", 0),
        ("the first one", 0),
        ("the third lesson", 2),
        ("fourth", 4),
        ("last", 5),
        ("the very last lesson", 5),
        ("final lesson", 5),
        ("second to last", 4),
        (-1, 5),
        ("-2", 4),
        ("introduction", 0),
        ("BM25", 2),
        ("Rankng with BM25", 2),
        ("the final project", 5),
        ("indexes", 1),
    ],
)
def test_a_lesson_is_found_without_the_embedder(name: int | str, number: int) -> None:
    found = resolve_lesson(name, [SEARCH], unasked)

    assert (found.number, found.course) == (number, "Practical Search")


@pytest.mark.parametrize("name", [3, 12, -6, "lesson 12", "sixth", "99999999999"])
def test_a_number_that_the_course_does_not_have_is_no_lesson(name: int | str) -> None:
    assert resolve_lesson(name, [SEARCH], nothing_like).number is None


@pytest.mark.parametrize("name", ["cooking", "", "?", "-", "lesson", "x" * 300])
def test_a_title_that_is_not_there_is_no_lesson_and_the_nearest_are_named(
    name: str,
) -> None:
    found = resolve_lesson(name, [SEARCH], nothing_like)

    assert found.number is None
    assert len(found.nearest) == 3


def test_a_course_without_lessons_has_none() -> None:
    for name in (0, "first", "last", "cooking"):
        assert resolve_lesson(name, [EMPTY], unasked).number is None
    assert resolve_lesson(1, [], unasked).number is None


def test_in_all_courses_a_number_is_every_lesson_of_that_number() -> None:
    found = resolve_lesson(2, [SEARCH, EVENTS], unasked)

    assert (found.number, found.course) == (2, None)
    assert resolve_lesson(9, [SEARCH, EVENTS], unasked).number is None


def test_in_all_courses_a_title_must_be_that_of_one_lesson() -> None:
    found = resolve_lesson("ordering", [SEARCH, EVENTS], unasked)

    assert (found.number, found.course) == (2, "Events")
    assert resolve_lesson("introduction", [SEARCH, EVENTS], unasked).number is None
    assert resolve_lesson("last", [SEARCH, EVENTS], unasked).number is None
