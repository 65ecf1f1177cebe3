"""Decides on the kind of a question: rules from the narrowest to the widest, of which the first that fits decides."""

from __future__ import annotations

import re

from antiphon.engine.offline.intents.catalogue_questions import (
    asks_after_teacher,
    asks_for_course_on,
    asks_for_prerequisites,
    asks_for_unknown,
    asks_of_catalogue,
    asks_of_every_course,
    asks_what_catalogue_lacks,
    names_course_alone,
    names_lesson_alone,
)
from antiphon.engine.offline.intents.comparisons import compares
from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.parsing import Parsed
from antiphon.engine.offline.intents.second_step import (
    asked_then,
    asks_of_described_course,
    asks_of_described_lesson,
    bare_question,
)
from antiphon.engine.offline.intents.several_lessons import (
    asks_between_lessons,
    asks_for_titles_with,
    asks_of_lesson_in_each,
)
from antiphon.engine.offline.intents.sought import (
    asks_for_found,
    sought,
    topic_stretch,
)

MOST_LESSONS = 4
"""Of several lessons that a question names as many are summed up; of each, two tools are called."""

ELSEWHERE = re.compile(
    r"\b(?:(?:an)?other courses?|different course|same (?:topic|subject|thing)"
    r"|(?:some|any)?thing(?: \w+ is)? similar|(?:that|which) (?:is|are) similar|similar to"
    r"|similar (?:topic|subject|theme|thing|idea|lesson|lecture|course|content|material)s?"
    r"|(?:topic|subject|theme) of (?:the )?lesson"
    r"|(?:shares?|sharing|have|has) (?:a|the|its|their) (?:topic|subject|theme)"
    r"|(?:some(?:one|body)|any(?:one|body)) else|comes? up again|related to|elsewhere|where else)\b",
    re.I,
)
_APART_FROM = re.compile(
    r"\b(?:any|an|which|what|the)?\s*other courses?\b|\banother course\b"
    r"|\b(?:besides|apart from|aside from|other than|except|outside)\b",
    re.I,
)
_ACROSS = re.compile(
    r"\b(?:which|what|how many|all|any|every|each|some) (?:of the |of these |the |these )?(?:courses|lessons)\b"
    r"|\b(?:across|in|do|among|throughout) (?:all |all of )?(?:the|these|your) courses\b"
    r"|\b(?:any|some|every|each|which|what|there a|have a|for a|another|other) course\b|\bcourses? (?:that|which)\b",
    re.I,
)


def with_kind(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns the question with its kind; one that repeats the question before it in another place has it already."""
    if inquiry.missing_lesson is not None and _is_no_other(inquiry, parsed):
        return inquiry._replace(kind="outline")
    if inquiry.kind != "plain":
        return inquiry
    for rule in _RULES:
        found = rule(inquiry, parsed)
        if found is not None:
            return found
    return inquiry


def _is_no_other(inquiry: Inquiry, parsed: Parsed) -> bool:
    """Returns True where the lesson that its course does not have is named by number, or by nothing that it says."""
    if inquiry.place is not None and inquiry.place.number is not None:
        return True
    return not sought(inquiry, parsed)


def _looks_elsewhere(inquiry: Inquiry, _: Parsed) -> Inquiry | None:
    """Takes what asks for other courses on the topic of a lesson, and perhaps what they say of something."""
    if not inquiry.is_about_lesson or not ELSEWHERE.search(inquiry.question):
        return None
    then = asked_then(inquiry.question)
    topic = inquiry.topic
    if then:
        topic = topic.replace(then, "")
    return inquiry._replace(kind="look_up", topic=topic, wanted=bare_question(then))


def _asks_apart_from_course(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "Does any other course than the MCP course speak of caching?"."""
    if inquiry.courses and _APART_FROM.search(parsed.question):
        return _across(inquiry._replace(course=None), parsed)
    return None


def _asks_other_course_of_lesson(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "What does the git course say about what lesson 2 of X covers?": nothing but the two places is named."""
    if inquiry.other is None or not inquiry.is_about_lesson or parsed.asked.topic:
        return None
    return inquiry._replace(kind="look_up")


def _asks_about_lesson(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes what is asked of one lesson's text."""
    if not inquiry.is_about_lesson:
        return None
    if parsed.asked.is_pure or parsed.is_bare:
        # "What is covered in it" has no topic: it is all of the lesson. Nor has "lesson nr of prompt injection".
        inquiry = inquiry._replace(topic="")
    if inquiry.lessons and parsed.is_bare:
        return inquiry._replace(kind="outline", asks=frozenset({"title"}))
    if inquiry.lessons:
        return _lesson_by_lesson(inquiry)
    return inquiry._replace(kind="lesson")


def _lesson_by_lesson(inquiry: Inquiry) -> Inquiry:
    """Returns what is asked of several lessons as a question of each."""
    of_one = inquiry._replace(kind="lesson", lessons=())
    parts: list[Inquiry] = []
    for lesson in inquiry.lessons[:MOST_LESSONS]:
        question = f"What does lesson {lesson} say"
        parts.append(of_one._replace(question=question, lesson=lesson))
    return inquiry._replace(kind="several", parts=tuple(parts))


def _asks_across_courses(inquiry: Inquiry, parsed: Parsed) -> Inquiry | None:
    """Takes "Which courses speak of caching?"."""
    if not inquiry.courses and _ACROSS.search(inquiry.question):
        return _across(inquiry, parsed)
    return None


def _across(inquiry: Inquiry, parsed: Parsed) -> Inquiry:
    """Returns a question to all courses, its topic without the words in which it is asked of them."""
    inquiry = inquiry._replace(kind="across")
    topic = topic_stretch(parsed)
    if topic is None or inquiry.question != parsed.question:
        return inquiry
    return inquiry._replace(topic=topic)


# Each would also take questions that one before it means.
_RULES = (
    asks_between_lessons,
    asks_for_titles_with,
    _looks_elsewhere,
    asks_after_teacher,
    asks_for_prerequisites,
    asks_what_catalogue_lacks,
    _asks_apart_from_course,
    asks_of_every_course,
    asks_of_described_course,
    asks_of_described_lesson,
    asks_for_found,
    asks_of_catalogue,
    asks_for_unknown,
    compares,
    asks_of_lesson_in_each,
    _asks_other_course_of_lesson,
    names_lesson_alone,
    _asks_about_lesson,
    names_course_alone,
    asks_for_course_on,
    _asks_across_courses,
)
