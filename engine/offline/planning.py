"""Plans the next tool calls, by rule, from one request alone; no call at all means: answer now."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from antiphon.engine.offline.calls import (
    MOST_COURSES,
    lesson_title,
    list_courses,
    outline,
    search,
    search_part,
    search_side,
)
from antiphon.engine.offline.catalogue import CourseEntry
from antiphon.engine.offline.intents import Inquiry
from antiphon.engine.offline.own_tools import calls_of_own_tools
from antiphon.engine.offline.second_round import found_again, second_round
from antiphon.engine.offline.task import (
    COURSE_TOOLS,
    OfferedTool,
    Planned,
    Task,
)
from antiphon.language.evidence import Weigh, telling_words
from antiphon.language.tongues import wordings
from antiphon.language.words import terms
from antiphon.vocabulary.tool_calls import (
    EFFECTS_NOTE,
    CallIdentity,
    call_identity,
)

# Whatever more the query allows: after a second search by rule a third finds nothing new.
MOST_ROUNDS = 2
MOST_CALLS = 8

_INTRODUCTION = "introduction: what this course is about and what you will learn"
_DURATION = "how long it takes: hours, minutes, duration, length"


def plan(task: Task, weigh: Weigh | None = None) -> tuple[Planned, ...]:
    """Returns the calls of the next round; none when it is time to answer."""
    if not task.tools or not task.question or task.rounds_done >= MOST_ROUNDS:
        return ()
    inquiry = task.inquiry
    if inquiry.kind == "greeting":
        return ()
    calls = _in_words_of_courses(_next_calls(inquiry, task, weigh), weigh)
    return tuple(_not_made_before(calls, task)[:MOST_CALLS])


def _in_words_of_courses(
    calls: Sequence[Planned], weigh: Weigh | None
) -> list[Planned]:
    """Returns the calls with what is searched for in another language in the words that the courses have for it."""
    translated: list[Planned] = []
    for call in calls:
        query = call.arguments.get("query")
        if not isinstance(query, str):
            translated.append(call)
            continue
        for wording in wordings(query, weigh):
            arguments = call.arguments | {"query": wording}
            translated.append(call._replace(arguments=arguments))
    return translated


def _next_calls(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    calls: list[Planned] = []
    is_first = not task.attempts and not task.sources
    if is_first and not task.tool_names & COURSE_TOOLS:
        return _call_of_other_tool(task)
    if not is_first:
        return _second_rounds(inquiry.parts or (inquiry,), task, weigh)
    for part in inquiry.parts or (inquiry,):
        calls += _first_round(part, task)
    return [*calls, *calls_of_own_tools(inquiry, task.own_tools)]


def _second_rounds(
    parts: Sequence[Inquiry], task: Task, weigh: Weigh | None
) -> list[Planned]:
    """Returns the calls that follow the first round, question by question; none where it answered all of them."""
    calls: list[Planned] = []
    answered: list[Inquiry] = []
    for part in parts:
        follows = second_round(part, task, weigh)
        calls += follows
        if not follows:
            answered.append(part)
    if not calls:
        return []
    for part in answered:
        calls += found_again(part, task)
    return calls


def _first_round(inquiry: Inquiry, task: Task) -> list[Planned]:
    # Each call says why it is made: the reason stands in the trace and in the next briefing.
    match inquiry.kind:
        case "outline":
            return _look_into_catalogue(inquiry, task)
        case "look_up":
            return _look_lesson_up(inquiry, task)
        case "compare":
            return [search_side(side) for side in inquiry.sides]
        case "lesson":
            return _search_lesson(inquiry, task)
        case "across":
            return _search_across(inquiry, task)
        case "find":
            why = "To find the course that is meant"
            return [search(inquiry.topic, why, inquiry.course)]
        case _:
            return _search_plainly(inquiry)


def _search_across(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Searches all courses at once; where some are left out, each of the others, which they would crowd out."""
    why = "To see which courses speak of it"
    titles = [course.title for course in task.catalogue.courses]
    others = [title for title in titles if title not in inquiry.courses]
    if len(others) == len(titles) or not 0 < len(others) <= MOST_COURSES:
        return [search(inquiry.focus, why)]
    return [search(inquiry.focus, why, course) for course in others]


