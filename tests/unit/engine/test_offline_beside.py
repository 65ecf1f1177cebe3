"""The lesson beside a named one is asked for in whatever words, where they say in which direction."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from tests.unit.engine.briefings import CATALOGUE, EVENTS, RELIABILITY
from tests.unit.engine.test_offline_by_meaning import shared_words

TELLING = Catalogue(CATALOGUE.courses, shared_words)


def read(question: str, *earlier: str, catalogue: Catalogue = TELLING) -> Inquiry:
    return understand(question, earlier, catalogue)


@pytest.mark.parametrize(
    ("question", "lesson", "step"),
    [
        ("I am done with Circuit Breakers, what now?", 2, 1),
        ("what follows Circuit Breakers", 2, 1),
        ("Circuit Breakers, and then?", 2, 1),
        ("what precedes Circuit Breakers in the reliability course?", 2, -1),
        ("What do I have to watch right before Blameless Postmortems", 3, -1),
    ],
)
def test_the_neighbour_of_a_lesson_that_is_named_in_full(
    question: str, lesson: int, step: int
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (lesson, step)


def test_what_comes_once_the_introduction_of_a_course_is_over() -> None:
    inquiry = read("reliability course, what follows once the intro is over?")

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (1, 1)


@pytest.mark.parametrize(
    ("question", "lesson", "asks"),
    [
        ("'Circuit Breakers' is part of what", 2, {"title"}),
        ("blameless postmortems: which course, which number, whose?", 3, {"title", "teacher"}),
    ],
)  # fmt: skip
def test_the_course_that_has_a_lesson_of_this_title(
    question: str, lesson: int, asks: set[str]
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.lesson == lesson
    assert inquiry.asks == asks


def test_a_part_of_a_title_will_do_in_the_course_that_is_named() -> None:
    inquiry = read("in Marta's course, what do I have to watch right before Sagas?")

    assert (inquiry.course, inquiry.lesson, inquiry.step) == (EVENTS, 2, -1)


@pytest.mark.parametrize(
    "question",
    [
        # What is said beside the title is a topic.
        "What do I do before Circuit Breakers trip under backpressure?",
        # A part of a title is a thing.
        "what follows a breaker",
        # What happens in it is asked of its text.
        "What do they do next in Circuit Breakers?",
        # Nothing says in which direction.
        "What is Circuit Breakers about?",
        "So, Circuit Breakers: " + "what now? " * 40,
    ],
)
def test_no_neighbour_is_read_into_other_questions(question: str) -> None:
    assert read(question).step == 0


def test_without_meanings_only_the_patterns_tell() -> None:
    question = "I am done with Circuit Breakers, what now?"

    assert read(question, catalogue=CATALOGUE).step == 0


def test_the_one_before_that_which_was_asked_for() -> None:
    inquiry = read(
        "what comes before that one", f"What is lesson 2 of {RELIABILITY} called?"
    )

    assert (inquiry.course, inquiry.lesson) == (RELIABILITY, 2)
    assert inquiry.step == -1


def test_the_last_of_the_lessons_that_were_counted() -> None:
    inquiry = read(
        "Great, then please the link to the last of them.",
        f"How many lessons does {EVENTS} have?",
    )

    assert (inquiry.kind, inquiry.course) == ("outline", EVENTS)
    assert inquiry.lesson == 3
    assert inquiry.asks == {"link"}
