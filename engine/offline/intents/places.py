"""Finds the courses and the lesson that a question means, by the names in it."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.engine.offline.intents.clauses import asks_of_texts, clauses_of
from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.engine.offline.mentions import CourseMention
from antiphon.language.asking import Ask
from antiphon.language.lesson_position import LessonPlace
from antiphon.language.questions import LESSONS

_OF_WHOLE: frozenset[Ask] = frozenset(("contents", "overview"))
_MOST_BESIDE_NEIGHBOUR = 2
"""More words than these are asked of what the lesson says."""
_NEAR_CHARS = 30
"""A course named so close behind a lesson is the lesson's."""


def with_courses(parsed: Parsed) -> Inquiry:
    """Returns the question with the courses that it names."""
    titles: dict[str, None] = {}
    clear: dict[str, None] = {}
    unknown: list[str] = []
    for mention in _in_order(parsed):
        titles.update(dict.fromkeys(mention.titles))
        if mention.course is not None:
            clear.setdefault(mention.course)
        if not mention.titles:
            unknown.append(mention.name)
    if not clear:
        of_lessons = [each.lesson.course.title for each in parsed.mentions.lessons]
        clear = dict.fromkeys(of_lessons)
    course, other = [*clear, None, None][:2]
    asks = parsed.asked.asks
    # "How many years was Kwame Mensah a teacher?" names the teacher, and asks for none.
    if parsed.mentions.names_teacher and parsed.asked.topic:
        asks = asks - {"teacher"}
    return Inquiry(
        kind="plain",
        question=parsed.question,
        topic=parsed.topic,
        course=course,
        other=other,
        courses=tuple(titles),
        asks=asks,
        unknown=next(iter(unknown), None),
    )


def _in_order(parsed: Parsed) -> list[CourseMention]:
    """Returns the courses named, the one that a lesson is "of" first: it is the one to look up."""
    named = list(parsed.mentions.courses)
    lesson = LESSONS.search(parsed.question)
    if lesson is not None:
        near = range(lesson.end(), lesson.end() + _NEAR_CHARS)
        # Sorting is stable: all others stay in the order of the question.
        named.sort(key=lambda each: each.start not in near)
    return named


def in_only_course(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns a question about a course or its lessons as one of the only course, where there is but one."""
    courses = parsed.catalogue.courses
    if len(courses) != 1 or inquiry.courses or inquiry.unknown:
        return inquiry
    if not parsed.places and not parsed.asked.is_pure:
        return inquiry
    return inquiry._replace(course=courses[0].title)


def with_lesson(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Finds the lesson that is named, or several, in the course that is named."""
    places = _named_lessons(parsed)
    if not places:
        return inquiry
    place = places[0]
    inquiry = inquiry._replace(place=place)
    # "The next lesson", after one that was spoken of before.
    if place.is_relative:
        place = place._replace(number=inquiry.lesson)
    numbers = parsed.catalogue.numbers_of(inquiry.course)
    if not numbers:
        return inquiry._replace(lesson=place.number, step=place.step)
    if len(places) > 1:
        return _with_several(inquiry, places, numbers)
    return _with_one(inquiry, place, numbers, parsed)


def _with_one(
    inquiry: Inquiry, place: LessonPlace, numbers: Sequence[int], parsed: Parsed
) -> Inquiry:
    base = place._replace(step=0).among(numbers)
    if base is None and place.is_middle:
        # Of an even number none is: all are listed.
        return inquiry
    if base is None:
        return _without_lesson(inquiry, place)
    beside = place.among(numbers)
    if beside is not None and _asks_what_it_says(inquiry, parsed):
        return inquiry._replace(lesson=beside, step=0)
    return inquiry._replace(lesson=base, step=place.step)


def _with_several(
    inquiry: Inquiry, places: Sequence[LessonPlace], numbers: Sequence[int]
) -> Inquiry:
    meant = [place.among(numbers) for place in places]
    lessons = tuple([number for number in meant if number is not None])
    if not lessons:
        return _without_lesson(inquiry, places[0])
    return inquiry._replace(lesson=lessons[0], lessons=lessons)


def _without_lesson(inquiry: Inquiry, place: LessonPlace) -> Inquiry:
    """Returns the question with the number or place of a lesson that its course does not have."""
    missing = place.number
    if missing is None:
        missing = place.position
    return inquiry._replace(missing_lesson=missing, lesson=None, step=place.step)


def _named_lessons(parsed: Parsed) -> tuple[LessonPlace, ...]:
    """Returns the lessons that are named: by number, else one by its title, else by place."""
    place = next(iter(parsed.places), LessonPlace())
    for mention in parsed.mentions.lessons:
        if place.number is None:
            return (LessonPlace(mention.lesson_number, step=place.step),)
    return parsed.places


def _asks_what_it_says(inquiry: Inquiry, parsed: Parsed) -> bool:
    """Returns True for "What does the next lesson cover?": its title alone is no answer."""
    if inquiry.kind == "lesson" or "overview" in parsed.asked.asks:
        return True
    if len(parsed.asked.topic) > _MOST_BESIDE_NEIGHBOUR or _asks_apart(parsed):
        return True
    return bool(parsed.asked.topic) and parsed.asked.asks <= _OF_WHOLE


def _asks_apart(parsed: Parsed) -> bool:
    """Returns True for "the lesson after X - what are the levels called": a clause asks for what no catalogue holds."""
    for clause in clauses_of(parsed.question):
        names_place = any(each.name in clause for each in parsed.known)
        if not names_place and asks_of_texts(clause):
            return True
    return False
