"""What the offline reasoner takes for a question to the catalogue."""

from __future__ import annotations

import pytest

from antiphon.engine.offline.intents import Inquiry, understand
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


@pytest.mark.parametrize(
    ("question", "asks", "lesson"),
    [
        ("Wer unterrichtet den Reliability-Kurs?", {"teacher"}, None),
        ("Wie viele Lektionen hat Reliability Engineering for Services?", {"lessons"}, None),
        ("Wie hei\u00dft die letzte Lektion von Reliability Engineering for Services?", {"title"}, 3),
        ("Gib mir den Link zum Kurs Reliability Engineering for Services", {"link"}, None),
        ("\u00bfQui\u00e9n ense\u00f1a el curso Reliability Engineering for Services?", {"teacher"}, None),
        ("\u00bfQu\u00e9 lecciones tiene el curso Reliability Engineering for Services?", {"contents"}, None),
        ("Dame el enlace de la lecci\u00f3n 2 del curso Reliability Engineering for Services", {"link"}, 2),
        ("Qui enseigne le cours Reliability Engineering for Services ?", {"teacher"}, None),
        ("Quel est le titre de la le\u00e7on 3 de Reliability Engineering for Services ?", {"title"}, 3),
        ("Chi insegna il corso Reliability Engineering for Services?", {"teacher"}, None),
        ("Quem ensina o curso Reliability Engineering for Services?", {"teacher"}, None),
        ("Worum geht es im Kurs Reliability Engineering for Services?", {"overview"}, None),
        ("Wie geeft de cursus Reliability Engineering for Services?", {"teacher"}, None),
    ],
)  # fmt: skip
def test_a_catalogue_is_asked_in_other_languages(
    question: str, asks: set[str], lesson: int | None
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (set(inquiry.asks), inquiry.lesson) == (asks, lesson)
    assert inquiry.tongue.note


@pytest.mark.parametrize(
    "question",
    ["\u00bfCu\u00e1ntos cursos hay?", "Wie viele Kurse gibt es?", "Combien de cours y a-t-il ?"],
)  # fmt: skip
def test_courses_are_counted_in_other_languages(question: str) -> None:
    inquiry = read(question)

    assert (inquiry.kind, set(inquiry.asks)) == ("outline", {"courses"})


@pytest.mark.parametrize(
    ("question", "asks", "lesson"),
    [
        ("Who is the teacher of the reliability course?", {"teacher"}, None),
        ("who's teaching reliability engineering", {"teacher"}, None),
        ("who gives the reliability course", {"teacher"}, None),
        ("give me the URL of the reliability course", {"link"}, None),
        ("Where can I watch lesson 2 of the reliability course?", {"link"}, 2),
        ("how many lessons are in the reliability course", {"lessons"}, None),
        ("What is lesson two of the reliability course called?", {"title"}, 2),
        ("the title of the last lesson of the reliability course", {"title"}, 3),
        ("Which topics does the reliability course cover?", {"contents"}, None),
        ("How long is the reliability course?", {"duration"}, None),
        ("What is the reliability course about?", {"overview"}, None),
        ("THE SYLLABUS OF THE RELIABILITY COURSE", {"contents"}, None),
        ("hey, who teaches the reliability course, please?", {"teacher"}, None),
    ],
)
def test_what_a_catalogue_knows_is_asked_of_it(
    question: str, asks: set[str], lesson: int | None
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (set(inquiry.asks), inquiry.lesson) == (asks, lesson)


@pytest.mark.parametrize(
    "question",
    [
        "What is the link between recall and precision?",
        "How long must a prompt be before it is cached?",
        "What is the structure of an event?",
        "Who wrote the article on logs?",
        "What are the topics of a broker called?",
        "How many tokens does GPT-2 know?",
    ],
)
def test_the_same_words_about_a_topic_are_searched_for(question: str) -> None:
    assert read(question).kind == "plain"


@pytest.mark.parametrize(
    ("question", "sought", "by_lesson"),
    [
        ("Who teaches the course that explains HNSW?", "HNSW", False),
        ("What's the first lesson of the course that covers HNSW called?", "HNSW", False),
        ("What is the title of the lesson that explains jitter?", "jitter", True),
        ("Which lesson comes right before the one where jitter is explained?", "jitter", True),
    ],
)  # fmt: skip
def test_what_a_course_or_lesson_says_may_be_its_name(
    question: str, sought: str, by_lesson: bool
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.topic) == ("find", sought)
    assert inquiry.by_lesson == by_lesson


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What did the instructor say about secrets in images?", "plain"),
        ("What's the name of the first course?", "plain"),
        ("Does any other course talk about caching besides the MCP course?", "across"),
        ("How is caching treated in the MCP course vs the reliability course?", "compare"),
        ("Compare the MCP course with the reliability course.", "outline"),
    ],
)  # fmt: skip
def test_courses_may_be_named_for_other_reasons_than_to_search_in_one(
    question: str, kind: str
) -> None:
    assert read(question).kind == kind


