"""What kind of answer a question wants, by the way it is asked; pure."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from antiphon.engine.offline.mentions import course_mentions, lesson_number, titles, without_places
from antiphon.engine.offline.ways import (
    ACROSS,
    COMPARE,
    ELSEWHERE,
    FOLLOW_UP,
    GREETING,
    MASKED,
    OPENINGS,
    OUTLINE,
    PLACE_OF_SIDE,
    SIDES,
)
from antiphon.language.evidence import telling_words
from antiphon.language.words import words

MOST_CHARS = 1000
"""What is read of a question: some patterns take time by the square of its length."""

Kind = Literal["outline", "look_up", "compare", "lesson", "across", "plain", "greeting"]


class Side(NamedTuple):
    """One side of a comparison: what to look for, and in which course where one is named."""

    topic: str
    course: str | None = None
    lesson: int | None = None


class Intent(NamedTuple):
    """What a question wants.

    Attributes:
        question: The question as understood: a follow-up is joined to what it follows.
        course: The course it names (the one to look up, where there are two).
        other: A second course it names.
        topic: What it is about, without the places it names.
        sides: The two sides of a comparison.
    """

    kind: Kind
    question: str
    topic: str
    course: str | None = None
    other: str | None = None
    lesson: int | None = None
    sides: tuple[Side, ...] = ()


def understand(question: str, earlier: tuple[str, ...] = ()) -> Intent:
    """The rules in order; the first that fits decides."""
    whole = _with_earlier(question[:MOST_CHARS], earlier)
    names = [mention.name for mention in course_mentions(whole)]
    course, other = [*names, None, None][:2]
    lesson = lesson_number(question) if lesson_number(question) is not None else lesson_number(whole)
    topic = without_places(whole)
    plain = Intent("plain", whole, topic, course, other, lesson)
    if set(words(question)) <= GREETING:
        return plain._replace(kind="greeting")
    if lesson is not None and course is not None and ELSEWHERE.search(whole):
        return plain._replace(kind="look_up")
    if OUTLINE.search(whole) and (named := course or _title_in(whole)):
        return plain._replace(kind="outline", course=named)
    sides = _sides(whole) if COMPARE.search(whole) else ()
    if sides:
        return plain._replace(kind="compare", sides=sides)
    if lesson is not None and course is not None:
        return plain._replace(kind="lesson")
    if ACROSS.search(whole) and course is None:
        return plain._replace(kind="across")
    return plain


def _with_earlier(question: str, earlier: tuple[str, ...]) -> str:
    """A follow-up is understood together with the question before it."""
    alone = len(telling_words(question)) >= 3 or course_mentions(question)
    if not earlier or alone or not (FOLLOW_UP.match(question) or not telling_words(question)):
        return question
    return f"{earlier[-1][:MOST_CHARS].rstrip()} {question}"


def _title_in(question: str) -> str | None:
    return next((mention.name for mention in titles(question)), None)


def _sides(question: str) -> tuple[Side, ...]:
    """The two sides; titles are hidden meanwhile, since they hold an "and" of their own."""
    masked, names = _masked(question)
    for pattern in SIDES:
        found = pattern.search(masked)
        if found is not None:
            sides = tuple(_side(part, names) for part in found.groups())
            if all(telling_words(side.topic) or side.lesson is not None for side in sides):
                return sides
    return ()


def _masked(question: str) -> tuple[str, list[str]]:
    names: list[str] = []
    masked, at = "", 0
    for mention in course_mentions(question):
        masked += f"{question[at : mention.start]}\u27e6{len(names)}\u27e7"
        names.append(mention.name)
        at = mention.end
    return masked + question[at:], names


def _side(part: str, names: list[str]) -> Side:
    part = re.split(r"[:;?!]|\. ", part)[0]
    named = MASKED.search(part)
    topic = PLACE_OF_SIDE.sub("", part)
    lesson = lesson_number(topic)
    topic = OPENINGS.sub("", topic.strip(" ,.")).strip(" ,.")
    return Side(topic, names[int(named[1])] if named else None, lesson)
