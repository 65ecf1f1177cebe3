"""Which tools the offline reasoner asks for."""

from __future__ import annotations

import pytest

from tests.unit.engine.briefings import (
    CATALOGUE,
    EVENTS,
    MODELS,
    OUTLINE,
    RELIABILITY,
    RETRIEVAL,
    SEARCH,
)
from tests.unit.engine.planned import Calls, outlined, planned, search

LOOK_UP = f"Which other course treats the topic of lesson 1 of {EVENTS}?"


@pytest.mark.parametrize(
    ("question", "course"),
    [
        ("What lessons does Practical Information Retrieval have?", RETRIEVAL),
        ("Give me the outline of Language Models and Tools.", MODELS),
        ("Who teaches Reliability Engineering for Services?", RELIABILITY),
        ("How many lessons are there in the course on event-driven systems?", EVENTS),
        ("I would like the table of contents of the reliability course.", RELIABILITY),
        ('What is the syllabus of the course "Language Models and Tools"?', MODELS),
        ("who teaches the langauge models course", MODELS),
        ("What is the last lesson of the PIR course called?", RETRIEVAL),
        ("Give me the link of lesson 2 of Language Models and Tools", MODELS),
        ("What is the title of lesson two of Practical Information Retrieval?", RETRIEVAL),
        ("What comes after Circuit Breakers in the lessons?", RELIABILITY),
        ("What was covered in lesson 12 of Practical Information Retrieval?", RETRIEVAL),
        ("Who is Daniel Okonjo?", RETRIEVAL),
    ],
)  # fmt: skip
def test_a_question_that_the_catalogue_answers_asks_for_the_outline(
    question: str, course: str
) -> None:
    assert planned(question) == [outlined(course)]


def test_a_name_that_no_course_has_is_left_to_the_outline_tool_and_searched_for() -> (
    None
):
    assert planned("Give me the outline of Basket Weaving.") == [
        outlined("Basket Weaving"),
        search("Basket Weaving"),
    ]


@pytest.mark.parametrize(
    "question",
    ["List all courses.", "How many courses are there?", "Which courses do you have?"],
)
def test_all_courses_are_asked_for_by_the_outline_tool_without_a_name(
    question: str,
) -> None:
    optional = OUTLINE | {"input_schema": OUTLINE["input_schema"] | {"required": []}}

    assert planned(question, tools=(optional, SEARCH)) == [("get_course_outline", {})]


def test_where_the_outline_tool_must_have_a_name_each_course_is_asked_for() -> None:
    calls = planned("List all courses.")

    assert calls == [outlined(each.title) for each in CATALOGUE.courses]


def test_a_plain_question_is_searched_as_it_is() -> None:
    assert planned("Who came up with sagas, and when?") == [
        search("Who came up with sagas, and when?")
    ]


@pytest.mark.parametrize(
    "question",
    [
        "What did President Biden sign?",
        "Who is Kim Jong-chul?",
        "What does Apache Kafka keep in New York City?",
        "How reliable is an inverted index?",
        "Which golf course did Alister MacKenzie design?",
    ],
)
def test_a_name_that_is_no_course_stays_in_the_query_and_is_no_filter(
    question: str,
) -> None:
    ((tool, arguments), *_) = planned(question)

    assert (tool, arguments) == ("search_course_content", {"query": question})


def test_a_question_naming_a_course_is_searched_there() -> None:
    question = "In the event-driven course, what becomes of extra group members?"

    assert planned(question) == [
        search("what becomes of extra group members?", course_name=EVENTS)
    ]


def test_the_course_of_a_teacher_is_named_by_the_teacher() -> None:
    question = "In the course that Daniel Okonjo teaches, what is said about pooling?"

    assert planned(question) == [
        search("what is said about pooling?", course_name=RETRIEVAL)
    ]


