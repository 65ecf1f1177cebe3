"""Understands by likeness what comes beside a named lesson, or which course has it: "I'm done with X, now what?".

The patterns of `language/lesson_places.py` know how a neighbour is named: "the lesson after X". People also say where
they stand, and leave the rest to be guessed.
"""

from __future__ import annotations

import re

from antiphon.engine.offline.catalogue import Catalogue, LessonOf
from antiphon.engine.offline.intents.by_meaning import are_common, by_text, nearest
from antiphon.engine.offline.intents.examples import BESIDE
from antiphon.engine.offline.mentions import (
    CourseMention,
    mentions_in,
    with_places_masked,
)
from antiphon.engine.offline.titles import Run, Titles, tokens_of
from antiphon.language.asking import QUESTION_WORDS, asked_of_catalogue
from antiphon.language.lesson_places import (
    THE_INTRODUCTION,
    asks_for_neighbour,
    speaks_of_lessons,
)
from antiphon.language.questions import lesson_numbers
from antiphon.language.words import words

READ_CHARS = 300
"""Who says more tells a story of their own."""
LEAST_LIKENESS = 0.7
_FEWEST_WORDS = 2
"""A title of one word is a thing more often than a lesson."""
_DIRECTION = re.compile(
    r"\b(?:after|before|next|then|now|behind|prior|ahead|follow(?:s|ing)?|preced(?:es|ing)|previous|miss(?:ed)?|skip(?:ped)?"
    r"|done|finish(?:ed)?|through|completed|over"
    # Or which course has it.
    r"|which course|what course|part of|belongs? to|where)\b|->|\u2192",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:before|prior|preced(?:es|ing)|previous|leads? up)\b", re.IGNORECASE
)
_AFTER = re.compile(
    r"\b(?:after|behind|follow(?:s|ing)?|next|done|finish(?:ed)?|completed)\b",
    re.IGNORECASE,
)
_SIDE_OF = by_text(BESIDE)


def neighbour_by_meaning(question: str, catalogue: Catalogue) -> str | None:
    """Returns in plain words a question which course has a lesson, or what comes beside it; None for any other."""
    text = question[:READ_CHARS]
    if catalogue.likeness is None or not _DIRECTION.search(text):
        return None
    named_plainly = speaks_of_lessons(text) and asks_for_neighbour(text)
    if len(question) > READ_CHARS or named_plainly or lesson_numbers(text):
        return None
    named = _lesson_named(text, catalogue)
    if named is None:
        return None
    lesson, rest = named
    side = _side_meant(rest, catalogue)
    if side is None:
        return None
    place = f"lesson {lesson.lesson.number} of \u201c{lesson.course.title}\u201d"
    if side == "place":
        return f"What is the {' and the '.join(_asked_beside(rest))} of {place}?"
    return f"Which lesson comes {side} {place}?"


def _asked_beside(rest: str) -> list[str]:
    """Returns what to name of a lesson whose course is asked for."""
    asks = asked_of_catalogue(rest, of_course=True).asks
    wanted = ["title"]
    if "link" in asks:
        wanted.append("link")
    if "teacher" in asks or "whose" in words(rest):
        wanted.append("teacher")
    return wanted


def _lesson_named(text: str, catalogue: Catalogue) -> tuple[LessonOf, str] | None:
    """Returns the one lesson that is named by all of its title, and the text with "the lesson" in its place."""
    tokens = tokens_of(text)
    runs = [run for run in catalogue.lesson_titles.runs(tokens) if _is_whole(run)]
    if not runs:
        return _introduction_named(text, catalogue) or _named_in_course(text, catalogue)
    if len(runs) != 1 or len(runs[0].titles) != 1:
        return None
    run = runs[0]
    start, end = tokens[run.first].start, tokens[run.last].end
    lesson = catalogue.lessons[run.titles[0]]
    rest = f"{text[:start]}the lesson{text[end:]}"
    # "What precedes it in Marisol's class?"
    return lesson, with_places_masked(rest, mentions_in(rest, catalogue).courses)


def _introduction_named(text: str, catalogue: Catalogue) -> tuple[LessonOf, str] | None:
    """Returns the first lesson of the one course that is named, where its introduction is spoken of."""
    if not THE_INTRODUCTION.search(text):
        return None
    named = _course_named(text, catalogue)
    if named is None or not named.courses[0].lessons:
        return None
    course = named.courses[0]
    rest = THE_INTRODUCTION.sub("the lesson", with_places_masked(text, [named]))
    return LessonOf(course, course.lessons[0]), rest


def _named_in_course(text: str, catalogue: Catalogue) -> tuple[LessonOf, str] | None:
    """Returns the lesson of the course that is named whose title, or a part of it, ends the question."""
    named = _course_named(text, catalogue)
    if named is None:
        return None
    course = named.courses[0]
    tokens = tokens_of(text)
    titles = Titles([lesson.title for lesson in course.lessons])
    runs = [run for run in titles.runs(tokens) if run.last == len(tokens) - 1]
    if len(runs) != 1 or len(runs[0].titles) != 1:
        return None
    start = tokens[runs[0].first].start
    if start < named.end:
        return None
    rest = with_places_masked(text[:start], [named])
    return LessonOf(course, course.lessons[runs[0].titles[0]]), f"{rest} the lesson"


def _course_named(text: str, catalogue: Catalogue) -> CourseMention | None:
    """Returns the mention of a course that there is, where it is the only one."""
    courses = mentions_in(text, catalogue).courses
    if len(courses) != 1 or courses[0].course is None:
        return None
    return courses[0]


def _is_whole(run: Run) -> bool:
    return run.full and run.matched >= _FEWEST_WORDS


def _side_meant(rest: str, catalogue: Catalogue) -> str | None:
    """Returns "after", "before" or "place"; None where none is meant, or words say what else is."""
    held = [word for word in words(rest) if word not in QUESTION_WORDS]
    if not are_common(held, catalogue):
        return None
    meant = _SIDE_OF.get(nearest(rest, tuple(_SIDE_OF), LEAST_LIKENESS, catalogue))
    # By meaning, what follows is hardly told from what precedes.
    is_before, is_after = bool(_BEFORE.search(rest)), bool(_AFTER.search(rest))
    if meant is None or is_before == is_after:
        return meant
    if is_before:
        return "before"
    return "after"
