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
        lessons=(
            FakeLesson(0, "Introduction"),
            FakeLesson(1, "Ranking. And more.", "https://example.org/search/1"),
        ),
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
        "queries",
        "course_name",
        "lesson_number",
        "part",
        "why",
    ]
    assert search["input_schema"]["required"] == ["query"]
    assert all(
        "description" in schema
        for schema in search["input_schema"]["properties"].values()
    )
    lesson = search["input_schema"]["properties"]["lesson_number"]
    assert lesson["type"] == "integer"
    assert not lesson.keys() & {"anyOf", "default"}


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


async def test_a_course_and_a_lesson_that_are_blank_are_not_named() -> None:
    library = FakeLibrary(COURSES, (passage("One."),))

    await session(library).call(
        "search_course_content",
        '{"query": "rank", "queries": [], "course_name": "", "lesson_number": null, "part": ""}',
    )

    assert library.asked == [("search", "rank", None, None)]


async def test_finding_nothing_is_no_failure() -> None:
    outcome = await session(FakeLibrary(COURSES)).call(
        "search_course_content",
        '{"query": "rank", "course_name": "practical", "lesson_number": 1}',
    )

    assert isinstance(outcome, ToolSucceeded)
    assert (
        outcome.output.text
        == "Nothing was found for 'rank' in lesson 1 of the course 'Practical Search'."
    )
    assert outcome.passages == ()


@pytest.mark.parametrize(
    ("lesson", "number"),
    [
        ("1", 1),
        ('"1"', 1),
        ('"lesson one"', 1),
        ('"the last lesson"', 1),
        ("-1", 1),
        ('"first"', 0),
        ('"Introduction"', 0),
        ('"intro to it"', None),
        ('"rankng"', 1),
        ("7", None),
    ],
)
async def test_a_lesson_is_named_by_number_word_place_or_title(
    lesson: str, number: int | None
) -> None:
    library = FakeLibrary(COURSES, (passage("One."),))

    outcome = await session(library).call(
        "search_course_content",
        f'{{"query": "rank", "course_name": "search", "lesson_number": {lesson}}}',
    )

    if number is None:
        assert isinstance(outcome, ToolFailed)
        assert "in 'Practical Search': it has lessons 0 to 1." in outcome.detail
    else:
        assert library.asked == [("search", "rank", "Practical Search", number)]


@pytest.mark.parametrize(
    ("lesson", "said"),
    [
        ("7", "No course has a lesson 7."),
        (
            '"last"',
            "Not one lesson of all courses is meant by 'last'. Name its course, too.",
        ),
        (
            '"cooking"',
            "Not one lesson of all courses is meant by 'cooking'. The nearest are: 0 Introduction (Practical Search); "
            "1 Ranking. And more. (Practical Search). Name its course, too.",
        ),
    ],
)
async def test_a_lesson_that_no_course_has_or_several_have_is_not_found(
    lesson: str, said: str
) -> None:
    outcome = await session(FakeLibrary(COURSES)).call(
        "search_course_content", f'{{"query": "rank", "lesson_number": {lesson}}}'
    )

    assert isinstance(outcome, ToolFailed)
    assert (outcome.failure, outcome.detail) == ("not_found", said)


async def test_a_title_that_one_lesson_of_all_has_names_its_course_too() -> None:
    library = FakeLibrary(COURSES, (passage("One."),))

    await session(library).call(
        "search_course_content", '{"query": "rank", "lesson_number": "introduction"}'
    )

    assert library.asked == [("search", "rank", "Practical Search", 0)]


async def test_a_second_round_is_brought_new_passages_alone_and_told_so() -> None:
    library = FakeLibrary(COURSES, (passage("One."), passage("Two.")))
    here = session(library)
    here.request("t1", "search_course_content", '{"query": "first"}')
    await here.done()
    here.confirm("t1")
    library.passages = (*library.passages, passage("Three."))

    here.request("t2", "search_course_content", '{"query": "second"}', round_number=2)
    here.request("t3", "search_course_content", '{"query": "third"}', round_number=2)
    await here.done()

    _, second, third = here.heard(ToolSucceeded)
    assert second.passages == third.passages == (passage("Three."),)
    assert second.output.text == (
        "Passages that earlier rounds found are not repeated here.\n\n[Course A - Lesson 1]\nThree."
    )


