"""What the offline reasoner says beside the courses: in front of an answer, and to small talk."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.reading import read_task
from antiphon.vocabulary.ports import Json
from tests.unit.engine.briefings import CATALOGUE, briefing, source


def answered(question: str, *sources: Json) -> str:
    task = read_task(briefing(question, *sources))
    draft = answer(task._replace(catalogue=CATALOGUE))
    return "".join(block["text"] for block in draft.blocks)


def test_a_course_that_is_none_is_named_before_what_was_found() -> None:
    passage = source("Tea - Lesson 1", "A kettle boils water.")

    said = answered("In the cooking course, what boils in a kettle of water?", passage)

    assert said.startswith("There is no course named \u201ccooking\u201d here.\n\n")
    assert said.endswith("A kettle boils water.")


def test_another_language_is_told_in_it_that_the_courses_are_in_english() -> None:
    passage = source("Tea - Lesson 1", "A teapot and a kettle.")

    said = answered("Was ist ein Kettle und ein Teapot?", passage)

    assert said.startswith("Die Kurse sind auf Englisch.")


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("Thanks!", "welcome"),
        ("Hi", "Hello"),
        ("Who are you?", "Antiphon"),
        ("What can you do?", "quote"),
    ],
)
def test_small_talk_gets_what_a_person_expects(message: str, says: str) -> None:
    said = answered(message)

    assert says in said
    assert "Hello" not in said or message == "Hi"
