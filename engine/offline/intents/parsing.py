"""Takes a question apart: the courses and lessons it names, what it asks of the catalogue, and its topic."""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents.by_meaning import asked_by_meaning
from antiphon.engine.offline.intents.clauses import asked_in_clause
from antiphon.engine.offline.intents.inquiry import NO_QUESTION, Inquiry
from antiphon.engine.offline.mentions import (
    Mention,
    Mentions,
    mentions_in,
    with_places_masked,
    without_places,
)
from antiphon.language.asking import Ask, Asked, asked_of_catalogue, names_catalogue
from antiphon.language.lesson_places import THE_INTRODUCTION, lesson_places, spelled_out
from antiphon.language.lesson_position import LessonPlace
from antiphon.language.questions import refers_back

_OF_A_COURSE: frozenset[Ask] = frozenset(("teacher", "link", "lessons", "contents"))
"""What is asked of one course."""
_OF_LESSONS: frozenset[Ask] = frozenset(("contents", "lessons", "title", "overview"))
"""After these, "the second one" is a lesson."""

_ADDRESSES_US = re.compile(r"\b(?:you|your|here)\b", re.I)
_LINK_BETWEEN = re.compile(r"\blinks? between\b", re.I)
_WHICH_LESSON = re.compile(r"\b(?:which|what) (?:lesson|lecture)\b", re.I)


class Parsed(NamedTuple):
    """A question taken apart.

    Attributes:
        before: The question that it leans on; `NO_QUESTION` where it stands alone.
        places: The lessons that it names by number or place.
        known: The courses and lessons named that there are; all that it calls one, where no catalogue is at hand.
        topic: The question without them.
        asked: What it asks of the catalogue.
    """

    question: str
    catalogue: Catalogue
    before: Inquiry
    places: tuple[LessonPlace, ...]
    mentions: Mentions
    known: tuple[Mention, ...]
    topic: str
    asked: Asked

    @property
    def names_lesson(self) -> bool:
        return bool(self.places or self.mentions.lessons)

    @property
    def is_bare(self) -> bool:
        """True where nothing is asked beside the places that are named."""
        return not self.asked.topic and not self.asked.asks

    @property
    def points_at_catalogue(self) -> bool:
        """True where it names a course or a lesson, or has a word for what a catalogue holds."""
        return bool(self.known or self.places or self.asked.asks)

    @property
    def speaks_of_catalogue(self) -> bool:
        """True where a word of it is one for a course or its parts."""
        return names_catalogue(self.question)


def parse(question: str, before: Inquiry, catalogue: Catalogue) -> Parsed:
    """Takes a question apart.

    Args:
        before: The question before it; `NO_QUESTION` for the first of a conversation.
    """
    leans_on = NO_QUESTION
    if refers_back(question):
        leans_on = before
    parsed = _parsed(question, leans_on, catalogue, loosely=False)
    if parsed.mentions.courses and spelled_out(question) != question:
        return parse(spelled_out(question), before, catalogue)
    if _can_only_mean_a_course(parsed):
        asks = parsed.asked.asks
        loosely = _placed_by_meaning(
            _parsed(question, leans_on, catalogue, loosely=True)
        )
        # A part of a title will do as a name where that leaves nothing open.
        if loosely.asked.is_pure and _names_something(loosely, asks):
            parsed = loosely
    parsed = _asked_in_clause(_placed_by_meaning(parsed))
    if _is_about_the_course_before(parsed):
        return parsed._replace(before=before)
    return parsed


def _parsed(
    question: str, before: Inquiry, catalogue: Catalogue, *, loosely: bool
) -> Parsed:
    after_courses = before.has_course
    mentions = mentions_in(
        question, catalogue, loosely=loosely, after_courses=after_courses
    )
    # What is called a course and is none stays in the topic, but it is none of what is asked about a course.
    bare = without_places(question, mentions.all)
    of_course = bool(mentions.courses) or after_courses
    known = tuple([mention for mention in mentions.all if mention.titles])
    asked = asked_of_catalogue(bare, of_course=of_course)
    about_lessons = _is_about_lessons(before)
    # "What comes after Circuit Breakers?" is about lessons where that is all that is asked.
    if mentions.lessons and not asked.topic:
        about_lessons = True
    # "The first thing after the introduction in the MCP course".
    if mentions.courses and THE_INTRODUCTION.search(question):
        about_lessons = True
    return Parsed(
        question=question,
        catalogue=catalogue,
        before=before,
        places=lesson_places(question, after_lessons=about_lessons),
        mentions=mentions,
        known=known,
        topic=without_places(question, known),
        asked=asked,
    )


def _placed_by_meaning(parsed: Parsed) -> Parsed:
    """Returns a question that speaks of the catalogue and holds words that no rule places as it is meant."""
    if _asks_us(parsed):
        parsed = parsed._replace(asked=parsed.asked._replace(asks=frozenset()))
    elif not parsed.asked.topic or not parsed.points_at_catalogue:
        return parsed
    masked = with_places_masked(parsed.question, parsed.known)
    asked = asked_by_meaning(
        masked, parsed.asked, parsed.catalogue, of_lesson=parsed.names_lesson
    )
    return parsed._replace(asked=asked)


def _names_something(loosely: Parsed, asks: frozenset[Ask]) -> bool:
    """Returns True for a part of a title; who asks for all courses names one by more than a word, if at all."""
    if "courses" not in asks:
        return bool(loosely.known)
    return any(" " in mention.name for mention in loosely.known)


def _asks_us(parsed: Parsed) -> bool:
    """Returns True for "What can one study with you?", which names nothing, and has no word of a catalogue."""
    if parsed.known or parsed.places or not parsed.asked.asks <= {"overview"}:
        return False
    return _ADDRESSES_US.search(parsed.question) is not None


def _asked_in_clause(parsed: Parsed) -> Parsed:
    """Returns what one clause asks of the catalogue, where all others ask for nothing, as all that is asked."""
    names_course = any(mention.titles for mention in parsed.mentions.courses)
    of_all = "courses" in parsed.asked.asks
    if parsed.asked.is_pure or parsed.names_lesson or not (names_course or of_all):
        return parsed
    bare = without_places(parsed.question, parsed.mentions.all)
    asked = asked_in_clause(bare, of_course=names_course)
    if asked is None or (of_all and "courses" not in asked.asks):
        return parsed
    return parsed._replace(asked=asked)


def _is_about_lessons(before: Inquiry) -> bool:
    return before.lesson is not None or bool(before.asks & _OF_LESSONS)


def _can_only_mean_a_course(parsed: Parsed) -> bool:
    """Returns True for "Who teaches retrieval?"; "Which lesson was the one with tool calling?" means a lesson."""
    asks = parsed.asked.asks
    if parsed.mentions.courses:
        return False
    if _WHICH_LESSON.search(parsed.question):
        return False
    if "link" in asks:
        return _LINK_BETWEEN.search(parsed.question) is None
    # "Voice agents: name of the final lesson" names a lesson by its place in some course.
    stands_alone = parsed.before is NO_QUESTION and bool(parsed.places)
    of_course = asks & _OF_A_COURSE or (stands_alone and asks == {"title"})
    return bool(of_course) and parsed.speaks_of_catalogue


def _is_about_the_course_before(parsed: Parsed) -> bool:
    """Returns True for "How many lessons are there?": after a question that named a course, that one is meant."""
    if parsed.mentions.all or not parsed.asked.is_pure:
        return False
    return bool(parsed.asked.asks & _OF_A_COURSE)
