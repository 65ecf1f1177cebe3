"""The judge of answers: whether what a person reads answers the question, and what it says of itself.

It is strict where a lenient judge could be pleased by form: a phrase counts in the first screen of an answer only, a
right lesson must be cited for it, and a phrase that many lessons hold counts nowhere (docs/decisions/153).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Literal

from antiphon import service
from antiphon.cli.phrases import stands_in
from antiphon.cli.questions import (
    LESSON,
    SMALL_TALK,
    TWO_STEP,
    UNANSWERABLE,
    Place,
    SampleQuestion,
)
from antiphon.vocabulary.events import (
    ContextSynthesized,
    Event,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.values import Passage, Value

Verdict = Literal["answered", "in_part", "failed"]

READ_CHARS = 2_000
"""As much of an answer as is judged, some three excerpts: one that quotes a whole lesson holds every phrase of it."""

COMMON_SHARE = 0.5
FEWEST_LESSONS = 4
"""A phrase that stands in this share of the lessons says nothing; of fewer lessons that cannot be told."""

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


class Judgement(Value, frozen=True, kw_only=True):
    """What the judge makes of one answer.

    Attributes:
        verdict: For a question that nothing answers, "answered" is an answer that says so.
        parts: How many parts a right answer has.
        parts_found: How many of them stand in the answer.
        right_lesson_first: The first cited lesson is a right one; None where the question asks for no lesson.
        says_so: The answer owns that the courses do not hold it, or only something near.
        empty: It says so, and shows nothing of the courses.
    """

    verdict: Verdict
    parts: int
    parts_found: int
    right_lesson_first: bool | None
    says_so: bool
    empty: bool


def judge(
    question: SampleQuestion,
    response: ResponseAssembled,
    common: Set[str] = frozenset(),
) -> Judgement:
    """Judges the answer to a question.

    Args:
        common: Phrases that say nothing, because many lessons hold them.
    """
    read = _read_by_people(response)
    parts_found = 0
    for part in question.needed:
        parts_found += _any_stands_in(set(part) - common, read)
    says_so = admits_gap(response, question.question)
    if question.kind == UNANSWERABLE:
        verdict = _verdict(says_so, 0)
    else:
        # Where nothing is needed, nothing can be right.
        whole = 0 < parts_found == len(question.needed)
        misled = _any_stands_in(question.absent, read)
        right = whole and not misled and _is_in_place(question, response)
        verdict = _verdict(right, parts_found * (not misled))
    return Judgement(
        verdict=verdict,
        parts=len(question.needed),
        parts_found=parts_found,
        right_lesson_first=_right_lesson_first(question, response),
        says_so=says_so,
        empty=says_so and not response.citations,
    )


def _any_stands_in(phrases: Iterable[str], text: str) -> bool:
    return any(stands_in(phrase, text) for phrase in phrases)


def _verdict(right: bool, parts_found: int) -> Verdict:
    if right:
        return "answered"
    if parts_found:
        return "in_part"
    return "failed"


def _read_by_people(response: ResponseAssembled) -> str:
    """Returns the answer and the words that it cites, each as far as it is read."""
    cited = "\n".join(citation.cited_text for citation in response.citations)
    return f"{response.answer[:READ_CHARS]}\n{cited[:READ_CHARS]}"


def admits_gap(response: ResponseAssembled, question: str = "") -> bool:
    """Returns True if an answer owns that the courses do not hold it, or only something near to it.

    Its confidence is low, for the reason that too little was found. Where it shows the nearest passages all the same, a
    sentence of its own stands before them and says in words that it is not there: the name of a source, a heading in
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
    places: dict[Place, None] = {}
    for citation in response.citations:
        if citation.course is not None:
            places[Place(course=citation.course, lesson=citation.lesson)] = None
    return list(places)


def _is_in_place(question: SampleQuestion, response: ResponseAssembled) -> bool:
    """Returns True if an answer rests on the lessons that hold it, as far as its kind asks for that."""
    cited = set(places_cited(response))
    if question.kind == SMALL_TALK:
        return not cited and not admits_gap(response, question.question)
    if not question.asks_lessons:
        return True
    if question.kind == TWO_STEP:
        # An excerpt from every course that might be meant names the right one too.
        return bool(_right_lesson_first(question, response))
    outlines = {Place(course=place.course, lesson=None) for place in question.lessons}
    right = set(question.answered_by) | outlines
    if question.kind == LESSON:
        # "What was covered in lesson 4" is not answered with another lesson's words.
        return set() < cited <= right
    return bool(cited & right)


def _right_lesson_first(
    question: SampleQuestion, response: ResponseAssembled
) -> bool | None:
    if not question.asks_lessons:
        return None
    right = set(question.answered_by)
    for place in places_cited(response):
        # A look-up in the outline may be told before what it led to.
        if place.lesson is not None or place in right:
            return place in right
    return False


def passages_of(trace: Iterable[Recorded[Event]]) -> dict[str, Passage]:
    """Returns all passages that a query found, by the fact's id."""
    passages: dict[str, Passage] = {}
    for recorded in trace:
        if isinstance(recorded.event, ContextSynthesized):
            for fact in recorded.event.facts:
                passages[fact.id] = fact.passage
    return passages


def wrong_citations(
    outcome: service.Outcome, passages: Mapping[str, Passage]
) -> tuple[str, ...]:
    """Returns the cited words that are not in the passage that they name, character for character."""
    wrong: list[str] = []
    for citation in outcome.response.citations:
        passage = passages.get(citation.fact)
        # A quotation that is nearly right is not one.
        if passage is None or citation.cited_text not in passage.text.text:
            wrong.append(citation.cited_text)
    return tuple(wrong)


def common_phrases(
    questions: Iterable[SampleQuestion], passages: Iterable[Passage]
) -> frozenset[str]:
    """Returns the phrases that would be found in an answer from nearly any lesson, out of all passages of a run."""
    lessons = _texts_by_lesson(passages)
    if len(lessons) < FEWEST_LESSONS:
        return frozenset()
    common: set[str] = set()
    for question in questions:
        # Catalogue words such as a course's title may be anywhere: the outline is what they are asked of.
        if question.asks_lessons:
            common |= {each for each in question.phrases if _is_common(each, lessons)}
    return frozenset(common)


def _texts_by_lesson(passages: Iterable[Passage]) -> list[str]:
    lessons: dict[Place, dict[str, None]] = {}
    for passage in passages:
        if passage.course is not None and passage.lesson is not None:
            place = Place(course=passage.course, lesson=passage.lesson)
            lessons.setdefault(place, {})[passage.text.text] = None
    return ["\n".join(texts) for texts in lessons.values()]


def _is_common(phrase: str, lessons: Sequence[str]) -> bool:
    holding = sum(stands_in(phrase, text) for text in lessons)
    return holding >= COMMON_SHARE * len(lessons)
