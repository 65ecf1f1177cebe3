"""Decides what kind of answer a question wants, by the way it is asked; pure."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from antiphon.engine.offline.mentions import course_mentions, titles, without_places
from antiphon.language.evidence import telling_words
from antiphon.language.questions import (
    compared_sides,
    lesson_numbers,
    refers_back,
    without_opening,
)
from antiphon.language.words import words

MOST_CHARS = 1000
"""As much of a question is read: some patterns take time by the square of its length."""

_OUTLINE = re.compile(
    r"\b(?:outline|table of contents|syllabus|curriculum|how many lessons"
    r"|(?:what|which) lessons (?:does|do|are|has|have|make)|list (?:of )?(?:all )?(?:the )?lessons"
    r"|lesson (?:titles|names|list)|who (?:teaches|taught|gives|holds|instructs)|instructor|course link"
    r"|link (?:to|of) (?:the|that|this|it)|structure of (?:the|that|this))\b",
    re.I,
)
_ELSEWHERE = re.compile(
    r"\b(?:(?:an)?other courses?|different course|(?:same|similar) (?:topic|subject|thing)"
    r"|(?:topic|subject|theme) of lesson|comes? up again|related to|elsewhere)\b",
    re.I,
)
_ACROSS = re.compile(
    r"\b(?:which|what|how many|all|any|every|each|some) (?:of the |of these |the |these )?(?:courses|lessons)\b"
    r"|\b(?:across|in|do|among|throughout) (?:all |all of )?(?:the|these|your) courses\b|\b(?:any|every|each) course\b",
    re.I,
)
_GREETING = frozenset(
    (
        "hi",
        "hello",
        "hey",
        "thanks",
        "thank",
        "you",
        "good",
        "morning",
        "evening",
        "afternoon",
        "bye",
        "ok",
        "okay",
    )
)
_SIDE_ENDS = re.compile(r"[:;?!]|\. ")
_MASKED = re.compile("\u27e6(\\d+)\u27e7")
_PLACE_OF_SIDE = re.compile(
    "(?:,? ?(?:as )?(?:taught|described|explained|presented)? ?(?:in|of|from|by) )?(?:the )?(?:course )?"
    "\u27e6\\d+\u27e7(?: course)?",
    re.I,
)

Kind = Literal["outline", "look_up", "compare", "lesson", "across", "plain", "greeting"]


class Side(NamedTuple):
    """One side of a comparison: what to look for, and in which course where one is named."""

    topic: str
    course: str | None = None
    lesson: int | None = None


class Inquiry(NamedTuple):
    """A question as it was understood.

    Attributes:
        question: Its words: a follow-up is joined to what it follows.
        topic: What it is about, without the places it names.
        course: The course it names (the one to look up, where there are two).
        other: A second course it names.
        sides: The two sides of a comparison.
    """

    kind: Kind
    question: str
    topic: str
    course: str | None = None
    other: str | None = None
    lesson: int | None = None
    sides: tuple[Side, ...] = ()

    @property
    def focus(self) -> str:
        """The words to look for: the topic, or the whole question where the places it names are all it holds."""
        if telling_words(self.topic):
            return self.topic
        return self.question


def understand(question: str, earlier: tuple[str, ...] = ()) -> Inquiry:
    """Applies the rules in order; the first that fits decides.

    Args:
        earlier: Earlier questions of the conversation, oldest first.
    """
    bounded = question[:MOST_CHARS]
    inquiry = _located(bounded, _with_earlier(bounded, earlier))
    names_lesson = inquiry.lesson is not None and inquiry.course is not None
    # From the narrowest to the widest: each rule would also take questions that a rule before it means.
    if set(words(question)) <= _GREETING:
        return inquiry._replace(kind="greeting")
    if names_lesson and _ELSEWHERE.search(inquiry.question):
        return inquiry._replace(kind="look_up")
    if outlined := _outlined_course(inquiry):
        return inquiry._replace(kind="outline", course=outlined)
    if sides := _sides(inquiry.question):
        return inquiry._replace(kind="compare", sides=sides)
    if names_lesson:
        return inquiry._replace(kind="lesson")
    return inquiry


def _located(question: str, whole: str) -> Inquiry:
    """Returns the question with the places that it names; of kind `across` or `plain` until a narrower rule fits.

    Args:
        whole: The question with the one that it follows.
    """
    names = [mention.name for mention in course_mentions(whole)]
    # A lesson that the question itself names comes before one of the question that it follows.
    lessons = lesson_numbers(question) or lesson_numbers(whole)
    kind: Kind = "plain"
    if not names and _ACROSS.search(whole):
        kind = "across"
    return Inquiry(
        kind=kind,
        question=whole,
        topic=without_places(whole),
        course=next(iter(names), None),
        other=next(iter(names[1:]), None),
        lesson=next(iter(lessons), None),
    )


def _with_earlier(question: str, earlier: tuple[str, ...]) -> str:
    """Joins a follow-up to the question before it, without which it is not understood."""
    if not earlier or course_mentions(question) or not refers_back(question):
        return question
    return f"{earlier[-1][:MOST_CHARS].rstrip()} {question}"


def _outlined_course(inquiry: Inquiry) -> str | None:
    """Returns the course whose outline is asked for; written like a title it need not be called a course."""
    if not _OUTLINE.search(inquiry.question):
        return None
    if inquiry.course is not None:
        return inquiry.course
    named = titles(inquiry.question)
    if not named:
        return None
    return named[0].name


def _sides(question: str) -> tuple[Side, ...]:
    """Returns the two sides; the names of courses are masked meanwhile, since they hold an "and" of their own."""
    masked, names = _masked(question)
    compared = compared_sides(masked)
    if compared is None:
        return ()
    sides = (_side(compared[0], names), _side(compared[1], names))
    for side in sides:
        if not telling_words(side.topic) and side.lesson is None:
            return ()
    return sides


def _masked(question: str) -> tuple[str, list[str]]:
    names: list[str] = []
    masked = ""
    at = 0
    for mention in course_mentions(question):
        masked += f"{question[at : mention.start]}\u27e6{len(names)}\u27e7"
        names.append(mention.name)
        at = mention.end
    return masked + question[at:], names


def _side(part: str, names: list[str]) -> Side:
    part = _SIDE_ENDS.split(part)[0]
    course = None
    named = _MASKED.search(part)
    if named:
        course = names[int(named[1])]
    topic = _PLACE_OF_SIDE.sub("", part)
    lessons = lesson_numbers(topic)
    return Side(without_opening(topic), course, next(iter(lessons), None))
