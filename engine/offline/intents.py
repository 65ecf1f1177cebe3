"""What kind of answer a question wants: the rules are ways of asking, written down; pure."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from engine.offline.mentions import course_mentions, lesson_number, titles, without_places
from language.evidence import telling_words
from language.words import words

Kind = Literal["outline", "look_up", "compare", "lesson", "across", "plain", "greeting"]

_OUTLINE = re.compile(
    r"\b(?:outline|table of contents|syllabus|curriculum|how many lessons|(?:what|which) lessons (?:does|do|are|has|have|make)"
    r"|list (?:of )?(?:all )?(?:the )?lessons|lesson (?:titles|names|list)|who (?:teaches|taught|gives|holds|instructs)"
    r"|instructor|course link|link (?:to|of) (?:the|that|this|it)|structure of (?:the|that|this))\b", re.I,
)
_ELSEWHERE = re.compile(
    r"\b(?:(?:an)?other courses?|different course|(?:same|similar) (?:topic|subject|thing)|(?:topic|subject|theme) of lesson"
    r"|comes? up again|related to|elsewhere)\b", re.I,
)
_COMPARE = re.compile(
    r"\b(?:differences?|differ|differs|compare[ds]?|comparison|comparing|versus|vs\.?|contrast|have in common|similarit\w+)\b"
    r"|\b(?:is|are) .+ the same(?: thing)? as\b", re.I,
)
_ACROSS = re.compile(
    r"\b(?:which|what|how many|all|any|every|each|some) (?:of the |of these |the |these )?(?:courses|lessons)\b"
    r"|\b(?:across|in|do|among|throughout) (?:all |all of )?(?:the|these|your) courses\b|\b(?:any|every|each) course\b", re.I,
)
_FOLLOW_UP = re.compile(r"(?:and|but|so|what about|how about|why|ok|then)\b|.*\b(?:it|its|that|this|they|them|those|one|ones)\b", re.I)
_GREETING = frozenset("hi hello hey thanks thank you good morning evening afternoon bye goodbye please ok okay".split())
_SIDES = (
    re.compile(r"\b(?:differences?|similarit\w+|comparison|contrast|distinction) (?:between|of) (.+?) and (.+)", re.I),
    re.compile(r"\b(?:compare|contrast) (.+?) (?:with|to|and|against) (.+)", re.I),
    re.compile(r"\bhow (?:do|does|did|is|are) (.+?) (?:differ|different) from (.+)", re.I),
    re.compile(r"\b(?:is|are) (.+?) the same(?: thing)? as (.+)", re.I),
    re.compile(r"\bwhat (?:do|does) (.+?) and (.+?) have in common", re.I),
    re.compile(r"(.+?) (?:versus|vs\.?) (.+)", re.I),
    re.compile(r"(.+?) and (?:when|how|why|what|where) (.+)", re.I),
    re.compile(r"\bhow (?:do|does|did) (.+?) and (.+?) (?:differ|compare)", re.I),
)
_OPENINGS = re.compile(
    r"^(?:(?:what|which|how|when|where|why|is|are|do|does|did|i|want|use|using|the|a|an|need|should|shall|explain|tell|me)\b ?)+", re.I
)


class Side(NamedTuple):
    """One side of a comparison: what to look for, and in which course where one is named."""

    topic: str
    course: str | None = None
    lesson: int | None = None


class Intent(NamedTuple):
    """What a question wants.

    Attributes:
        question: The question as understood: a follow-up is joined to what it follows.
        course: The course it names (the one to look up, where there are two).
        other: A second course it names.
        topic: What it is about, without the places it names.
        sides: The two sides of a comparison.
    """

    kind: Kind
    question: str
    topic: str
    course: str | None = None
    other: str | None = None
    lesson: int | None = None
    sides: tuple[Side, ...] = ()


def understand(question: str, earlier: tuple[str, ...] = ()) -> Intent:
    """The rules in order; the first that fits decides."""
    whole = _with_earlier(question, earlier)
    names = [mention.name for mention in course_mentions(whole)]
    course, other = (names + [None, None])[:2]
    lesson = lesson_number(question) if lesson_number(question) is not None else lesson_number(whole)
    topic = without_places(whole)
    plain = Intent("plain", whole, topic, course, other, lesson)
    if set(words(question)) <= _GREETING:
        return plain._replace(kind="greeting")
    if lesson is not None and course is not None and _ELSEWHERE.search(whole):
        return plain._replace(kind="look_up")
    if _OUTLINE.search(whole) and (named := course or _title_in(whole)):
        return plain._replace(kind="outline", course=named)
    sides = _sides(whole) if _COMPARE.search(whole) else ()
    if sides:
        return plain._replace(kind="compare", sides=sides)
    if lesson is not None and course is not None:
        return plain._replace(kind="lesson")
    if _ACROSS.search(whole) and course is None:
        return plain._replace(kind="across")
    return plain


def _with_earlier(question: str, earlier: tuple[str, ...]) -> str:
    """A follow-up is understood together with the question before it."""
    alone = len(telling_words(question)) >= 3 or course_mentions(question)
    if not earlier or alone or not (_FOLLOW_UP.match(question) or not telling_words(question)):
        return question
    return f"{earlier[-1].rstrip()} {question}"


def _title_in(question: str) -> str | None:
    return next((mention.name for mention in titles(question)), None)


def _sides(question: str) -> tuple[Side, ...]:
    """The two sides; titles are hidden meanwhile, since they hold an "and" of their own."""
    masked, names = _masked(question)
    for pattern in _SIDES:
        found = pattern.search(masked)
        if found is not None:
            sides = tuple(_side(part, names) for part in found.groups())
            if all(telling_words(side.topic) or side.lesson is not None for side in sides):
                return sides
    return ()


def _masked(question: str) -> tuple[str, list[str]]:
    names: list[str] = []
    masked, at = "", 0
    for mention in course_mentions(question):
        masked += f"{question[at : mention.start]}\u27e6{len(names)}\u27e7"
        names.append(mention.name)
        at = mention.end
    return masked + question[at:], names


def _side(part: str, names: list[str]) -> Side:
    part = re.split(r"[:;?!]|\. ", part)[0]
    named = re.search("\u27e6(\\d+)\u27e7", part)
    topic = re.sub("(?i)(?:,? ?(?:as )?(?:is |are )?(?:taught|described|explained|treated|graded|evaluated)?"
                   " (?:in|of|from|by) )?(?:the )?(?:course )?\u27e6\\d+\u27e7(?: course)?", "", part)
    lesson = lesson_number(topic)
    topic = _OPENINGS.sub("", topic.strip(" ,")).strip(" ,")
    return Side(topic, names[int(named[1])] if named else None, lesson)
