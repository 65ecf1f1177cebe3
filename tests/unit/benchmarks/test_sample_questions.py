"""The sample questions name phrases that really stand in the lessons that answer them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from antiphon.cli.phrases import plain, stands_in, words
from antiphon.cli.questions import (
    CATALOGUE,
    SMALL_TALK,
    UNANSWERABLE,
    SampleQuestion,
)
from antiphon.knowledge import load_document
from benchmarks.evaluation.grading import grade
from benchmarks.evaluation.samples import read_samples
from tests.unit.cli.judged import cites, outcome

SAMPLES = Path(__file__).parents[3] / "samples"
RECORDED = tuple(f"recorded/{name}" for name in "nmkjhig")
"""Each asks about a library of its own, in the folder of its name."""
FILES = ("open", "sealed", "blind-z", "questions", "held-out", *RECORDED)
OTHERS = ("courses", "spoken")
"""The folders that all the others ask about."""
OWN_WORDS = (CATALOGUE, SMALL_TALK, "false_premise")
"""Kinds whose answers may be words that no lesson holds, such as a number of lessons."""


def _questions(name: str) -> list[SampleQuestion]:
    return read_samples(SAMPLES / f"{name}.jsonl")


class Texts:
    """What the courses of some folders say, by course and lesson; None is the course's outline."""

    def __init__(self, folders: Iterable[str]) -> None:
        self.places: dict[tuple[str, int | None], str] = {}
        self.links: dict[tuple[str, int | None], str] = {}
        for folder in folders:
            for path in sorted((SAMPLES / folder).glob("*.txt")):
                self._read(str(path))

    def _read(self, path: str) -> None:
        course = load_document(path)
        outline = [course.title, course.link or "", course.instructor or ""]
        outline.append(f"{len(course.sections)} lessons")
        for section in course.sections:
            outline += [section.title, section.link or ""]
            heading = f"{section.title}\n{section.text}"
            self.places[course.title, section.number] = heading
            self.links[course.title, section.number] = section.link or ""
        self.places[course.title, None] = "\n".join(outline)

    def answer(self, question: SampleQuestion) -> str:
        """Returns the text of all the lessons that answer a question, their links, and the titles of their courses."""
        found: list[str] = []
        for place in question.answered_by:
            found += [place.course, self.places[place.course, place.lesson]]
            found.append(self.links.get((place.course, place.lesson), ""))
        return "\n".join(found)

    def lessons_with(self, phrase: str) -> int:
        """Returns how many lessons hold a phrase."""
        lessons = 0
        for (_, lesson), text in self.places.items():
            if lesson is not None:
                lessons += stands_in(phrase, text)
        return lessons


@cache
def _texts(folders: tuple[str, ...]) -> Texts:
    return Texts(folders)


@pytest.fixture
def texts(name: str) -> Texts:
    if name in RECORDED:
        return _texts((name,))
    return _texts(OTHERS)


@pytest.mark.parametrize(
    ("name", "questions", "fewest"), [("open", 836, 3), ("sealed", 118, 1)]
)
def test_both_sets_hold_questions_of_every_kind(
    name: str, questions: int, fewest: int
) -> None:
    kinds = Counter(question.kind for question in _questions(name))

    assert kinds.total() == questions
    assert kinds[UNANSWERABLE] >= 14
    assert len(kinds) == 15
    assert min(kinds.values()) >= fewest


def test_no_question_stands_in_two_files() -> None:
    asked: list[str] = []
    for name in FILES:
        asked += {plain(question.question) for question in _questions(name)}

    assert [text for text, times in Counter(asked).items() if times > 1] == []


@pytest.mark.parametrize("name", FILES)
def test_every_needed_phrase_stands_in_a_lesson_that_answers(
    name: str, texts: Texts
) -> None:
    missing: list[str] = []
    for question in _questions(name):
        if question.kind not in OWN_WORDS:
            text = texts.answer(question)
            missing += [each for each in question.phrases if not stands_in(each, text)]

    assert missing == []


@pytest.mark.parametrize("name", FILES)
def test_catalogue_words_other_than_numbers_stand_in_the_catalogue(
    name: str, texts: Texts
) -> None:
    everywhere = "\n".join(texts.places.values())
    missing: list[str] = []
    for question in _questions(name):
        if question.kind == CATALOGUE:
            found = [
                each for each in question.phrases if not stands_in(each, everywhere)
            ]
            missing += [each for each in found if not _counts(each)]

    assert missing == []


def _counts(phrase: str) -> bool:
    return any(word in ("lessons", "courses") for word in words(phrase))


@pytest.mark.parametrize("name", FILES)
def test_no_needed_phrase_stands_in_many_lessons(name: str, texts: Texts) -> None:
    vague: list[str] = []
    titles = {course for course, _ in texts.places}
    for question in _questions(name):
        if question.kind not in OWN_WORDS:
            phrases = set(question.phrases) - titles
            vague += [each for each in phrases if texts.lessons_with(each) > 2]

    assert vague == []


@pytest.mark.parametrize("name", FILES)
def test_repeating_a_question_answers_none_though_the_right_lessons_are_cited(
    name: str,
) -> None:
    for question in _questions(name):
        cited = [
            cites("", place.lesson, course=place.course)
            for place in question.answered_by
        ]
        echo = outcome(*cited, answer=f"{question.question} {question.question}")

        assert grade(question, echo).verdict == "failed", question.id


@pytest.mark.parametrize("name", FILES)
def test_an_excuse_is_an_answer_where_there_is_none_and_nowhere_else(name: str) -> None:
    excuse = outcome(
        answer="Nothing was found.", confidence="low", doubts=("no_evidence",)
    )

    for question in _questions(name):
        answered = grade(question, excuse).verdict == "answered"
        assert answered == (question.kind == UNANSWERABLE), question.id


@pytest.mark.parametrize("name", FILES)
def test_the_whole_catalogue_at_once_answers_few_questions(
    name: str, texts: Texts
) -> None:
    outlines = [text for (_, lesson), text in texts.places.items() if lesson is None]
    everything = outcome(answer="\n".join(outlines))

    questions = _questions(name)
    answered = [
        question.id
        for question in questions
        if grade(question, everything).verdict == "answered"
    ]

    assert len(answered) <= 0.1 * len(questions), answered
