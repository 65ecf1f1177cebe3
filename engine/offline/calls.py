"""Writes the calls of the course tools, each with the reason why it is made."""

from __future__ import annotations

from antiphon.engine.offline.catalogue import CourseEntry
from antiphon.engine.offline.intents import Side
from antiphon.engine.offline.task import OUTLINE, PART, SEARCH, Planned, Task
from antiphon.vocabulary.values import LessonPart

MOST_COURSES = 6

_MOST_QUERY_CHARS = 1_200


def search(
    query: str, why: str, course: str | None = None, lesson: int | None = None
) -> Planned:
    """Returns a search, with its reason."""
    # Cut to what the tool's own schema takes at most, with room to spare.
    arguments: dict[str, object] = {"query": query[:_MOST_QUERY_CHARS]}
    if course is not None:
        arguments["course_name"] = course[:300]
    if lesson is not None:
        arguments["lesson_number"] = lesson
    arguments["why"] = why
    return Planned(SEARCH, arguments)


def search_part(
    course: str, lesson: int, title: str, part: LessonPart, task: Task
) -> Planned:
    """Returns the call for the beginning or the end of a lesson; a plain search where the tool knows no such thing."""
    call = search(title, f"To read the {part} of that lesson", course, lesson)
    for tool in task.tools:
        if tool.name == SEARCH and PART in tool.parameters:
            return call._replace(arguments=call.arguments | {PART: part})
    return call


def search_side(side: Side) -> Planned:
    """Returns the search of one side of a comparison."""
    why = f"One side of the comparison: {side.topic[:80]}"
    query = side.topic or f"lesson {side.lesson}"
    return search(query, why, side.course, side.lesson)


def outline(course: str | None, why: str) -> Planned:
    """Returns the call for the outline of a course, with its reason."""
    return Planned(OUTLINE, {"course_name": course, "why": why})


def list_courses(task: Task) -> list[Planned]:
    """Asks for the list of all courses; for the outline of each, where the tool must be given a name."""
    for tool in task.tools:
        if tool.name == OUTLINE and "course_name" not in tool.required:
            return [Planned(OUTLINE, {"why": "The question is about all courses"})]
    why = "The question is about all courses, and this is one"
    return [outline(course.title, why) for course in task.catalogue.courses]


def lesson_title(course: CourseEntry, number: int | None) -> str:
    """Returns what a lesson is called; its number where the catalogue has none such."""
    lesson = course.lesson(number)
    if lesson is None:
        return f"lesson {number}"
    return lesson.title
