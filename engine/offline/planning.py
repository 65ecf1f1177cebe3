"""Plans the next tool calls, by rule, from one request alone; no call at all means: answer now."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec

from antiphon.engine.offline.intents import Inquiry, Side, understand
from antiphon.engine.offline.mentions import titles
from antiphon.engine.offline.task import Source, Task
from antiphon.language.evidence import Weigh, telling_words
from antiphon.language.extract import extract
from antiphon.language.markup import Attempt
from antiphon.language.words import terms
from antiphon.vocabulary.tool_calls import CallIdentity, call_identity

SEARCH = "search_course_content"
OUTLINE = "get_course_outline"
MOST_ROUNDS = 2
MOST_CALLS = 4
MOST_COURSES = 3

_LITTLE = 0.5
"""Evidence below this is worth a second search in other words."""
_REFERRED = re.compile(r"\b[Ll]esson \d+ of (?=[A-Z])(.{3,120})")


class Planned(NamedTuple):
    """A tool call to ask for."""

    tool: str
    arguments: dict[str, object]


def plan(task: Task, weigh: Weigh | None = None) -> tuple[Planned, ...]:
    """Returns the calls of the next round; none when it is time to answer."""
    if not task.tools or not task.question or task.rounds_done >= MOST_ROUNDS:
        return ()
    inquiry = understand(task.question, task.earlier)
    if inquiry.kind == "greeting":
        return ()
    if task.attempts or task.sources:
        calls = _second_round(inquiry, task, weigh)
    elif task.offers(SEARCH) or task.offers(OUTLINE):
        calls = _first_round(inquiry)
    else:
        calls = _call_of_other_tool(task)
    return tuple(_not_made_before(calls, task)[:MOST_CALLS])


def _first_round(inquiry: Inquiry) -> list[Planned]:
    # Each call says why it is made: the reason stands in the trace and in the next briefing.
    course, lesson = inquiry.course, inquiry.lesson
    match inquiry.kind:
        case "outline":
            return [_outline(course, "The question is about how the course is built")]
        case "look_up":
            return [_outline(course, f"To learn what lesson {lesson} is called"), *_searches_for_courses(inquiry)]
        case "compare":
            return [_search_side(side) for side in inquiry.sides]
        case "lesson":
            return [_search(inquiry.focus, "The question names this lesson", course, lesson)]
        case "across":
            return [_search(inquiry.focus, "To see which courses speak of it")]
        case _:
            return [_search(inquiry.focus, "To find what answers the question", course, lesson)]


def _searches_for_courses(inquiry: Inquiry) -> list[Planned]:
    """Searches that tell which other courses there are; none is needed where the question names one."""
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
    title = _title_looked_up(inquiry, task)
    if title is not None:
        return _search_elsewhere(title, inquiry, task)
    # A call that found nothing where it looked is mended before the evidence of the others is weighed.
    widened = [_without_filters(attempt, inquiry) for attempt in task.attempts if _was_too_narrow(attempt)]
    if widened:
        return widened
    if inquiry.kind == "across":
        return _search_missing_courses(inquiry, task)
    if _evidence(inquiry.focus, task.passages_of(inquiry.course), weigh) >= _LITTLE:
        return []
    return [_search(_reworded(inquiry.focus, weigh), "The first search brought little: in fewer words, everywhere")]


def _title_looked_up(inquiry: Inquiry, task: Task) -> str | None:
    """The title of the lesson that was to be looked up; None where there was none, or no outline names it."""
    if inquiry.kind != "look_up" or inquiry.lesson is None:
        return None
    for outline in task.outlines:
        line = outline.lesson_line(inquiry.lesson)
        if line is not None:
            return line[1]
    return None


def _search_elsewhere(title: str, inquiry: Inquiry, task: Task) -> list[Planned]:
    why = f"The lesson is called {title!r}: what do other courses say of it"
    if inquiry.other is not None:
        return [_search(title, why, inquiry.other)]
    others = _courses_without(task.sources, task.outlines)
    return [_search(title, why, course) for course in others[:MOST_COURSES]] or [_search(title, why)]


def _search_weak_sides(inquiry: Inquiry, task: Task, weigh: Weigh | None) -> list[Planned]:
    calls: list[Planned] = []
    for side in inquiry.sides:
        if _evidence(side.topic, task.found_for(side.topic, side.course), weigh) < _LITTLE:
            calls.append(_search(_reworded(side.topic, weigh), "This side brought little so far"))
    return calls


def _search_missing_courses(inquiry: Inquiry, task: Task) -> list[Planned]:
    """Searches in courses that are known of, and from which nothing was found yet."""
    missing = _courses_without(task.sources, task.passages)
    return [_search(inquiry.focus, "Nothing was found in this course yet", course) for course in missing[:MOST_COURSES]]


def _courses_without(sources: tuple[Source, ...], seen: tuple[Source, ...]) -> list[str]:
    """The courses that sources belong to or refer to, without those of the sources in `seen`."""
    known = dict.fromkeys([source.course for source in sources])
    # No list of courses is at hand; but lessons refer to others as "Lesson 3 of Another Course".
    for source in sources:
        for block in source.blocks:
            for tail in _REFERRED.findall(block):
                named = titles(tail)
                if named and named[0].start == 0:
                    known.setdefault(named[0].name)
    for source in seen:
        known.pop(source.course, None)
    return list(known)


def _was_too_narrow(attempt: Attempt) -> bool:
    """True for a call that failed or found nothing because of what it was narrowed to."""
    narrowed = "course_name" in attempt.arguments or "lesson_number" in attempt.arguments
    return attempt.outcome in ("failed", "nothing") and narrowed


def _without_filters(attempt: Attempt, inquiry: Inquiry) -> Planned:
    query = attempt.arguments.get("query")
    if not isinstance(query, str):
        query = inquiry.question
    return _search(query, "There was nothing there: search everywhere")


def _evidence(question: str, sources: tuple[Source, ...], weigh: Weigh | None) -> float:
    passages = [source.blocks for source in sources]
    return extract(question, passages, weigh, titles=[source.label for source in sources]).evidence


def _reworded(question: str, weigh: Weigh | None) -> str:
    return " ".join(telling_words(question, weigh, most=6)) or question


def _not_made_before(calls: list[Planned], task: Task) -> list[Planned]:
    """The calls whose tool is offered, and that were not made before."""
    made = {_identity(attempt.tool, attempt.arguments) for attempt in task.attempts}
    fresh: list[Planned] = []
    for call in calls:
        identity = _identity(call.tool, call.arguments)
        if task.offers(call.tool) and identity not in made:
            made.add(identity)
            fresh.append(call)
    return fresh


def _identity(tool: str, arguments: dict[str, object]) -> CallIdentity:
    return call_identity(tool, msgspec.json.encode(arguments).decode())


def _search(query: str, why: str, course: str | None = None, lesson: int | None = None) -> Planned:
    arguments: dict[str, object] = {"query": query[:500]}
    if course is not None:
        arguments["course_name"] = course[:200]
    if lesson is not None:
        arguments["lesson_number"] = lesson
    return Planned(SEARCH, arguments | {"why": why})


def _search_side(side: Side) -> Planned:
    why = f"One side of the comparison: {side.topic}"
    return _search(side.topic or f"lesson {side.lesson}", why, side.course, side.lesson)


def _outline(course: str | None, why: str) -> Planned:
    return Planned(OUTLINE, {"course_name": course, "why": why})


def _call_of_other_tool(task: Task) -> list[Planned]:
    """Calls the offered tool whose description shares most with the question; none where none shares anything."""
    asked = frozenset(terms(task.question))
    best, most = None, 0
    for tool in task.tools:
        described = frozenset(terms(f"{tool.name.replace('_', ' ')} {tool.description}"))
        if tool.needs_one_text and len(asked & described) > most:
            best, most = tool, len(asked & described)
    if best is None:
        return []
    arguments: dict[str, object] = {best.required[0]: task.question}
    if "why" in best.parameters:
        arguments["why"] = "Its description fits the question"
    return [Planned(best.name, arguments)]
