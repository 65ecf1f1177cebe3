"""Lessons that are counted from another one."""

from __future__ import annotations

import pytest

from antiphon.language.lesson_places import lesson_places, without_lesson_places
from antiphon.language.lesson_position import LessonPlace


@pytest.mark.parametrize(
    ("question", "place"),
    [
        ("Two lessons before lesson 6", LessonPlace(number=6, step=-2)),
        ("What comes two lessons after the one on caching?", LessonPlace(step=2)),
        ("the third lesson after the introduction", LessonPlace(position=1, step=3)),
        ("the first lesson after the introduction", LessonPlace(position=1, step=1)),
        ("two lessons before the last one", LessonPlace(position=-3)),
        ("the lesson before the last one", LessonPlace(position=-2)),
        ("the second lesson of the course", LessonPlace(position=2)),
        ("the last lesson before the conclusion", LessonPlace(position=-1, step=-1)),
    ],
)
def test_lessons_are_counted_from_another_one(
    question: str, place: LessonPlace
) -> None:
    assert lesson_places(question) == (place,)


def test_the_number_of_lessons_that_are_counted_names_none_of_them() -> None:
    assert "wo" not in without_lesson_places("Two lessons before lesson 6, what is it?")
