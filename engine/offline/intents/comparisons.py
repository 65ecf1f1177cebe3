"""Recognises comparisons, and takes them apart into their sides: what to look for, and where."""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents.inquiry import Inquiry, Side
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.engine.offline.mentions import Mention
from antiphon.language.lesson_places import lesson_place, without_lesson_places
from antiphon.language.lesson_position import LessonPlace
from antiphon.language.questions import compared_sides, without_opening

# A full stop behind an initial ends no sentence.
_SIDE_ENDS = re.compile(r"[:;?!]|(?<!\b[A-Z])\. ")
_ADJECTIVE = re.compile(r"[a-z]+(?:al|ar|ary|ic|ive|ous|ed|ent|ant|ble|ful|less|ory)")
_MASKED = re.compile("\u27e6(\\d+)\u27e7")
_PLACE_OF_SIDE = re.compile(
    "(?:,? ?(?:as )?(?:taught|described|explained|presented)? ?(?:in|of|from|by) )?(?:the )?(?:course )?"
    "\u27e6\\d+\u27e7(?: course)?",
    re.I,
)


def compares(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes a comparison, with its two sides; that of two whole courses shows the outlines of both."""
    sides = _sides(inquiry.question, parsed)
    if not sides:
        return None
    if all(side.has_topic or side.lesson is not None for side in sides):
        return inquiry._replace(kind="compare", sides=sides)
    if all(side.course for side in sides) and len(inquiry.courses) > 1:
        return inquiry._replace(kind="outline", asks=frozenset({"overview"}))
    return None


def _sides(question: str, parsed: Parsed) -> tuple[Side, ...]:
    """Returns the two sides; the names of courses are masked meanwhile, since they hold an "and" of their own."""
    # The question may be longer than the follow-up in which the names were found.
    named = [each for each in parsed.known if each.stands_in(question)]
    compared = compared_sides(_masked(question, named))
    if compared is None:
        return ()
    sides = [_side(part, named, parsed.catalogue) for part in compared]
    sides = _of_one_noun(_of_one_course(sides))
    sides = [_titled(side, parsed.catalogue) for side in sides]
    return tuple(_of_one_topic(sides))


def _masked(question: str, named: Sequence[Mention]) -> str:
    masked = ""
    at = 0
    for number, mention in enumerate(named):
        masked += f"{question[at : mention.start]}\u27e6{number}\u27e7"
        at = mention.end
    return masked + question[at:]


def _side(part: str, named: Sequence[Mention], catalogue: Catalogue) -> Side:
    part = _SIDE_ENDS.split(part)[0]
    side = Side(_PLACE_OF_SIDE.sub("", part))
    masked = _MASKED.search(part)
    if masked:
        mention = named[int(masked[1])]
        side = side._replace(course=mention.course, lesson=mention.lesson_number)
    place = lesson_place(side.topic)
    if place is not None:
        side = side._replace(
            topic=without_lesson_places(side.topic),
            lesson=_lesson_of(side, place, catalogue),
        )
    return side._replace(topic=without_opening(side.topic))


def _lesson_of(side: Side, place: LessonPlace, catalogue: Catalogue) -> int | None:
    if catalogue.course(side.course) is None:
        return place.number
    return place.among(catalogue.numbers_of(side.course))


def _of_one_noun(sides: list[Side]) -> list[Side]:
    """Returns the sides of "linear and logistic regression" as both of the one noun."""
    first, last = sides
    named = last.topic.split()
    if len(named) < 2 or not _ADJECTIVE.fullmatch(first.topic):
        return sides
    return [first._replace(topic=f"{first.topic} {named[-1]}"), last]


def _titled(side: Side, catalogue: Catalogue) -> Side:
    """Returns a side that is a whole lesson with the lesson's title as its topic."""
    course = catalogue.course(side.course)
    if side.has_topic or course is None:
        return side
    lesson = course.lesson(side.lesson)
    if lesson is None:
        return side
    return side._replace(topic=lesson.title)


def _of_one_course(sides: list[Side]) -> list[Side]:
    """Returns the sides of "lesson 2 and lesson 3 of X" as both of the one course."""
    courses = [side.course for side in sides if side.course is not None]
    if len(courses) != 1:
        return sides
    shared: list[Side] = []
    for side in sides:
        if side.lesson is not None and not side.has_topic:
            side = side._replace(course=courses[0])
        shared.append(side)
    return shared


def _of_one_topic(sides: list[Side]) -> list[Side]:
    """Returns the sides of "caching in X and in Y" as both on the one topic."""
    topics = [side.topic for side in sides if side.has_topic]
    if len(topics) != 1 or not all(side.course for side in sides):
        return sides
    return [side._replace(topic=topics[0]) for side in sides]
