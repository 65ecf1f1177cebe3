"""Recognises the questions that mean several lessons by their titles, or by their numbers in two courses."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.language.questions import LESSONS, compared_sides, lesson_numbers
from antiphon.language.words import terms

_MOST_COURSES = 4
_BETWEEN = re.compile(r"\bbetween\b", re.I)
_ASKS_LESSON = re.compile(
    r"\b(?:which|what)(?: \w+){0,3} (?:lesson|lecture)s?\b|\b(?:which|what) (?:one )?(?:is|comes|stands|lies|sits)\b"
    r"|\b(?:lesson|lecture|one)s? (?:(?:that|which) (?:is|comes|stands|sits|lies) )?between\b",
    re.I,
)
_IN_TITLE = re.compile(
    r"\b(?:with|have|has|had|having|holds?|contains?|containing|is|are|carry|carries|use|uses|mention|mentions)\s+"
    r"(?:the\s+(?:words?|terms?)\s+)?(?P<words>(?:[^\s.;?!]+\s+){1,5})in\s+(?:its|the|their|his|her|a)\s+"
    r"(?:(?:lesson|lecture)\s+)?(?:titles?|names?|head(?:ing|line)s?)\b"
    r"|\b(?:whose|the|any|all|lesson|lecture|course)\s+(?:titles?|names?|head(?:ing|line)s?)\s+(?:that\s+)?"
    r"(?:with|(?:is|are) about|has|have|had|having|holds?|contains?|containing|says?|mentions?|includes?)\s+"
    r"(?:the\s+(?:words?|terms?)\s+)?(?P<behind>[^.,;?!]{2,60})"
    r"|^\W*(?P<front>[^.,;:?!]{2,60}?)\s+(?:turns?\s+up|comes?\s+up|appears?|occurs?|stands?)\s+in\s+(?:the|their)\s+"
    r"(?:titles?|names?|head(?:ing|line)s?)\b",
    re.I,
)
_BY_TITLES = re.compile(
    r"\b(?:only|going|judging|just|purely|according)\s+(?:\w+\s+)?(?:by|from|to)\s+(?:the\s+|their\s+|its\s+)?(?:(?:lesson|course)s?\s+)?(?:titles?|names?|head(?:ing|line)s?)\b"
    r"(?:\s+of\s+(?:the\s+)?lessons)?(?:\s+alone)?",
    re.I,
)
_OR = re.compile(r"\s*(?:,|/|\bor\b)\s*", re.I)


def asks_between_lessons(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "Which lesson stands between A and B?", two lessons of one course."""
    named = [mention.lesson for mention in parsed.mentions.lessons]
    courses = dict.fromkeys([each.course for each in named])
    if len(named) != 2 or len(courses) != 1 or not _asks_between(parsed.question):
        return None
    first, last = sorted([each.lesson.number for each in named])
    between = [number for number in named[0].course.numbers if first < number < last]
    if not between:
        return None
    return _named(inquiry, named[0].course.title, between)


def _asks_between(question: str) -> bool:
    """Returns True for what stands between two lessons; not for the difference between them."""
    if not _BETWEEN.search(question) or not _ASKS_LESSON.search(question):
        return False
    return compared_sides(question) is None


def asks_for_titles_with(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "Which lessons have cache or caching in their titles?"."""
    found = _IN_TITLE.search(parsed.question)
    if found is None:
        return _by_titles_alone(inquiry, parsed)
    group = found.lastgroup or "behind"
    # A word that stands in the title of a course too names no course here.
    named = [
        each
        for each in parsed.mentions.courses
        if each.start < found.start(group) or each.end > found.end(group)
    ]
    courses = [title for each in named for title in each.titles]
    return _of_each(_lessons_called(found[group], courses, parsed.catalogue), inquiry)


def _by_titles_alone(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "Going only by titles, which lessons are about queues or logs?"."""
    if not _BY_TITLES.search(parsed.question):
        return None
    words = ", ".join(parsed.asked.topic)
    return _of_each(_lessons_called(words, inquiry.courses, parsed.catalogue), inquiry)


def _of_each(lessons_of: Mapping[str, list[int]], inquiry: Inquiry) -> Inquiry | None:
    """Returns the question what these lessons are called, course by course; None where there are none."""
    parts = [_named(inquiry, title, lessons_of[title]) for title in lessons_of]
    if len(parts) > 1:
        return inquiry._replace(kind="several", parts=tuple(parts[:_MOST_COURSES]))
    return next(iter(parts), None)


def _lessons_called(
    words: str, courses: Collection[str], catalogue: Catalogue
) -> dict[str, list[int]]:
    """Returns the lessons whose titles hold one of several words, by course; of the courses named where there are."""
    wanted = [frozenset(terms(each)) for each in _OR.split(words)]
    lessons_of: dict[str, list[int]] = {}
    for course, lesson in catalogue.lessons:
        if courses and course.title not in courses:
            continue
        held = frozenset(terms(lesson.title))
        if any(each and each <= held for each in wanted):
            lessons_of.setdefault(course.title, []).append(lesson.number)
    return lessons_of


def asks_of_lesson_in_each(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "Lesson 3 of A and lesson 4 of B both speak of it. How do they?": each number belongs to its course."""
    parts: list[Inquiry] = []
    for course, number in _numbered_in_two(parsed):
        if number not in parsed.catalogue.numbers_of(course):
            return None
        part = inquiry._replace(
            kind="lesson",
            question=f"What does lesson {number} of {course} say",
            course=course,
            courses=(course,),
            other=None,
            lesson=number,
            lessons=(),
        )
        parts.append(part)
    if not parts:
        return None
    return inquiry._replace(kind="several", parts=tuple(parts))


def _numbered_in_two(parsed: Parsed) -> list[tuple[str, int]]:
    """Returns each of two courses with the number of the one lesson of it; nothing where not both are named so."""
    named = [mention.course for mention in parsed.mentions.courses if mention.course]
    courses = list(dict.fromkeys(named))
    written = [lesson_numbers(found[0]) for found in LESSONS.finditer(parsed.question)]
    counts = [len(numbers) for numbers in written]
    if len(named) != 2 or len(courses) != 2 or counts != [1, 1]:
        return []
    numbers = [numbers[0] for numbers in written]
    return list(zip(courses, numbers, strict=True))


def _named(inquiry: Inquiry, course: str, lessons: Sequence[int]) -> Inquiry:
    """Returns the question what these lessons of a course are called, and for their links where it asks for them."""
    return inquiry._replace(
        kind="outline",
        question=f"Which lessons of {course} are meant",
        course=course,
        courses=(course,),
        other=None,
        lesson=lessons[0],
        lessons=tuple(lessons),
        step=0,
        asks=inquiry.asks & {"link", "teacher"} | {"title"},
    )
