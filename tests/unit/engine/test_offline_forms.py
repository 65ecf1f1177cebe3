"""Forms of speech: words left out, lessons by their titles, and courses or teachers by what is said there."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.intents import Inquiry, understand
from tests.unit.engine.briefings import CATALOGUE, EVENTS, MODELS, RELIABILITY

LAST = -1


def read(question: str) -> Inquiry:
    return understand(question, (), CATALOGUE)


def places_of(inquiry: Inquiry) -> list[tuple[str | None, int | None]]:
    return [(part.course, part.lesson) for part in inquiry.parts]


@pytest.mark.parametrize(
    "question",
    [
        "How many lessons has Priya Raghunathan's course, and how many has Marta Lindqvist's?",
        "How many lessons does the language models course have, and how many are in the events course?",
    ],
)
def test_how_many_without_a_noun_counts_what_was_counted_before(question: str) -> None:
    inquiry = read(question)

    assert places_of(inquiry) == [(MODELS, None), (EVENTS, None)]
    assert [part.asks for part in inquiry.parts] == [{"lessons"}, {"lessons"}]


@pytest.mark.parametrize(
    "question",
    [
        "Which lesson stands between 'Timeouts and Deadlines' and 'Blameless Postmortems'?",
        "What is the lesson between \u201cBlameless Postmortems\u201d and \u201cTimeouts and Deadlines\u201d called?",
    ],
)
def test_the_lesson_between_two_others_is_named(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course, inquiry.lessons) == (
        "outline",
        RELIABILITY,
        (2,),
    )
    assert inquiry.asks == {"title"}


@pytest.mark.parametrize(
    "question",
    [
        "What is the difference between Timeouts and Deadlines and Blameless Postmortems, in which lesson is it?",
        "Which lesson stands between 'Timeouts and Deadlines' and 'Circuit Breakers'?",
    ],
)
def test_what_lies_between_no_two_lessons_is_not_made_up(question: str) -> None:
    assert read(question).lessons == ()


@pytest.mark.parametrize(
    "question",
    [
        "Two courses have a lesson with queue or cache in its title. What are the titles?",
        "Which lessons have the words queues, caching in their titles?",
        "I look for the lessons whose title contains queue or caching.",
    ],
)
def test_lessons_are_found_by_words_of_their_titles(question: str) -> None:
    inquiry = read(question)

    assert [(part.course, part.lessons) for part in inquiry.parts] == [
        (EVENTS, (1, 3)),
        (MODELS, (2,)),
    ]


def test_words_of_titles_are_looked_for_in_the_course_that_is_named() -> None:
    inquiry = read("Which lessons of the events course have queue in their title?")

    assert (inquiry.kind, inquiry.course) == ("outline", EVENTS)
    assert inquiry.lessons == (1, 3)


@pytest.mark.parametrize(
    "question",
    [
        "Lesson 2 of the reliability course and lesson 3 of the events course both have waiting. What is it in each?",
        "Tom\u00e1s Ferreira in his lesson 2 and Marta Lindqvist in her lesson 3 bring up waiting. What do they say?",
    ],
)
def test_each_of_two_lessons_belongs_to_its_own_course(question: str) -> None:
    inquiry = read(question)

    assert [part.kind for part in inquiry.parts] == ["lesson", "lesson"]
    assert places_of(inquiry) == [(RELIABILITY, 2), (EVENTS, 3)]


def test_a_number_that_a_course_does_not_have_is_missing_whatever_is_said_of_it() -> (
    None
):
    inquiry = read(
        "What does Tom\u00e1s Ferreira treat in lesson 8, the one after the postmortems?"
    )

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.missing_lesson == 8


@pytest.mark.parametrize(
    ("question", "asks", "topic"),
    [
        ("Which instructor covers Cohen's kappa?", {"teacher"}, "Cohen's kappa"),
        ("Which of your teachers talks about bicycles?", {"teacher"}, "bicycles"),
        ("who does the course w the bicycles", {"teacher"}, "bicycles"),
        ("Which course is the one with the bicycles?", set(), "bicycles"),
        ("Which of your courses is the one about riding bicycles? I only need what it's called.", {"courses"},
         "riding bicycles"),
    ],
)  # fmt: skip
def test_a_course_or_its_teacher_is_sought_by_what_is_said_there(
    question: str, asks: set[str], topic: str
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson) == ("find", False)
    assert inquiry.asks == asks
    assert inquiry.topic == topic


@pytest.mark.parametrize(
    "question",
    [
        "I forgot the name of the man with the bicycles. What is the very last lesson in his course called?",
        "She always takes bicycles as example. What is the title of the last lesson of her course?",
    ],
)
def test_his_course_is_that_of_whoever_was_described(question: str) -> None:
    inquiry = read(question)

    assert inquiry.kind == "find"
    assert inquiry.asks == {"title"}
    assert inquiry.place is not None
    assert inquiry.place.position == LAST
    assert "bicycles" in inquiry.topic


def test_there_is_in_the_course_that_the_question_before_seeks() -> None:
    inquiry = read(
        "who does the course w the bicycles. and whats the last lesson there called"
    )

    first, second = inquiry.parts
    assert (first.kind, second.kind) == ("find", "find")
    assert (first.topic, second.topic) == ("bicycles", "bicycles")
    assert second.place is not None
    assert second.place.position == LAST


def test_what_the_asking_sentence_says_of_its_own_is_sought_too() -> None:
    inquiry = read(
        "A wrong pizza was sent. Which lesson deals with undoing that sort of thing?"
    )

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert inquiry.topic == "A wrong pizza was sent. undoing"


def test_which_lesson_is_not_answered_with_a_course_that_holds_a_word_of_it() -> None:
    inquiry = read("which lesson was the one w ranking again? w the link pls")

    assert inquiry.asks == {"link"}
    assert inquiry.by_lesson or inquiry.lesson is not None


def test_behind_a_lesson_is_after_it() -> None:
    inquiry = read("What is the lesson that comes behind Timeouts and Deadlines?")

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (1, 1)


def test_what_is_asked_of_it_behind_a_lesson_beside_another_is_asked_of_that_lesson() -> (
    None
):
    inquiry = read(
        "What is the lesson after Timeouts and Deadlines in the reliability course called, and how many states does "
        "it use?"
    )

    _, second = inquiry.parts
    assert (second.kind, second.course) == ("lesson", RELIABILITY)
    assert second.lesson == 2


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What is retrieval in small?", "plain"),
        ("What are language models?", "plain"),
        ("What is Retrieval in Small?", "outline"),
        ("What is the language models course?", "outline"),
    ],
)
def test_a_thing_in_lower_case_is_defined_and_a_course_is_described(
    question: str, kind: str
) -> None:
    assert read(question).kind == kind


def test_what_is_too_similar_is_looked_for_in_its_own_lesson() -> None:
    inquiry = read(
        "What does he do in lesson 2 of the reliability course when states are too similar?"
    )

    assert (inquiry.kind, inquiry.lesson) == ("lesson", 2)
