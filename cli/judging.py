"""Judges if the part of an answer that a person reads answers the question, and if the answer admits a gap.

The judge is strict, so that mere form does not please it: a phrase counts only in the first screen of an answer, and
the answer must cite a right lesson for it (docs/decisions/016-judging-by-phrases.md).
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
"""The characters of an answer that count, about three excerpts: quoting a whole lesson would include any phrase."""

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
"""Doubts about an answer whose search did not finish: its "nothing was found" proves nothing."""

_SENTENCE = re.compile(r"[^.!?:;\n\u3002\uff1a]+[.!?:;\u3002\uff1a]?")
_SOURCE = re.compile(r"\bLesson \d+, ")
"""Recognises the name of a source, which may hold any word."""
_DENIES = re.compile(
    r"\b(?:no|not|none|nothing|nowhere|cannot|nichts?|kein\w*|ne|pas|rien|non|nulla|n\u00e3o|nada|niets?|geen"
    r"|\u043d\u0435|\u043d\u0435\u0442|\u043d\u0438\u0447\u0435\u0433\u043e)\b|\bn['\u2019](?:t|y|est)\b|n['\u2019]t\b"
    r"|\u6ca1\u6709|\u306a\u3044|\u307e\u305b\u3093",
    re.IGNORECASE,
)
"""Words of denial in the languages of the answers."""


def is_right(question: SampleQuestion, response: ResponseAssembled) -> bool:
    """Returns True if an answer is right: it has all needed parts, or admits that there is no answer."""
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
    """Returns the parts of the answer and of its cited words that people read."""
    cited = "\n".join(citation.cited_text for citation in response.citations)
    return f"{response.answer[:READ_CHARS]}\n{cited[:READ_CHARS]}"


def admits_gap(response: ResponseAssembled, question: str = "") -> bool:
    """Returns True if an answer admits that the courses do not hold it, or only something near it.

    Its confidence must be low because too little was found. If it still quotes the nearest passages, a sentence of its
    own before them must deny in words that the answer is there: the name of a source, a heading in the question's
    words, or "the closest" alone is not enough.

    Args:
        question: The question, which an answer may repeat.
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
    """Returns True if an answer cites the lessons that hold it, as strictly as the kind of question requires."""
    cited = set(places_cited(response))
    if question.kind == SMALL_TALK:
        return not cited and not admits_gap(response, question.question)
    if not question.asks_lessons:
        return True
    if question.kind == TWO_STEP:
        # Only the first citation counts: excerpts from all courses that might be meant would include the right one.
        return bool(right_lesson_first(question, response))
    outlines = {Place(course=place.course, lesson=None) for place in question.lessons}
    right = set(question.answered_by) | outlines
    if question.kind == LESSON:
        # Another lesson's words do not answer "What was covered in lesson 4".
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
        # An answer may cite the outline, in which it looked the lesson up, before the lesson itself.
        if place.lesson is not None or place in right:
            return place in right
    return False
