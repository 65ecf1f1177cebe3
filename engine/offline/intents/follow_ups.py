"""Gives a follow-up what it takes from the question before it: its course, its lesson, or what was asked."""

from __future__ import annotations

from antiphon.engine.offline.intents.inquiry import NO_QUESTION, Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.language.asking import Ask
from antiphon.language.lesson_places import lesson_place
from antiphon.language.lesson_position import LessonPlace

_OF_PLACES = frozenset(("compare", "look_up", "lesson", "across"))
"""Kinds that hold only of the places that were named."""
_OF_FOUND: frozenset[Ask] = frozenset(("teacher", "link", "lessons", "contents"))
_OF_ANY_LESSON: frozenset[Ask] = frozenset(("link", "title"))


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
        return inquiry._replace(kind="find", topic=before.topic)
    return _joined(inquiry, parsed)


def _joined(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns the follow-up in the words of both questions, where the first had a topic that the catalogue lacks."""
    before = parsed.before
    if not before.has_topic:
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
