"""Joins a question of several to the one before it, where both ask of the same: one answer says both."""

from __future__ import annotations

import re

from antiphon.engine.offline.intents.clauses import EXACT, asks_of_texts
from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.second_step import bare_question, goes_on_in_found
from antiphon.engine.offline.intents.two_steps import in_found_lesson
from antiphon.language.lesson_places import lesson_place

LEANS = re.compile(r"\b(?:it|its|he|she|his|her|they|their|there)\b", re.I)
"""What speaks of a course, a lesson or a teacher that was named before."""


def joined(parts: list[Inquiry], inquiry: Inquiry, part: str) -> Inquiry:
    """Returns a question together with the last of those before it, which it takes from them; else as it is.

    Args:
        part: Its own words.
    """
    first = parts[-1]
    if _is_of_found_lesson(first, part):
        inquiry = in_found_lesson(first, part)
        if not inquiry.wanted:
            # The neighbour is named together with the lesson that was asked for first.
            inquiry = inquiry._replace(asks=frozenset({"title"}))
    elif goes_on_in_found(first, inquiry, part):
        inquiry = first._replace(wanted=bare_question(part))
    elif _is_of_found_course(first, inquiry, part):
        inquiry = first._replace(asks=inquiry.asks)
    elif _is_of_same_outline(first, inquiry):
        inquiry = inquiry._replace(asks=inquiry.asks | first.asks, place=first.place)
    elif _finds_the_same(first, inquiry):
        inquiry = first._replace(asks=inquiry.asks | first.asks)
    else:
        return inquiry
    parts.pop()
    return inquiry


def _is_of_found_lesson(first: Inquiry, part: str) -> bool:
    """Returns True for "and what is the next one about?", behind a question which lesson speaks of something."""
    if first.kind != "find" or not first.by_lesson or first.wanted or first.step:
        return False
    place = lesson_place(part, after_lessons=True)
    if place is not None:
        return place.is_relative
    return LEANS.search(part) is not None and asks_of_texts(part)


def _is_of_found_course(first: Inquiry, inquiry: Inquiry, part: str) -> bool:
    """Returns True for "and who teaches it?", behind a question which other course treats the topic of a lesson."""
    if first.kind != "look_up" or first.other is not None or inquiry.kind != "outline":
        return False
    if inquiry.course != first.course or not inquiry.asks <= EXACT:
        return False
    return bool(inquiry.asks) and LEANS.search(part) is not None


def _finds_the_same(one: Inquiry, other: Inquiry) -> bool:
    """Returns True for "Which course is the one about gyms? Tell me who teaches it.": it is found once."""
    found = (one.kind, one.topic, one.place, one.by_lesson, one.step, one.wanted)
    others = (other.kind, other.topic, other.place, other.by_lesson, other.step)
    return one.kind == "find" and found == (*others, other.wanted)


def _is_of_same_outline(one: Inquiry, other: Inquiry) -> bool:
    """Returns True for "How many lessons has it, and who teaches it?": one answer says both."""
    if not one.has_course or (one.kind, other.kind) != ("outline", "outline"):
        return False
    place = (one.course, one.courses, one.lesson, one.lessons, one.step)
    others = (other.course, other.courses, other.lesson, other.lessons, other.step)
    return place == others
