"""Which tools to call next, by rule, from one request alone; no call at all means: answer now."""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.engine.offline.intents import Intent, Side, understand
from antiphon.engine.offline.mentions import titles
from antiphon.engine.offline.other_tools import call_of_other_tool
from antiphon.engine.offline.task import Source, Task
from antiphon.engine.offline.weighing import fitting, focus, for_side
from antiphon.language.evidence import Weigh, telling_words
from antiphon.language.extract import extract
from antiphon.language.markup import Attempt

SEARCH = "search_course_content"
OUTLINE = "get_course_outline"
MOST_ROUNDS = 2
MOST_CALLS = 4

_LITTLE = 0.5
"""Evidence below this is worth a second search in other words."""
_REFERRED = re.compile(r"\b[Ll]esson \d+ of (?=[A-Z])(.{3,120})")


class Planned(NamedTuple):
    """A tool call to ask for."""

    tool: str
    arguments: dict[str, object]


def plan(task: Task, weigh: Weigh | None = None) -> tuple[Planned, ...]:
    """The calls of the next round; empty when it is time to answer."""
    if not task.tools or not task.question or task.rounds_done >= MOST_ROUNDS:
        return ()
    intent = understand(task.question, task.earlier)
    if intent.kind == "greeting":
        return ()
    if task.attempts or task.sources:
        calls = _second(intent, task, weigh)
    else:
        calls = _first(intent) if task.offers(SEARCH) or task.offers(OUTLINE) else _other(task)
    return tuple(_fresh(calls, task))[:MOST_CALLS]


def _first(intent: Intent) -> list[Planned]:
    match intent.kind:
        case "outline":
            return [_outline(intent.course, "The question is about how the course is built")]
        case "look_up":
            return [_outline(intent.course, f"To learn what lesson {intent.lesson} is called"), *_explore(intent)]
        case "compare":
            return [_search_side(side, f"One side of the comparison: {side.topic}") for side in intent.sides]
        case "lesson":
            return [_search(focus(intent), "The question names this lesson", intent.course, intent.lesson)]
        case "across":
            return [_search(focus(intent), "To see which courses speak of it")]
        case _:
            return [_search(focus(intent), "To find what answers the question", intent.course, intent.lesson)]


def _explore(intent: Intent) -> list[Planned]:
    """Searches that tell which other courses there are; none is needed where the question names one."""
    if intent.other is not None:
        return []
    return [
        _search(intent.question, "Other courses may refer to that lesson"),
        _search("what this course is about", "To learn which other courses there are"),
    ]


def _second(intent: Intent, task: Task, weigh: Weigh | None) -> list[Planned]:
    if intent.kind == "look_up" and (found := _looked_up(intent, task)):
        return _search_elsewhere(found, intent, task)
    if intent.kind == "compare":
        weak = [side for side in intent.sides if _evidence(side.topic, for_side(side, task), weigh) < _LITTLE]
        return [_search(_reworded(side.topic, weigh), "This side brought little so far") for side in weak]
    if intent.kind == "outline" and (task.outlines or task.unknown_course):
        return []
    if lost := [attempt for attempt in task.attempts if _lost(attempt)]:
        return [_without_filters(attempt, intent) for attempt in lost]
    if intent.kind == "across":
        return _search_missing(intent, task)
    if _evidence(focus(intent), fitting(intent, task), weigh) < _LITTLE:
        return [_search(_reworded(focus(intent), weigh), "The first search brought little: in fewer words, everywhere")]
    return []


def _looked_up(intent: Intent, task: Task) -> str | None:
    """The title of the lesson that was to be looked up."""
    lines = (outline.lesson_line(intent.lesson) for outline in task.outlines if intent.lesson is not None)
    return next((line[1] for line in lines if line is not None), None)


def _search_elsewhere(title: str, intent: Intent, task: Task) -> list[Planned]:
    why = f"The lesson is called {title!r}: what do other courses say of it"
    if intent.other is not None:
        return [_search(title, why, intent.other)]
    home = {outline.course for outline in task.outlines}
    others = [course for course in _known_courses(task.sources) if course not in home]
    return [_search(title, why, course) for course in others[:3]] or [_search(title, why)]


def _search_missing(intent: Intent, task: Task) -> list[Planned]:
    """Courses that are known of, and from which nothing was found yet."""
    seen = {source.course for source in task.passages}
    missing = [course for course in _known_courses(task.sources) if course not in seen]
    return [_search(focus(intent), "Nothing was found in this course yet", course) for course in missing[:3]]


def _known_courses(sources: tuple[Source, ...]) -> list[str]:
    """The courses that sources belong to, and those that their texts refer to."""
    known = dict.fromkeys(source.course for source in sources)
    for source in sources:
        for block in source.blocks:
            for tail in _REFERRED.findall(block):
                named = titles(tail)
                if named and named[0].start == 0:
                    known.setdefault(named[0].name)
    return list(known)


def _lost(attempt: Attempt) -> bool:
    """Whether a call failed or found nothing because of what it was narrowed to."""
    narrowed = "course_name" in attempt.arguments or "lesson_number" in attempt.arguments
    return attempt.outcome in ("failed", "nothing") and narrowed


def _without_filters(attempt: Attempt, intent: Intent) -> Planned:
    query = attempt.arguments.get("query")
    return _search(query if isinstance(query, str) else intent.question, "There was nothing there: search everywhere")


def _evidence(question: str, sources: tuple[Source, ...], weigh: Weigh | None) -> float:
    found = extract(question, [s.blocks for s in sources], weigh, titles=[s.label for s in sources])
    return found.evidence


def _reworded(question: str, weigh: Weigh | None) -> str:
    return " ".join(telling_words(question, weigh, most=6)) or question


def _fresh(calls: list[Planned], task: Task) -> list[Planned]:
    """The calls whose tool is offered, and that were not made before."""
    made = [(attempt.tool, _sense(attempt.arguments)) for attempt in task.attempts]
    fresh: list[Planned] = []
    for call in calls:
        key = (call.tool, _sense(call.arguments))
        if task.offers(call.tool) and key not in made:
            made.append(key)
            fresh.append(call)
    return fresh


def _sense(arguments: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if name != "why" and value is not None}


def _search(query: str, why: str, course: str | None = None, lesson: int | None = None) -> Planned:
    arguments: dict[str, object] = {"query": query[:500]}
    if course is not None:
        arguments["course_name"] = course[:200]
    if lesson is not None:
        arguments["lesson_number"] = lesson
    return Planned(SEARCH, arguments | {"why": why})


def _search_side(side: Side, why: str) -> Planned:
    return _search(side.topic or f"lesson {side.lesson}", why, side.course, side.lesson)


def _outline(course: str | None, why: str) -> Planned:
    return Planned(OUTLINE, {"course_name": course, "why": why})


def _other(task: Task) -> list[Planned]:
    made = call_of_other_tool(task)
    return [Planned(*made)] if made is not None else []
