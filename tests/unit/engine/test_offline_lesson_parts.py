"""How a lesson begins or ends: one call reads it, and it is quoted as it stands."""

from __future__ import annotations

import copy

from antiphon.engine.offline.answering import answer
from antiphon.engine.offline.planning import plan
from antiphon.engine.offline.reading import read_task
from antiphon.engine.offline.task import Task
from antiphon.language.markup import Attempt
from antiphon.vocabulary.ports import Json
from tests.unit.engine.answered import text
from tests.unit.engine.briefings import (
    CATALOGUE,
    RELIABILITY,
    SEARCH,
    TOOLS,
    attempt,
    briefing,
    source,
)

NEXT = "What does the lesson after Circuit Breakers begin with?"
FOUND = "How does the lesson before the one where jitter is explained end?"


def with_part() -> Json:
    search = copy.deepcopy(SEARCH)
    search["input_schema"]["properties"]["part"] = {"type": "string"}
    return search


def asked(
    question: str,
    *blocks: Json,
    tools: tuple[Json, ...] | None = None,
    attempts: tuple[Attempt, ...] = (),
) -> Task:
    if tools is None:
        tools = (with_part(), TOOLS[0])
    request = briefing(question, *blocks, tools=tools, attempts=attempts)
    return read_task(request)._replace(catalogue=CATALOGUE)


def test_the_beginning_of_the_lesson_beside_a_named_one_is_read_at_once() -> None:
    title, number = _lesson_after("Circuit Breakers")

    _, call = plan(asked(NEXT))

    assert call.arguments["course_name"] == RELIABILITY
    assert call.arguments["lesson_number"] == number
    assert call.arguments["query"] == title
    assert call.arguments["part"] == "beginning"


def test_a_tool_that_knows_no_parts_is_asked_for_the_lesson() -> None:
    _, call = plan(asked(NEXT, tools=TOOLS))

    assert "part" not in call.arguments


def test_what_a_lesson_begins_with_is_quoted_from_its_beginning() -> None:
    _, number = _lesson_after("Circuit Breakers")
    begun = source(f"{RELIABILITY} - Lesson {number}", "So, let us start. ", "It is late.")  # fmt: skip
    done = attempt(
        query="x",
        course_name=RELIABILITY,
        lesson_number=number,
        part="beginning",
        facts=(1,),
    )

    said = text(answer(asked(NEXT, begun, attempts=(done,), tools=())).blocks)

    assert said == "It begins: So, let us start. It is late."


def test_the_lesson_beside_one_that_has_to_be_found_is_read_in_the_second_round() -> (
    None
):
    found = source(f"{RELIABILITY} - Lesson 2", "Jitter is explained here.")
    done = attempt(query="jitter is explained", facts=(1,))

    calls = plan(asked(FOUND, found, attempts=(done,)))

    assert calls[-1].arguments["lesson_number"] == 1
    assert calls[-1].arguments["part"] == "end"


def _lesson_after(title: str) -> tuple[str, int]:
    course = CATALOGUE.course(RELIABILITY)
    assert course is not None
    titles = [lesson.title for lesson in course.lessons]
    after = course.lessons[titles.index(title) + 1]
    return after.title, after.number