async def test_a_second_round_that_brings_nothing_new_says_that_it_is_nothing_new() -> (
    None
):
    here = session(FakeLibrary(COURSES, (passage("One."),)))
    here.request("t1", "search_course_content", '{"query": "first"}')
    await here.done()
    here.confirm("t1")

    here.request("t2", "search_course_content", '{"query": "second"}', round_number=2)
    await here.done()

    _, second = here.heard(ToolSucceeded)
    assert second.passages == ()
    assert second.output.text == (
        "Nothing was found for 'second' beside what earlier rounds found."
    )


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
        "Lessons: 2 (0 to 1)\n",
        "Lesson 0: Introduction\n",
        "Lesson 1: Ranking. And more.\n",
        "Link of lesson 1: https://example.org/search/1",
    ]


async def test_without_a_name_all_courses_are_listed_with_their_counts() -> None:
    outcome = await session(FakeLibrary(COURSES)).call("get_course_outline")

    assert isinstance(outcome, ToolSucceeded)
    (found,) = outcome.passages
    assert (found.kind, found.source, found.course) == ("outline", "All courses", None)
    assert outcome.output.text == f"[All courses]\n{found.text.text}"
    assert found.text.text.splitlines() == [
        "Courses: 2, with 2 lessons in all",
        "Course: Practical Search. Lessons: 2 (0 to 1). Instructor: Ada Byron. Link: https://example.org/search",
        "Lessons of Practical Search: 0 Introduction; 1 Ranking. And more.",
        "Course: Event-Driven Systems. Lessons: 0",
    ]


async def test_many_courses_are_listed_in_brief_and_those_left_out_are_counted() -> (
    None
):
    lessons = tuple(FakeLesson(n, f"Lesson title {n}") for n in range(20))
    courses = tuple(
        FakeCourse(f"Course number {n} of a large library", lessons=lessons)
        for n in range(300)
    )

    outcome = await session(FakeLibrary(courses)).call("get_course_outline")

    assert isinstance(outcome, ToolSucceeded)
    (found,) = outcome.passages
    head, *listed, last = found.text.text.splitlines()
    assert head == "Courses: 300, with 6000 lessons in all"
    assert listed[0] == (
        "Course: Course number 0 of a large library. Lessons: 20 (0 to 19)"
    )
    assert last == (
        f"{300 - len(listed)} more courses are not listed here: search for one."
    )
    assert 50 < len(listed) < 300
    assert not outcome.output.text.endswith("]")


async def test_without_any_course_there_is_nothing_to_list() -> None:
    outcome = await session(FakeLibrary()).call("get_course_outline")

    assert isinstance(outcome, ToolFailed)
    assert (outcome.failure, outcome.detail) == (
        "not_found",
        "There are no courses yet.",
    )


async def test_the_beginning_of_a_lesson_is_read_whatever_the_query() -> None:
    library = FakeLibrary(COURSES, (passage("One."),))

    await session(library).call(
        "search_course_content",
        '{"query": "anything", "course_name": "search", "lesson_number": 1, "part": "beginning"}',
    )

    (asked,) = library.asked
    how, _, course, lesson = asked
    assert how == "lesson_part beginning"
    assert course is not None
    assert lesson == 1


async def test_a_part_of_no_lesson_by_name_is_a_search() -> None:
    library = FakeLibrary(COURSES, (passage("One."),))

    await session(library).call(
        "search_course_content", '{"query": "rank", "part": "end"}'
    )

    assert library.asked == [("search", "rank", None, None)]


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
        "search_course_content", '{"query": "rank", "lesson_number": 1}'
    )

    assert isinstance(outcome, ToolSucceeded)
    assert outcome.name == "keyword_search"
    assert library.asked == [("keyword_search", "rank", None, 1)]
