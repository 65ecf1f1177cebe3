"""Which clause of a question asks, and of what: the catalogue, the texts, or a lesson that has to be found."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.intents import Inquiry, understand
from tests.unit.engine.briefings import CATALOGUE, MODELS, RELIABILITY


def read(question: str) -> Inquiry:
    return understand(question, (), CATALOGUE)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        (
            "For the planning of our training days I would need to know how many lessons the reliability course "
            "consists of, including any introduction.",
            {"lessons"},
        ),
        (
            "I wish to forward the reliability course to my deputy and would therefore like to have the address of it, "
            "if that is possible.",
            {"link"},
        ),
        ("How many lessons does the reliability course have if I count the introduction?", {"lessons"}),
        ("nr of lessons in reliability course", {"lessons"}),
    ],
)  # fmt: skip
def test_the_clause_that_asks_for_something_exact_decides(
    question: str, asks: set[str]
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert inquiry.asks == asks


def test_all_teachers_are_asked_for_in_many_words() -> None:
    inquiry = read(
        "I need the names of everybody who teaches one of your courses; could you list them?"
    )

    assert (inquiry.kind, inquiry.course) == ("outline", None)
    assert inquiry.asks == {"courses", "teacher"}


@pytest.mark.parametrize(
    "question",
    [
        "How do I find out which query is slow in the reliability course?",
        "What was that rule called, the one with finding everybody called Peter?",
        "What address does a client of the reliability course retry after a timeout?",
    ],
)
def test_what_is_asked_of_the_texts_is_not_asked_of_the_catalogue(
    question: str,
) -> None:
    assert read(question).kind == "plain"


def test_how_long_something_is_takes_no_time_of_a_course() -> None:
    inquiry = read(
        "In the lesson before the last one of the reliability course, how long is the time to live of a fact?"
    )

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", RELIABILITY, 2)
    assert read("How long does the reliability course take?").asks == {"duration"}


def test_what_is_asked_beside_a_course_that_has_to_be_found_is_searched_for() -> None:
    asked = read(
        "In the course with the kitchen, how large must the pool be with eight cores?"
    )
    named = read("In the course that explains BM25, what is the third lesson called?")

    assert (asked.kind, asked.topic) == ("find", "the kitchen")
    assert asked.wanted == "how large must the pool be with eight cores?"
    assert asked.asks_of_found_course
    assert (named.kind, named.topic) == ("find", "BM25")


def test_what_is_shown_in_the_next_lesson_is_more_than_its_name() -> None:
    shown = read(
        "What is shown in the lesson after lesson 1 of the reliability course?"
    )
    named = read("What comes after lesson 1 of the reliability course?")

    assert (shown.kind, shown.lesson, shown.step) == ("lesson", 2, 0)
    assert (named.kind, named.lesson, named.step) == ("outline", 1, 1)


def test_a_question_of_the_texts_behind_one_of_the_catalogue_is_answered_too() -> None:
    teacher, story = read(
        "Who teaches the reliability course, and which company does she tell a story about in its first lesson?"
    ).parts

    assert (teacher.kind, set(teacher.asks)) == ("outline", {"teacher"})
    assert (story.kind, story.course, story.lesson) == ("lesson", RELIABILITY, 1)


def test_behind_a_course_that_has_to_be_found_the_texts_are_asked_plainly() -> None:
    teacher, effect = read(
        "Who teaches the course that explains BM25, and what did it do for long documents?"
    ).parts

    assert (teacher.kind, teacher.topic) == ("find", "BM25")
    assert effect.kind == "plain"
    assert "BM25" in effect.topic


def test_a_lesson_that_no_title_names_is_found_by_what_it_says() -> None:
    inquiry = read("What is the link to the kitchen sink lesson?")

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert inquiry.topic == "kitchen sink"


def test_which_lesson_to_open_is_not_the_first() -> None:
    inquiry = read(
        "I want to know more about caching. Which course and which lesson do I open?"
    )

    assert (inquiry.kind, inquiry.by_lesson, inquiry.place) == ("find", True, None)


def test_the_form_and_the_purpose_of_an_overview_are_none_of_its_topic() -> None:
    inquiry = read(
        "Lesson 2 of the reliability course, in a few lines for my syllabus, please."
    )

    assert (inquiry.kind, inquiry.lesson, inquiry.topic) == ("lesson", 2, "")


def test_the_lesson_after_another_is_asked_for_in_french() -> None:
    inquiry = read("Quelle leçon vient juste après celle sur les Circuit Breakers ?")

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (inquiry.lesson, inquiry.step) == (2, 1)


def test_a_german_compound_names_the_title_that_holds_its_last_part() -> None:
    inquiry = read("Worum geht es in Lektion 1 des Kurses über Sprachmodelle?")

    assert (inquiry.kind, inquiry.course, inquiry.lesson) == ("lesson", MODELS, 1)
    assert read("Wer gibt den Kurs über Klaviermusik?").course != MODELS


@pytest.mark.parametrize(
    ("message", "talk"),
    [
        ("Hello, it is me again, I liked the lessons last week!", "hello"),
        ("Haha ok, that's all I needed. See you!", "bye"),
    ],
)
def test_a_remark_beside_a_courtesy_asks_for_nothing(message: str, talk: str) -> None:
    assert (read(message).kind, read(message).talk) == ("greeting", talk)


@pytest.mark.parametrize(
    "message",
    [
        "Hello, circuit breakers",
        "Hi, I need the syllabus of the reliability course",
        "Hey, it deadlocks",
        "Hi, how does it work?",
    ],
)
def test_a_topic_behind_a_greeting_is_a_question(message: str) -> None:
    assert read(message).kind != "greeting"
