"""Requests as a briefing makes them, for tests of the offline reasoner."""

from __future__ import annotations

from typing import Any, Literal

from antiphon.engine.offline.known import Course, Lesson
from antiphon.engine.offline.names import Catalogue
from antiphon.language.markup import Attempt, wrap, write_attempts
from antiphon.vocabulary.ports import Json

EVENTS = "Event-Driven Systems from First Principles"
MCP = "MCP: Build Rich-Context Apps"
MODELS = "Language Models and Tools"
RETRIEVAL = "Practical Information Retrieval"
RELIABILITY = "Reliability Engineering for Services"

SEARCH: Json = {
    "name": "search_course_content",
    "description": "Searches the course texts.",
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "course_name": {"type": "string"},
            "lesson_number": {"type": "integer"},
            "why": {"type": "string"},
        },
        "required": ["query"],
    },
}
OUTLINE: Json = {
    "name": "get_course_outline",
    "description": "Lists a course's lessons.",
    "input_schema": {
        "type": "object",
        "properties": {"course_name": {"type": "string"}},
        "required": ["course_name"],
    },
}
TOOLS = (OUTLINE, SEARCH)


def course(title: str, teacher: str, *lessons: str, first: int = 1) -> Course:
    """A course of the catalogue, its lessons numbered from `first`."""
    titles = [Lesson(at, name) for at, name in enumerate(lessons, start=first)]
    return Course(title, (teacher,), tuple(titles))


CATALOGUE = Catalogue(
    (
        course(
            EVENTS,
            "Marta Lindqvist",
            "Introduction: Events and Queries",
            "Broker Queues and Logs",
            "Sagas and Compensating Actions",
            "Backpressure and Bounded Queues",
            first=0,
        ),
        course(
            MODELS,
            "Priya Raghunathan",
            "Tokens and the Context Window",
            "Prompt Caching",
        ),
        course(MCP, "Elie Sample", "Introduction", "Why MCP"),
        course(
            RETRIEVAL,
            "Daniel Okonjo",
            "The Inverted Index",
            "Ranking with BM25",
            "Measuring Ranking Quality",
        ),
        course(
            RELIABILITY,
            "Tom\u00e1s Ferreira",
            "Timeouts and Deadlines",
            "Circuit Breakers",
            "Blameless Postmortems",
        ),
        course("Retrieval in Small", "Ann Other", "Only Words", "Only Vectors"),
    )
)


def source(label: str, *sentences: str, title: str = "t") -> Json:
    """A `search_result` block, one text block a sentence."""
    content = [{"type": "text", "text": sentence} for sentence in sentences]
    return {
        "type": "search_result", "source": label, "title": title, "content": content, "citations": {"enabled": True},
    }  # fmt: skip


def outline(course: str, *titles: str) -> Json:
    """An outline, as the outline tool tells it."""
    lines = [
        f"Lesson {number}: {title}\n" for number, title in enumerate(titles, start=1)
    ]
    return source(
        course, f"Course: {course}\n", "Instructor: Marta Lindqvist\n", *lines
    )


def attempt(
    round_number: int = 1,
    outcome: Literal["found", "nothing", "failed", "repeated"] = "found",
    tool: str = "search_course_content",
    **more: Any,
) -> Attempt:
    """An attempt whose arguments are `more`, with its facts as `facts` and what was said of it as `detail`."""
    facts, detail = more.pop("facts", ()), more.pop("detail", "")
    return Attempt(
        round=round_number,
        tool=tool,
        arguments=more,
        outcome=outcome,
        facts=facts,
        detail=detail,
    )


def briefing(
    question: str,
    *sources: Json,
    attempts: tuple[Attempt, ...] = (),
    earlier: str = "",
    tools: tuple[Json, ...] = TOOLS,
) -> Json:
    """A whole request."""
    head = (
        [
            {
                "type": "text",
                "text": wrap("conversation", f"Question: {earlier}\nAnswer: Yes."),
            }
        ]
        if earlier
        else []
    )
    notes = (write_attempts(attempts) + "\n" if attempts else "") + wrap(
        "round", "Round 1 of 2: tools may be used."
    )
    content = [
        *head,
        {"type": "text", "text": wrap("question", question)},
        *sources,
        {"type": "text", "text": notes},
    ]
    request: Json = {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": content}],
    }
    return request | ({"tools": list(tools)} if tools else {})
