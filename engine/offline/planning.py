"""Plans the next tool calls, by rule, from one request alone; no call at all means: answer now."""

from __future__ import annotations

import re

import msgspec

from antiphon.engine.offline.intents import Inquiry, Side, understand
from antiphon.engine.offline.mentions import titles
from antiphon.engine.offline.own_tools import calls_of_own_tools
from antiphon.engine.offline.task import (
    COURSE_TOOLS,
    OUTLINE,
    SEARCH,
    OfferedTool,
    Planned,
    Source,
    Task,
    extract_from,
)
from antiphon.language.evidence import Weigh, telling_words
from antiphon.language.words import terms
from antiphon.vocabulary.tool_calls import (
    EFFECTS_NOTE,
    CallIdentity,
    call_identity,
)

# Whatever more the query allows: after a second search by rule a third finds nothing new.
MOST_ROUNDS = 2
MOST_CALLS = 4
MOST_COURSES = 3

_LITTLE = 0.5
"""Evidence below this calls for a second search in other words."""
_REFERRED = re.compile(r"\b[Ll]esson \d+ of (?=[A-Z])(.{3,120})")


def plan(task: Task, weigh: Weigh | None = None) -> tuple[Planned, ...]:
    """Returns the calls of the next round; none when it is time to answer."""
    if not task.tools or not task.question or task.rounds_done >= MOST_ROUNDS:
        return ()
    inquiry = understand(task.question, task.earlier)
    if inquiry.kind == "greeting":
        return ()
    if task.attempts or task.sources:
        calls = _second_round(inquiry, task, weigh)
    elif task.tool_names & COURSE_TOOLS:
        calls = [*_first_round(inquiry), *calls_of_own_tools(inquiry, task.own_tools)]
    else:
        calls = _call_of_other_tool(task)
    return tuple(_not_made_before(calls, task)[:MOST_CALLS])


def _first_round(inquiry: Inquiry) -> list[Planned]:
    # Each call says why it is made: the reason stands in the trace and in the next briefing.
    course = inquiry.course
    lesson = inquiry.lesson
    match inquiry.kind:
        case "outline":
            return [_outline(course, "The question is about how the course is built")]
        case "look_up":
            return [
                _outline(course, f"To learn what lesson {lesson} is called"),
                *_searches_for_courses(inquiry),
            ]
        case "compare":
            return [_search_side(side) for side in inquiry.sides]
        case "lesson":
            return [
                _search(inquiry.focus, "The question names this lesson", course, lesson)
            ]
        case "across":
            return [_search(inquiry.focus, "To see which courses speak of it")]
        case _:
            return [
                _search(
                    inquiry.focus, "To find what answers the question", course, lesson
                )
            ]


def _searches_for_courses(inquiry: Inquiry) -> list[Planned]:
    """Searches for the names of other courses; none is needed where the question names one."""
    if inquiry.other is not None:
        return []
    return [
        _search(inquiry.question, "Other courses may refer to that lesson"),
        _search("what this course is about", "To learn which other courses there are"),
    ]


def _second_round(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    if inquiry.kind == "compare":
        return _search_weak_sides(inquiry, task, weigh)
    if inquiry.kind == "outline" and task.outline_is_settled:
        return []
    if inquiry.kind == "look_up":
        lesson = task.lesson_line(inquiry.lesson)
        if lesson is not None:
            return _search_elsewhere(lesson.title, inquiry, task)
    # A call that found nothing where it looked is mended before the evidence of the others is weighed.
    widened = _widened_searches(inquiry, task)
    if widened:
        return widened
    if inquiry.kind == "across":
        return _search_missing_courses(inquiry, task)
    return _search_in_fewer_words(inquiry, task, weigh)


def _search_in_fewer_words(
    inquiry: Inquiry, task: Task, weigh: Weigh | None
) -> list[Planned]:
    evidence = extract_from(
        task.passages_of(inquiry.course), inquiry.focus, weigh
    ).evidence
    if evidence >= _LITTLE:
        return []
    return [
        _search(
            _reworded(inquiry.focus, weigh),
            "The first search brought little: in fewer words, everywhere",
        )
    ]


def _search_elsewhere(title: str, inquiry: Inquiry, task: Task) -> list[Planned]:
    """Searches by a lesson's title in the second course of the question, or else in all that are known."""
    why = f"The lesson is called {title!r}: what do other courses say of it"
    if inquiry.other is not None:
        return [_search(title, why, inquiry.other)]
    others = _courses_without(task.sources, task.outlines)[:MOST_COURSES]
    if not others:
        return [_search(title, why)]
    return [_search(title, why, course) for course in others]


def _search_weak_sides(
    inquiry: Inquiry, task: Task, weigh: Weigh | None
) -> list[Planned]:
    calls: list[Planned] = []
    for side in inquiry.sides:
        passages = task.found_for(side.topic, side.course)
        evidence = extract_from(passages, side.topic, weigh).evidence
        if evidence < _LITTLE:
            calls.append(
                _search(_reworded(side.topic, weigh), "This side brought little so far")
            )
    return calls


def _search_missing_courses(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Searches in courses that are known of, and from which nothing was found yet."""
    missing = _courses_without(task.sources, task.passages)[:MOST_COURSES]
    return [
        _search(inquiry.focus, "Nothing was found in this course yet", course)
        for course in missing
    ]


def _courses_without(
    sources: tuple[Source, ...], seen: tuple[Source, ...]
) -> list[str]:
    """Returns the courses that sources belong to or refer to, without those of the sources in `seen`."""
    known: list[str] = [source.course for source in sources]
    for source in sources:
        known += _courses_referred_to(source)
    of_seen = {source.course for source in seen}
    # Each once, in the order of discovery: only the first few are searched.
    return [course for course in dict.fromkeys(known) if course not in of_seen]


def _courses_referred_to(source: Source) -> list[str]:
    """No list of courses is at hand; but lessons refer to others as "Lesson 3 of Another Course"."""
    courses: list[str] = []
    for block in source.blocks:
        for tail in _REFERRED.findall(block):
            named = titles(tail)
            if named and named[0].start == 0:
                courses.append(named[0].name)
    return courses


def _widened_searches(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Repeats without filters each call that failed or found nothing because of what it was narrowed to."""
    searches: list[Planned] = []
    for attempt in task.attempts:
        narrowed = attempt.arguments.keys() & {"course_name", "lesson_number"}
        if attempt.outcome not in ("failed", "nothing") or not narrowed:
            continue
        query = attempt.arguments.get("query")
        if not isinstance(query, str):
            query = inquiry.question
        searches.append(_search(query, "There was nothing there: search everywhere"))
    return searches


def _reworded(question: str, weigh: Weigh | None) -> str:
    return " ".join(telling_words(question, weigh, most=6)) or question


def _not_made_before(calls: list[Planned], task: Task) -> list[Planned]:
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


def _search(
    query: str, why: str, course: str | None = None, lesson: int | None = None
) -> Planned:
    # Cut to what the tool's own schema takes at most, with room to spare.
    arguments: dict[str, object] = {"query": query[:500]}
    if course is not None:
        arguments["course_name"] = course[:200]
    if lesson is not None:
        arguments["lesson_number"] = lesson
    arguments["why"] = why
    return Planned(SEARCH, arguments)


def _search_side(side: Side) -> Planned:
    why = f"One side of the comparison: {side.topic}"
    return _search(side.topic or f"lesson {side.lesson}", why, side.course, side.lesson)


def _outline(course: str | None, why: str) -> Planned:
    return Planned(OUTLINE, {"course_name": course, "why": why})


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
