"""The course tools: what they find, what they say when there is nothing, and what stands in for the search."""

from __future__ import annotations

import json
import threading

import pytest

from antiphon.dispatcher import Registry, course_tools
from antiphon.vocabulary.events import ToolFailed, ToolSubstituted, ToolSucceeded
from tests.unit.dispatcher.fakes import (
    FakeCourse,
    FakeLesson,
    FakeLibrary,
    Session,
    passage,
)

COURSES = (
    FakeCourse(
        "Practical Search",
        link="https://example.org/search",
        instructor="Ada\nByron",
        lessons=(FakeLesson(0, "Introduction"), FakeLesson(1, "Ranking. And more.")),
    ),
    FakeCourse("Event-Driven Systems"),
)


def session(library: FakeLibrary) -> Session:
    return Session(*course_tools(library))


def test_the_model_is_offered_search_and_outline_only() -> None:
    registry = Registry(course_tools(FakeLibrary()))

    search = next(
        tool
        for tool in json.loads(registry.definitions().text)
        if tool["name"] == "search_course_content"
    )

    assert registry.names == ("get_course_outline", "search_course_content")
    assert list(search["input_schema"]["properties"]) == [
        "query",
        "course_name",
        "lesson_number",
        "why",
    ]
    assert search["input_schema"]["required"] == ["query"]
    assert all(
        "description" in schema
        for schema in search["input_schema"]["properties"].values()
    )


async def test_a_search_brings_passages_headed_by_their_sources_and_does_not_block_the_loop() -> (
    None
):
    library = FakeLibrary(COURSES, (passage("One."), passage("Two.", "Course B")))

    outcome = await session(library).call(
        "search_course_content",
        '{"query": "rank", "course_name": "search", "lesson_number": 1, "why": "to know"}',
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.output.text == "[Course A - Lesson 1]\nOne.\n\n[Course B]\nTwo."
    assert outcome.passages == library.passages
    assert library.asked == [("search", "rank", "Practical Search", 1)]
    assert threading.get_ident() not in library.threads


async def test_finding_nothing_is_no_failure() -> None:
    outcome = await session(FakeLibrary(COURSES)).call(
        "search_course_content",
        '{"query": "rank", "course_name": "event", "lesson_number": 7}',
    )

    assert isinstance(outcome, ToolSucceeded)
    assert (
        outcome.output.text
        == "Nothing was found for 'rank' in lesson 7 of the course 'Event-Driven Systems'."
    )
    assert outcome.passages == ()


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_course_content", '{"query": "q", "course_name": "Cooking"}'),
        ("get_course_outline", '{"course_name": "Cooking"}'),
    ],
)
async def test_a_course_that_is_not_there_is_not_found_and_nothing_stands_in(
    tool: str, arguments: str
) -> None:
    here = session(FakeLibrary(COURSES, broken=True))

    outcome = await here.call(tool, arguments)

    assert isinstance(outcome, ToolFailed)
    assert outcome.failure == "not_found"
    assert (
        outcome.detail
        == "No course named 'Cooking'. The nearest are: Practical Search; Event-Driven Systems."
    )
    assert here.heard(ToolSubstituted) == []


async def test_an_outline_is_one_passage_of_lines() -> None:
    outcome = await session(FakeLibrary(COURSES)).call(
        "get_course_outline", '{"course_name": "practical"}'
    )

    assert isinstance(outcome, ToolSucceeded)
    (found,) = outcome.passages
    assert (found.kind, found.source, found.course, found.lesson) == (
        "outline", "Practical Search", "Practical Search", None,
    )  # fmt: skip
    assert found.link == "https://example.org/search"
    assert [found.sentence(n) for n in range(len(found.starts))] == [
        "Course: Practical Search\n",
        "Instructor: Ada Byron\n",
        "Link: https://example.org/search\n",
        "Lesson 0: Introduction\n",
        "Lesson 1: Ranking. And more.",
    ]


async def test_when_search_fails_the_outline_of_the_course_meant_stands_in() -> None:
    here = session(FakeLibrary(COURSES, broken=True))

    outcome = await here.call(
        "search_course_content", '{"query": "rank", "course_name": "search"}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.name == "get_course_outline"
    (substituted,) = here.heard(ToolSubstituted)
    assert (
        substituted.why
        == "search_course_content failed: KnowledgeError: The index cannot be read."
    )


async def test_when_search_over_all_courses_fails_keywords_stand_in() -> None:
    library = FakeLibrary(COURSES, (passage("One."),), broken=True)

    outcome = await session(library).call(
        "search_course_content", '{"query": "rank", "lesson_number": 2}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.name == "keyword_search"
    assert library.asked == [("keyword_search", "rank", None, 2)]