@pytest.mark.parametrize(
    "question",
    [
        "Which courses talk about bounded queues?",
        "Does another course mention bounded queues?",
        "Which course besides the MCP course covers bounded queues?",
    ],
)
def test_what_is_asked_of_all_courses_is_searched_for_by_its_topic_alone(
    question: str,
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.topic) == ("across", "bounded queues")


def test_what_is_said_of_a_course_is_no_part_of_its_name() -> None:
    uses = read("What does the MCP course, which builds apps, use for context?")
    besides = read("Which course besides Language Models and Tools uses retrieval?")

    assert uses.course == MCP
    assert (besides.courses, besides.topic) == ((MODELS,), "retrieval")


def test_which_lesson_explains_something_asks_for_a_lesson_to_be_found() -> None:
    inquiry = read("Which lesson of the reliability course explains jitter?")

    assert (inquiry.kind, inquiry.by_lesson) == ("find", True)
    assert (inquiry.course, inquiry.topic) == (RELIABILITY, "jitter")


@pytest.mark.parametrize(
    ("question", "asks", "lesson"),
    [
        ("title of L3 in the reliability course", {"title"}, 3),
        ("How can I find the reliability course online?", {"link"}, None),
        ("link to the reliability course pls", {"link"}, None),
        ("the links of all lessons of the reliability course", {"links"}, None),
        ("I'd like the link to the reliability course", {"link"}, None),
        ("whos teaching reliability engineering", {"teacher"}, None),
        ("how many chapters does the reliability course have", {"lessons"}, None),
        ("tell me about the reliability course", {"overview"}, None),
        ("Reliability Engineering for Services", {"overview"}, None),
    ],
)
def test_what_a_catalogue_knows_may_be_asked_carelessly(
    question: str, asks: set[str], lesson: int | None
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.course) == ("outline", RELIABILITY)
    assert (set(inquiry.asks), inquiry.lesson) == (asks, lesson)


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("Do you have a course on reliability?", (RELIABILITY,)),
        ("Which courses are about retrieval?", (RETRIEVAL, "Retrieval in Small")),
        ("Is there a course about cooking?", ()),
    ],
)
def test_a_course_on_something_is_one_whose_title_says_so(
    question: str, titles: tuple[str, ...]
) -> None:
    inquiry = read(question)

    assert inquiry.courses == titles
    assert (inquiry.kind == "outline") == bool(titles)


@pytest.mark.parametrize(
    "question", ["which courses exist", "What's the longest course?"]
)
def test_some_questions_are_answered_by_the_list_of_courses(question: str) -> None:
    assert read(question).asks == {"courses"}


def test_a_course_that_is_none_is_noted_and_stays_in_the_query() -> None:
    inquiry = read("In the cooking course, what is a saga?")

    assert (inquiry.course, inquiry.unknown) == (None, "cooking")
    assert "cooking" in inquiry.focus


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How much does the course on event-driven systems cost?", "not_held"),
        ("Is there a certificate for the MCP course?", "not_held"),
        ("Is the retrieval course free?", "not_held"),
        ("What does the MCP course say about the cost of tokens?", "plain"),
        ("What does a retry cost?", "plain"),
        ("When does a circuit breaker start?", "plain"),
    ],
)
def test_what_no_catalogue_holds_is_told_from_what_courses_say(
    question: str, kind: str
) -> None:
    assert read(question).kind == kind


@pytest.mark.parametrize(
    ("question", "topic", "by_lesson"),
    [
        ("url of the lesson w/ the hystrix defaults", "hystrix defaults", True),
        (
            "Could you let me know who gives the course in which the leak at Acme is discussed, as I want to meet her?",
            "leak at Acme is discussed",
            False,
        ),
        (
            "There's that course with the bikes all over the place. Who's doing it again?",
            "bikes all over the place",
            False,
        ),
        (
            "I have long texts and want to slice them. Where is that taught?",
            "I have long texts and want to slice them.",
            True,
        ),
        (
            "What is the opening lesson of the course in which musl comes up?",
            "musl",
            False,
        ),
    ],
)
def test_what_is_said_of_a_place_that_has_to_be_found_is_all_that_is_searched_for(
    question: str, topic: str, by_lesson: bool
) -> None:
    inquiry = read(question)

    assert (inquiry.kind, inquiry.by_lesson) == ("find", by_lesson)
    assert inquiry.topic == topic


def test_in_charge_of_a_course_is_who_teaches_it() -> None:
    inquiry = read("What course is Marta Lindqvist in charge of?")

    assert (inquiry.kind, inquiry.course) == ("outline", EVENTS)
