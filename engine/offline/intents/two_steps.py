"""Takes a message in two steps: a lesson to look at first, and what is asked with it in mind."""

from __future__ import annotations

import re

from antiphon.engine.offline.intents.inquiry import Inquiry
from antiphon.engine.offline.intents.kinds import ELSEWHERE
from antiphon.engine.offline.intents.second_step import asked_then, bare_question
from antiphon.language.asking import asked_of_catalogue
from antiphon.language.lesson_places import lesson_place
from antiphon.language.sentences import sentences

_LOOK = (
    r"(?:have a look|take a look|look|see|find|check|take|read|go|start|begin|open|consider|note|recall|remember"
    r"|think)\b"
)
_ASKS = r"(?:what|which|where|who|whose|how|why|when|does|do|is|are|can|tell me|find|name|show me|search|in which)\b"
_ASKING = re.compile(rf"\s*{_ASKS}", re.IGNORECASE)
_STEPS = re.compile(
    rf"\s*(?:(?:please|first|can you|could you|i want you to)\b,?\s+){{0,3}}(?P<step>{_LOOK}.{{3,300}}?)"
    rf"(?:[.;:!?]|,)\s+(?:(?:and|then|now|next|after that)\b,?\s+){{0,2}}(?P<question>{_ASKS}.*)",
    re.IGNORECASE | re.DOTALL,
)
_TELL = re.compile(r"^\W*(?:tell|show|give)\s+me\s+", re.IGNORECASE)
# "Find the course whose project is a receptionist and tell me how many lessons it has": the first step finds a course.
_FINDS_COURSE = re.compile(
    r"\s*(?:(?:please|first|can you|could you|i want you to)\b,?\s+){0,3}"
    r"(?:look up|look for|find out|find me|find|check|see|search for|identify|work out|figure out)\s+"
    r"(?:(?P<which>(?:in )?(?:which|what))|the)\s+(?P<noun>course|class|lesson|lecture)\s+(?P<said>.{3,300}?)"
    r"(?:\s*[,;.]\s*|\s+)(?:and then|and|then)\s+(?:also\s+)?"
    rf"(?P<question>(?:give me|send me|say\b|{_ASKS}).*)",
    re.IGNORECASE | re.DOTALL,
)
# What a question says of the step before it, at its end or as "that topic".
_POINTS_TO_STEP = re.compile(
    r"\b(?:it|them|this|that|these|those)\s*(?:too|as well|then)?\s*[?.!]*\s*$|\b(?:similar|alike|comparable)\b"
    r"|\b(?:its|that|this|the|the same) (?:topic|subject|theme|title|lesson|thing|idea)s?\b",
    re.IGNORECASE,
)


def steps_in(text: str) -> tuple[str, str] | None:
    """Returns the order to look something up and the question behind it; None where the message is not of that form."""
    found = _STEPS.match(text)
    if found is None:
        return None
    return found["step"].strip(), found["question"].strip()


def told_first(text: str) -> tuple[str, str] | None:
    """Returns what a message tells of a lesson and the question behind it; None where it is not of that form."""
    *told, asked = sentences(text)
    said = "".join(told).strip()
    # "Lesson 2 has a topic of another course too" is no statement about the lesson alone.
    if not said or "?" in said or ELSEWHERE.search(said):
        return None
    if "?" not in asked and not _ASKING.match(asked):
        return None
    return said, asked.strip()


def finding_first(text: str) -> tuple[str, str] | None:
    """Returns an order to find a course, and what to do with it, as the two questions that it is; None for no such."""
    found = _FINDS_COURSE.match(text)
    if found is None:
        return None
    which, noun, said = found["which"], found["noun"], found["said"]
    asked = f"{which} {noun} {said}?"
    if not which:
        asked = f"Which {noun} is the one {said}?"
    question = found["question"]
    return asked, f"{question[:1].upper()}{question[1:]}"


def in_found_lesson(lesson: Inquiry, asked: str) -> Inquiry:
    """Returns what is asked of a lesson that has to be found first, or of one beside it."""
    place = lesson_place(asked, after_lessons=True)
    if place is not None:
        lesson = lesson._replace(step=place.step)
    of_lesson = asked_of_catalogue(asked, of_course=True)
    # "And what comes after it?" asks for a place and nothing else.
    if not of_lesson.topic:
        return lesson._replace(asks=of_lesson.asks)
    wanted = bare_question(_TELL.sub("", asked))
    return lesson._replace(wanted=wanted, asks=frozenset())


def in_two_steps(step: Inquiry, question: Inquiry, asked: str) -> Inquiry:
    """Returns what is asked once a lesson is known.

    Args:
        step: What is to be looked at first: a lesson.
        question: What is asked then, understood as what follows it.
        asked: Its own words.
    """
    other = question.course
    if other == step.course:
        other = None
    if other is not None and (_POINTS_TO_STEP.search(asked) or not question.has_topic):
        return _on_its_topic(step, question, other)
    if other is None and ELSEWHERE.search(asked):
        return _on_its_topic(step, question, None)
    if other is None:
        return _in_lesson(step, question)
    # The question says itself what to look for: the lesson is named, and the other course is asked.
    named = step._replace(
        kind="outline",
        question=f"What is lesson {step.lesson} of {step.course} called?",
        asks=frozenset({"title"}),
        step=0,
    )
    return Inquiry("several", asked, asked, parts=(named, question))


def after_lesson(lesson: Inquiry, question: Inquiry) -> Inquiry:
    """Returns "And what does the MCP course say on that topic?" as asked on the topic of the lesson before it."""
    asked = question.question
    if not lesson.is_about_lesson or not _POINTS_TO_STEP.search(asked):
        return question
    if question.course not in (None, lesson.course):
        return _on_its_topic(lesson, question, question.course)
    if question.course is None and ELSEWHERE.search(asked):
        return _on_its_topic(lesson, question, None)
    return question


def asked_elsewhere(lesson: Inquiry, question: Inquiry, asked: str) -> Inquiry | None:
    """Returns what is asked of another course, behind a statement about a lesson; None where none is asked.

    "Lesson 1 of A deals with chunks. What does B say about their size?"
    """
    other = question.course
    if other in (None, lesson.course):
        other = None
        if not ELSEWHERE.search(asked):
            return None
    elif question.has_topic and not _POINTS_TO_STEP.search(asked):
        return question
    return _on_its_topic(lesson, question, other)


def _in_lesson(step: Inquiry, question: Inquiry) -> Inquiry:
    """Returns a question that names no place as one of the lesson that was to be looked at."""
    if question.kind != "plain" or question.has_course:
        return question
    return question._replace(
        kind="lesson", course=step.course, courses=step.courses, lesson=step.lesson
    )


def _on_its_topic(step: Inquiry, question: Inquiry, other: str | None) -> Inquiry:
    """Returns the question what another course says on the topic of the lesson."""
    return step._replace(
        kind="look_up",
        question=f"{step.question}. {question.question}",
        topic="",
        other=other,
        wanted=bare_question(asked_then(question.question)),
    )
