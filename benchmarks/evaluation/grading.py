"""The grade of an answer: the verdict of the command's own judge, with the evidence for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import Literal, NamedTuple

from msgspec.structs import replace

from antiphon import service
from antiphon.cli.judging import (
    admits_gap,
    is_misled,
    is_right,
    parts_found,
    places_cited,
    right_lesson_first,
)
from antiphon.cli.phrases import stands_in
from antiphon.cli.questions import Place, SampleQuestion
from antiphon.vocabulary.events import Confidence, ContextSynthesized, Event, Recorded
from antiphon.vocabulary.values import Passage, Value

Verdict = Literal["answered", "in_part", "failed"]

COMMON_SHARE = 0.5
FEWEST_LESSONS = 4
"""A phrase in this share of the lessons proves nothing; with fewer lessons than this, the share means nothing."""


class Grade(Value, frozen=True, kw_only=True):
    """The grade of one answer.

    Attributes:
        verdict: For a question that nothing answers, "answered" means that the answer says so.
        parts: The number of parts of a right answer; the answer holds `parts_found` of them.
        right_lesson_first: The first cited lesson is a right one; None if the question asks for no lesson.
        says_so: The answer admits that the courses hold no answer, or only something close.
        empty: The answer says so, and shows nothing from the courses.
        wrong_citations: Cited words that are not in the cited passage.
        cited: The cited lessons and outlines, in order.
    """

    id: str
    kind: str
    forms: tuple[str, ...]
    question: str
    verdict: Verdict
    parts: int
    parts_found: int
    right_lesson_first: bool | None
    says_so: bool
    empty: bool
    confidence: Confidence
    rounds: int
    calls: int
    answer: str
    cited: tuple[str, ...]
    wrong_citations: tuple[str, ...]
    reasoner: str
    duration_ms: float
    query_id: str

    @property
    def right(self) -> bool:
        """The answer is right: it lacks nothing, or it rightly says that nothing answers the question."""
        return self.verdict == "answered"


class Asked(NamedTuple):
    """A question with its outcome and the passages that the query found, by the fact's id."""

    question: SampleQuestion
    outcome: service.Outcome
    passages: Mapping[str, Passage]


def grades_of(asked: Sequence[Asked]) -> list[Grade]:
    """Grades all answers of a run; the passages of the whole run show which phrases prove nothing."""
    found = chain.from_iterable(each.passages.values() for each in asked)
    common = common_phrases([each.question for each in asked], found)
    return [_graded(each, common) for each in asked]


def grade(
    question: SampleQuestion,
    outcome: service.Outcome,
    trace: Iterable[Recorded[Event]] = (),
) -> Grade:
    """Grades one answer by itself, and checks its citations against the passages in the trace."""
    return _graded(Asked(question, outcome, passages_of(trace)), frozenset())


def _graded(asked: Asked, common: AbstractSet[str]) -> Grade:
    telling = [tuple(set(part) - common) for part in asked.question.needed]
    question = replace(asked.question, needed=tuple(telling))
    outcome, response = asked.outcome, asked.outcome.response
    found = parts_found(question, response)
    says_so = admits_gap(response, question.question)
    return Grade(
        id=question.id,
        kind=question.kind,
        forms=question.forms,
        question=question.question,
        verdict=_verdict(question, outcome),
        parts=len(question.needed),
        parts_found=found,
        right_lesson_first=right_lesson_first(question, response),
        says_so=says_so,
        empty=says_so and not response.citations,
        confidence=response.confidence,
        rounds=response.rounds,
        calls=response.calls,
        answer=response.answer,
        cited=tuple(f"{each.course} {each.part}" for each in places_cited(response)),
        wrong_citations=_wrong_citations(asked),
        reasoner=response.reasoner,
        duration_ms=outcome.duration_ms,
        query_id=outcome.query_id,
    )


def _verdict(question: SampleQuestion, outcome: service.Outcome) -> Verdict:
    response = outcome.response
    if is_right(question, response):
        return "answered"
    if parts_found(question, response) and not is_misled(question, response):
        return "in_part"
    return "failed"


def passages_of(trace: Iterable[Recorded[Event]]) -> dict[str, Passage]:
    """Returns all passages that a query found, by the fact's id."""
    passages: dict[str, Passage] = {}
    for recorded in trace:
        if isinstance(recorded.event, ContextSynthesized):
            passages |= {fact.id: fact.passage for fact in recorded.event.facts}
    return passages


def _wrong_citations(asked: Asked) -> tuple[str, ...]:
    """Returns the cited words that are not, character for character, in the cited passage."""
    wrong: list[str] = []
    for citation in asked.outcome.response.citations:
        passage = asked.passages.get(citation.fact)
        # A nearly right quotation is wrong.
        if passage is None or citation.cited_text not in passage.text.text:
            wrong.append(citation.cited_text)
    return tuple(wrong)


def common_phrases(
    questions: Iterable[SampleQuestion], passages: Iterable[Passage]
) -> frozenset[str]:
    """Returns the phrases that an answer from nearly any lesson would contain, judging by all passages of a run."""
    lessons = _texts_by_lesson(passages)
    if len(lessons) < FEWEST_LESSONS:
        return frozenset()
    common: set[str] = set()
    for question in questions:
        # Catalogue words, such as a course's title, may be in every lesson, but the outline is their source.
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