def _look_into_catalogue(inquiry: Inquiry, task: Task) -> list[Planned]:
    named = list(inquiry.courses)
    # A name that no title holds may still be known by its meaning: the tool finds out.
    if not named and (name := inquiry.course or inquiry.unknown):
        named = [name]
    if not named:
        return list_courses(task)
    why = "The question is about how the course is built"
    calls = [outline(course, why) for course in named[:MOST_COURSES]]
    if len(named) == 1:
        calls += _beside_outline(inquiry, task.catalogue.course(named[0]))
    if inquiry.unknown is not None and task.catalogue:
        why = "It may be what a course is about, and not its name"
        calls.append(search(inquiry.unknown, why))
    return calls


def _beside_outline(inquiry: Inquiry, course: CourseEntry | None) -> list[Planned]:
    """Searches for what is asked of a course and its outline does not hold."""
    if course is None:
        return []
    if "duration" in inquiry.asks:
        query = f"{inquiry.question} {_DURATION}"
        why = "The lessons may say it"
        return [search(query, why, course.title, inquiry.lesson)]
    if inquiry.wants_introduction and course.lessons:
        first = course.lessons[0].number
        why = "Its first lesson says what it is about"
        return [search(_INTRODUCTION, why, course.title, first)]
    return []


def _look_lesson_up(inquiry: Inquiry, task: Task) -> list[Planned]:
    course = task.catalogue.course(inquiry.course)
    calls = [
        outline(inquiry.course, f"To learn what lesson {inquiry.lesson} is called")
    ]
    if course is None:
        return [*calls, *_searches_for_courses(inquiry)]
    title = lesson_title(course, inquiry.lesson)
    why = "To learn what that lesson is about"
    return [*calls, search(title, why, course.title, inquiry.lesson)]


def _searches_for_courses(inquiry: Inquiry) -> list[Planned]:
    """Searches for the names of other courses, where no catalogue is at hand; none where the question names one."""
    if inquiry.other is not None:
        return []
    return [
        search(inquiry.question, "Other courses may refer to that lesson"),
        search("what this course is about", "To learn which other courses there are"),
    ]


def _search_lesson(inquiry: Inquiry, task: Task) -> list[Planned]:
    course = task.catalogue.course(inquiry.course)
    if course is not None and inquiry.part is not None and inquiry.lesson is not None:
        title = lesson_title(course, inquiry.lesson)
        return [
            outline(course.title, "To name the lesson"),
            search_part(course.title, inquiry.lesson, title, inquiry.part, task),
        ]
    why = "The question names this lesson"
    if course is None or telling_words(inquiry.topic):
        return [search(inquiry.focus, why, inquiry.course, inquiry.lesson)]
    # Of a lesson as a whole its title says most, and the answer begins with it.
    title = lesson_title(course, inquiry.lesson)
    return [
        outline(course.title, "To name the lesson"),
        search(title, why, course.title, inquiry.lesson),
    ]


def _search_plainly(inquiry: Inquiry) -> list[Planned]:
    why = "To find what answers the question"
    if inquiry.course is not None or not inquiry.courses:
        return [search(inquiry.focus, why, inquiry.course, inquiry.lesson)]
    # A name that several courses share means each of them.
    return [
        search(inquiry.focus, why, course, inquiry.lesson)
        for course in inquiry.courses[:MOST_COURSES]
    ]


def _not_made_before(calls: Sequence[Planned], task: Task) -> list[Planned]:
    """Returns the calls whose tool is offered, and that were not made before."""
    made = {_identity(attempt.tool, attempt.arguments) for attempt in task.attempts}
    offered = task.tool_names
    fresh: list[Planned] = []
    for call in calls:
        identity = _identity(call.tool, call.arguments)
        if call.tool in offered and identity not in made:
            made.add(identity)
            fresh.append(call)
    return fresh


def _identity(tool: str, arguments: dict[str, object]) -> CallIdentity:
    return call_identity(tool, msgspec.json.encode(arguments).decode())


def _call_of_other_tool(task: Task) -> list[Planned]:
    """Calls the offered tool whose description shares most with the question; none where none shares anything."""
    asked = frozenset(terms(task.question))
    best: OfferedTool | None = None
    most_shared = 0
    for tool in task.tools:
        if not tool.needs_one_text or EFFECTS_NOTE in tool.description:
            continue
        described = frozenset(
            terms(f"{tool.name.replace('_', ' ')} {tool.description}")
        )
        shared = len(asked & described)
        if shared > most_shared:
            best = tool
            most_shared = shared
    if best is None:
        return []
    arguments: dict[str, object] = {best.required[0]: task.question}
    if "why" in best.parameters:
        arguments["why"] = "Its description fits the question"
    return [Planned(best.name, arguments)]
