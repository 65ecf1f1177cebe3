"""What strangers ask of a catalogue: its phrases stand in the courses, and no question is asked twice."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from antiphon.cli.phrases import plain, stands_in
from antiphon.cli.questions import SampleQuestion
from antiphon.knowledge import load_document
from antiphon.language.questions import NUMBER_WORDS
from benchmarks.evaluation.grading import grade
from benchmarks.evaluation.samples import read_samples
from tests.unit.cli.judged import cites, outcome

SAMPLES = Path(__file__).parents[3] / "samples"
FOLDERS = {
    "main": ("courses", "spoken"),
    **{name: (f"recorded/{name}",) for name in "ghijkmn"},
}
"""Of each file the courses that it asks about."""
_NUMBER = rf"(?:\d+|{'|'.join(NUMBER_WORDS)})"
_COUNT = re.compile(
    rf"(?:no )?lesson {_NUMBER}|{_NUMBER}(?: (?:lessons|courses))?", re.IGNORECASE
)


def _questions(name: str) -> list[SampleQuestion]:
    return read_samples(SAMPLES / "wordings" / f"{name}.jsonl")


@cache
def _text_of(name: str) -> str:
    """Returns all that the courses of a library say, their outlines included."""
    said: list[str] = []
    for folder in FOLDERS[name]:
        for path in sorted((SAMPLES / folder).glob("*.txt")):
            course = load_document(str(path))
            said += [course.title, course.link or "", course.instructor or ""]
            for section in course.sections:
                said += [section.title, section.link or "", section.text]
    return "\n".join(said)


def _is_count(phrase: str) -> bool:
    """Returns True for "7 lessons", "no lesson 9" and "Lesson 2", which only an answer says."""
    return _COUNT.fullmatch(phrase) is not None


@pytest.mark.parametrize("name", FOLDERS)
def test_every_phrase_stands_in_the_courses_that_are_asked_about(name: str) -> None:
    text = _text_of(name)
    missing: list[str] = []
    for question in _questions(name):
        missing += [each for each in question.phrases if not stands_in(each, text)]

    assert [each for each in missing if not _is_count(each)] == []


@pytest.mark.parametrize("name", FOLDERS)
def test_repeating_a_question_answers_none(name: str) -> None:
    for question in _questions(name):
        cited = [
            cites("", each.lesson, course=each.course) for each in question.answered_by
        ]
        echo = outcome(*cited, answer=f"{question.question} {question.question}")

        assert grade(question, echo).verdict == "failed", question.id


def test_no_question_of_one_library_is_asked_twice() -> None:
    for name in FOLDERS:
        asked = Counter(
            plain(" ".join((*question.earlier, question.question)))
            for question in _questions(name)
        )

        assert [text for text, times in asked.items() if times > 1] == []
