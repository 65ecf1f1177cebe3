"""Plans the next tool calls by rule, from one request alone; no calls mean that it is time to answer."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from antiphon.engine.offline.asked import Inquiry
from antiphon.engine.offline.known import Course, Lesson
from antiphon.engine.offline.own_tools import calls_of_own_tools, only_tool_that_fits
from antiphon.engine.offline.task import (
    COURSE_TOOLS,
    OUTLINE,
    SEARCH,
    Planned,
    Source,
    Task,
)
from antiphon.vocabulary.tool_calls import call_identity

# Even if the query allows more: after two searches by rule a third finds nothing new.
MOST_ROUNDS = 2
MOST_CALLS = 8
MOST_COURSES = 6
MOST_TITLED = 3
"""Most outlines to fetch, and most lessons to name, because of the topic in a lesson's title."""
_MOST_QUERY_CHARS = 1_200
"""Below the limit in the tool's own schema."""


def plan(inquiry: Inquiry, task: Task) -> tuple[Planned, ...]:
    """Returns the calls of the next round; empty when it is time to answer."""
    needs_none = inquiry.kind in ("greeting", "conversation")
    if not task.tools or not task.question or needs_none:
        return ()
    if task.rounds_done >= MOST_ROUNDS:
        return ()
    if task.attempts or task.sources:
        calls = _second_round(inquiry, task)
    elif task.tool_names & COURSE_TOOLS:
        calls = _first_round(inquiry, task)
        calls += calls_of_own_tools(inquiry, task.own_tools)
    else:
        calls = only_tool_that_fits(task)
    return tuple(_not_made_before(calls, task)[:MOST_CALLS])


def _first_round(inquiry: Inquiry, task: Task) -> list[Planned]:
    # Each call states its reason, for the trace and the next briefing.
    if inquiry.kind == "catalogue":
        return _outlines(inquiry, task)
    course = inquiry.course
    if inquiry.kind == "lesson" and course is not None:
        return _read_lesson(inquiry, course)
    calls = _outlines_of_titled(inquiry, task)
    if inquiry.place.described:
        why = "To find the lesson that is described"
        calls.append(_search(inquiry.place.described, why))
    elif inquiry.is_elsewhere:
        for each in task.catalogue.courses[:MOST_COURSES]:
            if each != course:
                why = "Other courses are asked about"
                calls.append(_search(inquiry.sought, why, each.title))
    elif _names_part(inquiry, task):
        title = None if course is None else course.title
        why = "The question names this place"
        calls.append(_search(inquiry.sought, why, title, inquiry.lesson))
    # Also searches for the whole question everywhere: the name of a place in it may be its topic.
    return [*calls, _search(inquiry.sought, "To find what answers the question")]


def _outlines_of_titled(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Returns the calls that fetch the names of lessons with the topic in their titles."""
    if inquiry.kind != "find" or not inquiry.asks_titles:
        return []
    titles = [course.title for course, _ in titled(inquiry, task)]
    why = "A lesson of it is called so"
    return [_outline(title, why) for title in dict.fromkeys(titles)][:MOST_TITLED]


def titled(inquiry: Inquiry, task: Task) -> list[tuple[Course, Lesson]]:
    """Returns the lessons with the topic in their titles, in the courses that the question names."""
    named = [inquiry.course, *inquiry.place.others]
    within = [course for course in named if course is not None]
    return task.catalogue.titled(inquiry.topic, within)


def _names_part(inquiry: Inquiry, task: Task) -> bool:
    """Returns True for a question that names only a part of the courses."""
    if inquiry.lesson is not None:
        return True
    return inquiry.course is not None and len(task.catalogue.courses) > 1


def _read_lesson(inquiry: Inquiry, course: Course) -> list[Planned]:
    lesson = course.lesson(inquiry.lesson)
    title = inquiry.question if lesson is None else lesson.title
    why = "It is the lesson that is asked about"
    return [
        _outline(course.title, "To name the lesson"),
        _search(title, why, course.title, inquiry.lesson),
    ]


def _outlines(inquiry: Inquiry, task: Task) -> list[Planned]:
    named = [inquiry.course, *inquiry.place.others]
    titles = [course.title for course in named if course is not None]
    if titles:
        why = "The question is about how the course is built"
        return [_outline(title, why) for title in titles[:MOST_COURSES]]
    for tool in task.tools:
        if tool.name == OUTLINE and "course_name" not in tool.required:
            return [Planned(OUTLINE, {"why": "The question is about all courses"})]
    why = "The question is about all courses, and this is one"
    return [_outline(course.title, why) for course in task.catalogue.courses]


def _second_round(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Follows up on the findings of the first round, if the question asks for more than their text."""
    if inquiry.kind == "catalogue":
        # There is no such course, or no outline: the texts may have the answer.
        if task.has_catalogue:
            return []
        return [_search(inquiry.question, "The catalogue does not say it")]
    found = first_found(task)
    if found is None:
        return []
    calls: list[Planned] = []
    if inquiry.kind == "find" and not (inquiry.asks_place and task.outlines):
        calls.append(_outline(found.course, "It is the course that speaks of it"))
    beside = lesson_beside(inquiry, task)
    if beside is not None:
        why = "It is the lesson beside the one that was found"
        calls.append(_search(inquiry.question, why, found.course, beside))
    return calls


def first_found(task: Task) -> Source | None:
    """Returns the best passage of the first search."""
    for attempt in task.attempts:
        found = [
            source
            for source in task.numbered(attempt.facts)
            if source.lesson is not None
        ]
        if found:
            return found[0]
    return next(iter(task.passages), None)


def lesson_beside(inquiry: Inquiry, task: Task) -> int | None:
    """Returns the number of the lesson next to the one found by its description."""
    found = first_found(task)
    if found is None or found.lesson is None or not inquiry.place.described:
        return None
    course = task.catalogue.course(found.course)
    if course is None or not inquiry.place.step:
        return None
    lesson = course.beside(found.lesson, inquiry.place.step)
    return None if lesson is None else lesson.number


def _search(
    query: str, why: str, course: str | None = None, lesson: int | None = None
) -> Planned:
    arguments: dict[str, object] = {"query": query[:_MOST_QUERY_CHARS]}
    if course is not None:
        arguments["course_name"] = course[:300]
    if lesson is not None:
        arguments["lesson_number"] = lesson
    arguments["why"] = why
    return Planned(SEARCH, arguments)


def _outline(course: str, why: str) -> Planned:
    return Planned(OUTLINE, {"course_name": course, "why": why})


def _not_made_before(calls: Sequence[Planned], task: Task) -> list[Planned]:
    """Returns the calls of offered tools that were not made before."""
    made = {_identity(attempt.tool, attempt.arguments) for attempt in task.attempts}
    fresh: list[Planned] = []
    for call in calls:
        identity = _identity(call.tool, call.arguments)
        if call.tool in task.tool_names and identity not in made:
            made.add(identity)
            fresh.append(call)
    return fresh


def _identity(tool: str, arguments: dict[str, object]) -> object:
    return call_identity(tool, msgspec.json.encode(arguments).decode())
