"""How the offline reasoner reads a question against the courses that there are."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from antiphon.engine.offline.catalogue import EMPTY, Catalogue
from antiphon.engine.offline.intents import Inquiry, understand
from antiphon.engine.offline.spelling import corrected
from tests.unit.engine.briefings import (
    CATALOGUE,
    EVENTS,
    MCP,
    MODELS,
    RELIABILITY,
    RETRIEVAL,
)


def read(question: str, *earlier: str, answered: str = "") -> Inquiry:
    return understand(question, earlier, CATALOGUE, answered)


LETTERS = st.text(
    alphabet="abe is of lesson course the and 1?.,:\"'\u2019\u00e9\u4e00",
    max_size=1_000,
)


@pytest.mark.parametrize(
    ("question", "course"),
    [
        ("In the reliability course, what is jitter?", RELIABILITY),
        ("What does your course on event-driven systems say about logs?", EVENTS),
        ("what is pooling in practical information retreival", RETRIEVAL),
        ("According to the MCP course, what is a server?", MCP),
        ("What does the langauge models course say about tokens?", MODELS),
        ("In the PIR course, what is pooling?", RETRIEVAL),
        ("In the circuit breakers course, what is a budget?", RELIABILITY),
        ("What does Priya Raghunathan's course say about tokens?", MODELS),
        ('In "Language Models and Tools", what is a token?', MODELS),
        ("With which lesson does Okonjo close his course?", RETRIEVAL),
        ("What is a saga?", None),
        ("How do language models count tokens?", None),
        ("Is there a course on sagas?", None),
        ("What is the systems theory of first principles thinking?", None),
        ("Was the golf course of Augusta National built in Georgia?", None),
    ],
)
def test_a_course_is_known_by_title_part_nickname_typo_or_teacher(
    question: str, course: str | None
) -> None:
    assert read(question).course == course


def test_what_a_question_has_of_a_title_besides_the_course_it_names_is_asked_about() -> (
    None
):
    inquiry = read("Which sorts of language models are there in the tools course?")

    assert inquiry.course == MODELS
    assert "language models" in inquiry.topic


def test_a_topic_in_another_language_is_searched_for_in_its_own_words() -> None:
    question = "\u00bfQu\u00e9 es un cortacircuitos?"

    inquiry = read(question)

    assert (inquiry.kind, inquiry.question) == ("plain", question)


def test_a_name_that_two_courses_share_means_both() -> None:
    inquiry = read("Who teaches the retrieval course?")

    assert inquiry.course is None
    assert set(inquiry.courses) == {RETRIEVAL, "Retrieval in Small"}


def test_a_hyphened_word_of_a_title_may_be_written_as_one() -> None:
    assert read("Who teaches the richcontext apps course?").course == MCP


def test_courses_may_be_named_by_the_first_name_of_who_teaches_them() -> None:
    assert read("courses by Priya").courses == (MODELS,)
    assert read("What is said by Priya Nobody?").courses == ()


def test_without_a_catalogue_what_may_be_a_course_is_searched_for() -> None:
    assert understand("What does the lesson say of backoff?").kind == "plain"


def test_other_courses_of_a_teacher_are_all_that_the_teacher_has() -> None:
    inquiry = read("Are there any other courses by Priya Raghunathan?")

    assert (inquiry.kind, inquiry.courses) == ("outline", (MODELS,))


@pytest.mark.parametrize(
    ("message", "talk"),
    [
        ("Thanks!", "thanks"),
        ("Hello there", "hello"),
        ("who are you?", "who"),
        ("What can you do?", "abilities"),
        ("thank you, bye", "thanks"),
        ("Goodbye", "bye"),
        ("Hola", "hello"),
        ("Vielen Dank!", "thanks"),
        ("Merci beaucoup", "thanks"),
        ("Thanks mate, you're a star! That helped a lot.", "thanks"),
        ("Cheers, that was really clear.", "thanks"),
        ("Thanks, that helped. What is a saga?", None),
        ("Hello, what is a saga?", None),
        ("What is a thank-you message?", None),
    ],
)
def test_small_talk_is_told_from_questions(message: str, talk: str | None) -> None:
    assert read(message).talk == talk


def test_two_adjectives_share_the_noun_behind_the_second() -> None:
    shared = read("What is the difference between linear and logistic regression?")
    apart = read("What is the difference between docker and virtual machines?")

    assert [side.topic for side in shared.sides] == [
        "linear regression",
        "logistic regression",
    ]
    assert [side.topic for side in apart.sides] == ["docker", "virtual machines"]


def test_a_misspelt_word_is_read_as_the_nearest_that_the_courses_hold() -> None:
    known = {"what", "circuit", "breaker"}

    def weigh(term: str) -> float:
        return 1.0 if term in known else 9.0

    question = "What is a circit braker in Raft by Ethanol?"

    said = corrected(question, weigh, CATALOGUE, ())

    assert said == "What is a circuit breakers in Raft by Ethanol?"


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("wat is teh first leson of Practcal Retreival", "what is the first lesson of practical retrieval"),
        ("whcih cource covers sagas", "which course covers sagas"),
        ("who teachs langauge modles and tols", "who teaches language models and tools"),
        ("what do the callers of Wendy wait for", "what do the callers of Wendy wait for"),
        ("what does Coarse say", "what does Coarse say"),
        ("does it actualy wait", "does it actually wait"),
        ("diffrence betwen models", "difference between models"),
    ],
)  # fmt: skip
def test_little_words_are_misspelt_like_long_ones_and_names_are_not(
    question: str, said: str
) -> None:
    known = {"practic", "inform", "retriev", "saga", "languag", "model", "tool", "wait"}

    def weigh(term: str) -> float:
        return 1.0 if term in known else 9.0

    assert corrected(question, weigh, CATALOGUE, ()) == said


@settings(max_examples=60, deadline=None)
@given(LETTERS)
def test_no_text_breaks_the_reading(text: str) -> None:
    understand(text, (text[::-1],), CATALOGUE, text)


@pytest.mark.parametrize(
    "hostile",
    [
        "the course " * 2_000,
        "lesson of the course about " * 1_000,
        "what comes after lesson " * 1_000,
        "and what is " * 2_000,
        "hello, " * 3_000,
        "is the first of the last of " * 1_000,
        "\u201c" * 20_000,
        "Language Models and Tools " * 1_000,
        "which course that " * 2_000,
        "look at lesson 1 of it. then " * 1_000,
        "see, then see, then see what, " * 1_000,
    ],
)
@pytest.mark.parametrize("catalogue", [EMPTY, CATALOGUE])
def test_reading_a_hostile_question_takes_no_time(
    hostile: str, catalogue: Catalogue
) -> None:
    start = time.process_time()

    understand(hostile, (hostile, hostile), catalogue, hostile)

    assert time.process_time() - start < 0.5


@pytest.mark.parametrize(
    "question",
    [
        "When a page hides orders and a bot obeys, that has a name. Who came up with it first?",
        "Where I work, servers die under load. Which patterns help against overload?",
    ],
)
def test_a_statement_is_the_background_of_the_question_behind_it(question: str) -> None:
    inquiry = read(question)

    assert inquiry.parts == ()
    assert inquiry.question == question


def test_what_there_is_two_of_is_compared_where_the_difference_is_asked() -> None:
    inquiry = read("hey so there are queues and logs. What's the difference?")

    assert [side.topic for side in inquiry.sides] == ["queues", "logs"]


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("dead letter queue tldr", "dead letter queue"),
        ("eli5: backpressure", "backpressure"),
        ("In short, what is a saga?", "what is a saga?"),
        ("What is a saga, in a few words?", "What is a saga?"),
        ("tldr", "tldr"),
        ("How are locks held briefly by a reader?", "How are locks held briefly by a reader?"),
    ],
)  # fmt: skip
def test_the_form_of_an_answer_is_none_of_what_is_sought(
    question: str, asked: str
) -> None:
    assert read(question).question == asked


@pytest.mark.parametrize(
    "question",
    [
        "One of the courses keeps going on about bike hire. Who's the teacher in that one?",
        "They talk about bike hire all the time. Who teaches that course?",
    ],
)
def test_a_course_is_found_by_what_is_said_in_front_of_the_question(
    question: str,
) -> None:
    inquiry = read(question)

    assert inquiry.kind == "find"
    assert "bike hire" in inquiry.topic
    assert "teacher" in inquiry.asks


def test_what_is_denied_is_not_asked_for() -> None:
    inquiry = read("Link to the reliability course? All of it, not a single lesson.")

    assert (inquiry.course, inquiry.lesson) == (RELIABILITY, None)
    assert inquiry.asks == {"link"}


def test_the_name_of_what_is_said_in_front_is_no_title_of_a_course() -> None:
    inquiry = read("You scramble what you know of a person. What is the name for that?")

    assert inquiry.kind == "plain"
