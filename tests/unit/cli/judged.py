"""Answers to sample questions, for tests of how they are judged."""

from __future__ import annotations

from msgspec.structs import replace

from antiphon.service import Outcome
from antiphon.vocabulary.events import Confidence, ContextSynthesized, Event, Recorded
from antiphon.vocabulary.values import Citation, Fact, Indicator, Passage, StoredText
from tests.story import placed, response_assembled


def trace() -> list[Recorded[Event]]:
    """The trace of a query that found one passage, of lesson 2."""
    passage = lesson_passage(2, "k1 is 1.2 in Lucene.")
    fact = Fact(id="f1", passage=passage, tool_call_id="t1", round=1)
    return placed("q", [ContextSynthesized(round=1, facts=(fact,))])


def lesson_passage(lesson: int, text: str) -> Passage:
    """A passage of a lesson of course C."""
    return Passage(
        id=f"p{lesson}",
        source=f"C - Lesson {lesson}",
        text=StoredText(text),
        course="C",
        lesson=lesson,
    )


def outcome(
    *citations: Citation,
    answer: str = "It is 1.2.",
    confidence: Confidence = "high",
    doubts: tuple[str, ...] = (),
) -> Outcome:
    """What came of a query, with an indicator of each kind in `doubts`."""
    indicators = [Indicator(kind=kind, detail="…", event_seq=3) for kind in doubts]
    response = replace(
        response_assembled(answer),
        citations=citations,
        confidence=confidence,
        indicators=tuple(indicators),
    )
    return Outcome(
        query_id="q",
        session_id="s",
        response=response,
        status="answered",
        duration_ms=1.0,
    )


def cites(
    text: str = "k1 is 1.2",
    lesson: int | None = 2,
    fact: str = "f1",
    *,
    course: str = "C",
    start: int = 0,
) -> Citation:
    """A citation of a lesson, or of the outline where that is None."""
    return Citation(
        start=start,
        end=start + 9,
        cited_text=text,
        source=course,
        fact=fact,
        course=course,
        lesson=lesson,
    )
