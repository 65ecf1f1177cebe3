"""Judges whether what a person reads of an answer answers the question, and what the answer says of itself.

The judge is strict if form could please a lenient one: a phrase counts in the first screen of an answer only, and a
right lesson must be cited for it (docs/decisions/016-judging-by-phrases.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from antiphon.cli.phrases import stands_in
from antiphon.cli.questions import (
    LESSON,
    SMALL_TALK,
    TWO_STEP,
    UNANSWERABLE,
    Place,
    SampleQuestion,
)
from antiphon.vocabulary.events import ResponseAssembled

READ_CHARS = 2_000
"""As much of an answer as is judged, some three excerpts: one that quotes a whole lesson holds every phrase of it."""

COULD_NOT_LOOK = frozenset(
    {
        "tool_failed",
        "not_searched",
        "refused",
        "partial_evidence",
        "component_failed",
        "deadline",
        "budget",
    }
)
"""Doubts of an answer that did not search to the end: "nothing was found" is no finding of it."""

_SENTENCE = re.compile(r"[^.!?:;\n\u3002\uff1a]+[.!?:;\u3002\uff1a]?")
_SOURCE = re.compile(r"\bLesson \d+, ")
"""The name of a source, which may hold any word."""
_DENIES = re.compile(
    r"\b(?:no|not|none|nothing|nowhere|cannot|nichts?|kein\w*|ne|pas|rien|non|nulla|n\u00e3o|nada|niets?|geen"
    r"|\u043d\u0435|\u043d\u0435\u0442|\u043d\u0438\u0447\u0435\u0433\u043e)\b|\bn['\u2019](?:t|y|est)\b|n['\u2019]t\b"
    r"|\u6ca1\u6709|\u306a\u3044|\u307e\u305b\u3093",
    re.IGNORECASE,
)
"""Words that say that something is not there, in the languages that are answered in."""


def is_right(question: SampleQuestion, response: ResponseAssembled) -> bool:
    """Returns True if an answer is what was wanted: nothing is missing, or it says that nothing is there."""
    if question.kind == UNANSWERABLE:
        return admits_gap(response, question.question)
    # If nothing is needed, nothing can be right.
    whole = 0 < parts_found(question, response) == len(question.needed)
    right = whole and not is_misled(question, response)
    return right and _is_in_place(question, response)


def parts_found(question: SampleQuestion, response: ResponseAssembled) -> int:
    """Returns how many of the parts of a right answer are in this one."""
    read = _read_by_people(response)
    return sum(_any_stands_in(part, read) for part in question.needed)


def is_misled(question: SampleQuestion, response: ResponseAssembled) -> bool:
    """Returns True if an answer holds words that only a wrong one holds."""
    return _any_stands_in(question.absent, _read_by_people(response))


def _any_stands_in(phrases: Iterable[str], text: str) -> bool:
    return any(stands_in(phrase, text) for phrase in phrases)


def _read_by_people(response: ResponseAssembled) -> str:
    """Returns the answer and the words that it cites, each as far as it is read."""
    cited = "\n".join(citation.cited_text for citation in response.citations)
    return f"{response.answer[:READ_CHARS]}\n{cited[:READ_CHARS]}"


def admits_gap(response: ResponseAssembled, question: str = "") -> bool:
    """Returns True if an answer owns that the courses do not hold it, or only something near to it.

    Its confidence is low, for the reason that too little was found. If it shows the nearest passages all the same, a
    sentence of its own is before them and says in words that it is not there: the name of a source, a heading in
    the question's words, or "the closest" alone do not.

    Args:
        question: What was asked: an answer may repeat it.
    """
    doubts = {doubt.kind for doubt in response.indicators}
    if response.confidence != "low" or not doubts or doubts & COULD_NOT_LOOK:
        return False
    starts = [citation.start for citation in response.citations]
    if not starts:
        return bool(response.answer.strip())
    said = _SENTENCE.findall(response.answer[: min(starts)])
    return any(_denies(sentence.strip(), question) for sentence in said)


def _denies(sentence: str, question: str) -> bool:
    repeats = sentence.endswith("?") or stands_in(sentence, question)
    if repeats or _SOURCE.search(sentence):
        return False
    return _DENIES.search(sentence) is not None


def places_cited(response: ResponseAssembled) -> list[Place]:
    """Returns the lessons and outlines that an answer cites, in order, each once."""
    places = [
        Place(course=citation.course, lesson=citation.lesson)
        for citation in response.citations
        if citation.course is not None
    ]
    return list(dict.fromkeys(places))


def _is_in_place(question: SampleQuestion, response: ResponseAssembled) -> bool:
    """Returns True if an answer rests on the lessons that hold it, as far as its kind asks for that."""
    cited = set(places_cited(response))
    if question.kind == SMALL_TALK:
        return not cited and not admits_gap(response, question.question)
    if not question.asks_lessons:
        return True
    if question.kind == TWO_STEP:
        # An excerpt from every course that might be meant names the right one too.
        return bool(right_lesson_first(question, response))
    outlines = {Place(course=place.course, lesson=None) for place in question.lessons}
    right = set(question.answered_by) | outlines
    if question.kind == LESSON:
        # "What was covered in lesson 4" is not answered with another lesson's words.
        return set() < cited <= right
    return bool(cited & right)


def right_lesson_first(
    question: SampleQuestion, response: ResponseAssembled
) -> bool | None:
    """Returns True if the first cited lesson is a right one; None if the question asks for no lesson."""
    if not question.asks_lessons:
        return None
    right = set(question.answered_by)
    for place in places_cited(response):
        # A look-up in the outline may be told before what it led to.
        if place.lesson is not None or place in right:
            return place in right
    return False
