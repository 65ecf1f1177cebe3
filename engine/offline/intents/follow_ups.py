"""Gives a follow-up what it takes from the question before it: its course, its lesson, or what was asked.

A question that was answered has the place that its answer named too.
"""

from __future__ import annotations

import re

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents.inquiry import NO_QUESTION, Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.language.asking import Ask
from antiphon.language.lesson_places import lesson_place
from antiphon.language.lesson_position import LessonPlace

_THAT_LESSON = re.compile(r"\b(?:that|this|the same) (?:lesson|lecture)\b", re.I)
_OF_PLACES = frozenset(("compare", "look_up", "lesson", "across"))
"""Kinds that hold only of the places that were named."""
_OF_FOUND: frozenset[Ask] = frozenset(("teacher", "link", "lessons", "contents"))
_OF_ANY_LESSON: frozenset[Ask] = frozenset(("link", "title"))
_LESSON_NUMBER_IN_ANSWER = re.compile(r"\bLesson (\d{1,4})\b")
_LESSON_IN_ANSWER = re.compile(r"\bLesson (\d{1,4}), ([^:\n]{1,200}):")
"""The source in front of an excerpt."""


def follow_up(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns a question with what it takes from the one before it; as it is where it stands alone."""
    before = parsed.before
    if before is NO_QUESTION:
        return inquiry
    inquiry = _of_listed_course(inquiry, parsed)
    has_place = bool(inquiry.courses) or parsed.names_lesson
    if has_place and parsed.is_bare:
        return _in_another_place(inquiry, parsed)
    if not has_place:
        inquiry = inquiry._replace(lesson=before.lesson)
    if not inquiry.courses:
        inquiry = inquiry._replace(course=before.course, courses=before.courses)
    if parsed.asked.is_pure:
        return _of_course_meant(inquiry, parsed)
    return _joined(inquiry, parsed)


def _of_listed_course(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns "Who teaches the third one?", after a list of courses, as asked of that course."""
    listed = parsed.before.courses
    if "courses" not in parsed.before.asks or inquiry.courses or parsed.names_lesson:
        return inquiry
    place = lesson_place(parsed.question, after_lessons=True) or LessonPlace()
    at = place.among(range(len(listed)))
    if at is None:
        return inquiry
    return inquiry._replace(course=listed[at], courses=(listed[at],))


def _of_course_meant(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns "Who teaches that course?" as asked of the one that was named, or that speaks of what was asked."""
    before = parsed.before
    if inquiry.has_course:
        return inquiry
    if parsed.asked.asks <= _OF_FOUND and before.has_topic:
        of_lesson = _THAT_LESSON.search(parsed.question) is not None
        return inquiry._replace(kind="find", topic=before.topic, by_lesson=of_lesson)
    return _joined(inquiry, parsed)


def _joined(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns the follow-up in the words of both questions, where the first had a topic that the catalogue lacks."""
    before = parsed.before
    if not before.has_topic or (before.kind == "outline" and before.has_course):
        return inquiry
    return inquiry._replace(
        question=f"{before.question} {inquiry.question}",
        topic=f"{before.topic} {inquiry.topic}",
    )


def _in_another_place(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns the question before, asked of the course or lesson that this one names: "And the second one?"."""
    course = inquiry.course or parsed.before.course
    before = parsed.before._replace(course=course, lessons=())
    if before.kind == "lesson" and parsed.names_lesson:
        return before._replace(step=0)
    if before.kind in _OF_PLACES:
        before = before._replace(kind="plain", sides=())
    if parsed.names_lesson and not before.asks <= _OF_ANY_LESSON:
        before = before._replace(asks=frozenset({"title"}))
    if inquiry.courses:
        before = before._replace(courses=inquiry.courses, lesson=None)
    return before._replace(unknown=inquiry.unknown)


def placed_by_answer(inquiry: Inquiry, catalogue: Catalogue, answered: str) -> Inquiry:
    """Returns the inquiry with the courses that its answer lists, or with the first place that it names."""
    if inquiry.course is not None:
        return _with_lesson_found(inquiry, answered)
    titles = _courses_in(answered, catalogue)
    if not titles:
        return _placed_by_excerpt(inquiry, catalogue, answered)
    # Where the question may mean several courses, an answer from one of them decides.
    if inquiry.courses and len(titles) > 1:
        return inquiry
    if "courses" in inquiry.asks:
        return inquiry._replace(courses=titles)
    at = answered.find(titles[0])
    lesson = _LESSON_NUMBER_IN_ANSWER.search(answered, max(at - 40, 0), at + 200)
    if lesson is not None:
        inquiry = inquiry._replace(lesson=int(lesson[1]))
    return inquiry._replace(course=titles[0])


def _with_lesson_found(inquiry: Inquiry, answered: str) -> Inquiry:
    """Returns "Which lesson of the MCP course is about tools?" with the lesson that its answer begins with."""
    named = _LESSON_NUMBER_IN_ANSWER.match(answered)
    if not inquiry.by_lesson or inquiry.lesson is not None or named is None:
        return inquiry
    return inquiry._replace(lesson=int(named[1]))


def _courses_in(answered: str, catalogue: Catalogue) -> tuple[str, ...]:
    """Returns the courses that an answer names, in its order."""
    named = [each.title for each in catalogue.courses if each.title in answered]
    named.sort(key=answered.find)
    return tuple(named)


def _placed_by_excerpt(
    inquiry: Inquiry, catalogue: Catalogue, answered: str
) -> Inquiry:
    """Returns the inquiry with the lesson of the first excerpt that answered it, where one course has such a lesson."""
    quoted = _LESSON_IN_ANSWER.search(answered)
    if quoted is None:
        return inquiry
    lesson = (int(quoted[1]), quoted[2])
    courses = [each.course.title for each in catalogue.lessons if each.lesson == lesson]
    if len(courses) != 1:
        return inquiry
    return inquiry._replace(course=courses[0], lesson=lesson[0])
