"""Finds the lesson that a question names by number, by position in the course, or as another's neighbour; pure."""

from __future__ import annotations

import re

from antiphon.engine.offline.known import Place
from antiphon.language.questions import LESSONS, number_written

_PLACES = {
    "first": 1, "opening": 1, "introduction": 1, "intro": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5,
    "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10, "last": -1, "final": -1, "closing": -1,
    "conclusion": -1, "penultimate": -2,
}  # fmt: skip
_FROM_END = {"next": -2, "second": -2, "third": -3}
_BY_PLACE = re.compile(
    rf"\b(?:the |very ){{0,3}}(?:(?P<from_end>{'|'.join(_FROM_END)})[ -]to[ -](?:the[ -])?last"
    rf"|(?P<before_last>one before (?:the )?last)|(?P<place>{'|'.join(_PLACES)})"
    r"|(?P<counted>\d{1,2})(?:st|nd|rd|th))\b(?: (?:lesson|lecture)\b)?",
    re.I,
)
_BESIDE = re.compile(
    r"\b(?:(?P<count>two|three|\d) lessons? )?(?:(?P<next>after|following|behind|follows|next)"
    r"|(?P<previous>before|preceding|precedes|previous))\b",
    re.I,
)


def with_number(place: Place) -> Place:
    """Returns the place with the lesson that its rest names by number, or by position in the course."""
    course, text = place.course, place.rest
    found = LESSONS.search(text)
    if found is not None:
        number = number_written(re.split(r"\W+", found[1])[0])
        rest = _cut(text, found)
        if course is not None and course.lesson(number) is None:
            return place._replace(missing=number, rest=rest)
        return place._replace(lesson=number, by_number=True, rest=rest)
    found = _BY_PLACE.search(text)
    if found is None or course is None:
        return place
    lesson = course.placed(_place_written(found))
    if lesson is None:
        return place
    return place._replace(lesson=lesson.number, by_number=True, rest=_cut(text, found))


def _place_written(found: re.Match[str]) -> int:
    if found["before_last"]:
        return -2
    if found["from_end"]:
        return _FROM_END[found["from_end"].lower()]
    if found["counted"]:
        return int(found["counted"]) or 1
    return _PLACES[found["place"].lower()]


def with_step(place: Place) -> Place:
    """Returns the place with the step from the named or described lesson to the meant neighbour."""
    beside = _BESIDE.search(place.rest)
    if beside is None:
        return place
    step = number_written(beside["count"]) if beside["count"] else 1
    if beside["previous"]:
        step = -step
    return place._replace(step=step, rest=_cut(place.rest, beside))


def _cut(text: str, found: re.Match[str]) -> str:
    return f"{text[: found.start()]} {text[found.end() :]}"