@pytest.mark.parametrize("named", ["lesson 3", "lesson three", "the last lesson"])
def test_a_question_about_one_lesson_is_searched_in_that_lesson(named: str) -> None:
    question = (
        f"According to {named} of {RETRIEVAL}, whose experiments set the pattern?"
    )

    ((tool, arguments),) = planned(question)

    assert tool == "search_course_content"
    assert "whose experiments set the pattern?" in str(arguments["query"])
    assert (arguments["course_name"], arguments["lesson_number"]) == (RETRIEVAL, 3)


@pytest.mark.parametrize(
    "question",
    [
        "What was covered in lesson 2 of Practical Information Retrieval?",
        "Summarize lesson 2 of Practical Information Retrieval.",
        "What is the second lesson of the information retrieval course about?",
        "Summarise the lesson Ranking with BM25",
    ],
)
def test_a_whole_lesson_is_searched_by_its_title_and_named_by_the_outline(
    question: str,
) -> None:
    assert planned(question) == [
        outlined(RETRIEVAL),
        search("Ranking with BM25", course_name=RETRIEVAL, lesson_number=2),
    ]


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("What is the difference between retries and timeouts?", [search("retries"), search("timeouts")]),
        ("Compare BM25 with embeddings: which is better?", [search("BM25"), search("embeddings")]),
        ("Queues versus logs?", [search("Queues"), search("logs")]),
        ("Is the recall of an index the same thing as the recall of a judge?",
         [search("recall of an index"), search("recall of a judge")]),
        (f"What is the difference between backpressure as taught in {EVENTS} and shedding as taught in {RELIABILITY}?",
         [search("backpressure", course_name=EVENTS), search("shedding", course_name=RELIABILITY)]),
        ("Compare lesson 1 and lesson 2 of the reliability course.",
         [search("Timeouts and Deadlines", course_name=RELIABILITY, lesson_number=1),
          search("Circuit Breakers", course_name=RELIABILITY, lesson_number=2)]),
    ],
)  # fmt: skip
def test_a_comparison_searches_both_sides_in_one_round(
    question: str, sides: Calls
) -> None:
    assert planned(question) == sides


def test_several_questions_are_each_planned_in_one_round() -> None:
    question = "What is jitter and how does BM25 rank? Who teaches the MCP course?"

    assert planned(question) == [
        search("What is jitter"),
        search("how does BM25 rank?"),
        outlined("MCP: Build Rich-Context Apps"),
    ]


def test_a_look_up_asks_for_the_outline_and_for_what_the_lesson_says() -> None:
    assert planned(LOOK_UP) == [
        outlined(EVENTS),
        search("Broker Queues and Logs", course_name=EVENTS, lesson_number=1),
    ]


@pytest.mark.parametrize(
    ("earlier", "question", "calls"),
    [
        ("Which lessons does Event-Driven Systems have?", "And the second one?", [outlined(EVENTS)]),
        ("Who teaches the MCP course?", "And the retrieval in small one?", [outlined("Retrieval in Small")]),
        ("Who teaches the MCP course?", "How many lessons does it have?", [outlined("MCP: Build Rich-Context Apps")]),
        ("What is jitter?", "What is a circuit breaker?", [search("What is a circuit breaker?")]),
        (f"In {RETRIEVAL}, what is pooling?", "Why is it done?",
         [search("what is pooling? Why is it done?", course_name=RETRIEVAL)]),
        (f"Summarize lesson 1 of {RETRIEVAL}", "And lesson 2?",
         [outlined(RETRIEVAL), search("Ranking with BM25", course_name=RETRIEVAL, lesson_number=2)]),
    ],
)  # fmt: skip
def test_a_follow_up_is_understood_with_the_question_before_it(
    earlier: str, question: str, calls: Calls
) -> None:
    assert planned(question, earlier=earlier) == calls


@pytest.mark.parametrize(
    "words", ["Hello!", "thanks", "Good morning", "Who are you?", "what can you do"]
)
def test_a_greeting_needs_no_tool(words: str) -> None:
    assert planned(words) == []
