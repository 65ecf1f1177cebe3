"""How an answer to a sample question is graded: pure rules over the outcome and its trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from antiphon.service import Outcome
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import ContextSynthesized, Event, Recorded, ResponseAssembled
from antiphon.vocabulary.values import Passage, Value

UNANSWERABLE = "unanswerable"


class Place(Value, frozen=True, kw_only=True):
    """Where an answer stands; lesson None is the course's outline."""

    course: str
    lesson: int | None


class SampleQuestion(Value, frozen=True, kw_only=True):
    """One line of a questions file (samples/README.md): `facts` are phrases that a right answer may contain."""

    id: str
    kind: str
    question: str
    answered_by: tuple[Place, ...] = ()
    facts: tuple[str, ...] = ()


class Grade(Value, frozen=True, kw_only=True):
    """How one answer did.

    Attributes:
        right: A right lesson is cited; for a question that nothing answers: the answer says so.
        complete: Every right lesson is cited.
        facts_found: How many of the question's phrases stand in the answer.
        wrong_citations: Cited words that are not in the passage that they name.
        note: What was cited, or said, where it is not right.
    """

    id: str
    kind: str
    question: str
    right: bool
    complete: bool
    rounds: int
    calls: int
    facts: int
    facts_found: int
    citations: int
    wrong_citations: tuple[str, ...]
    confidence: str
    reasoner: str
    duration_ms: float
    query_id: str
    note: str = ""


def read_questions(lines: Iterable[str], name: str) -> list[SampleQuestion]:
    """The questions of a JSON lines file.

    Raises:
        BadInputError: A line is no question; its number is named.
    """
    questions = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            questions.append(msgspec.json.decode(line, type=SampleQuestion))
        except (msgspec.DecodeError, UnicodeEncodeError) as error:
            raise BadInputError(f"{name}, line {number} is no question ({error}): see samples/README.md.") from error
    if not questions:
        raise BadInputError(f"{name} holds no questions: see samples/README.md.")
    return questions


def grade(question: SampleQuestion, outcome: Outcome, trace: Sequence[Recorded[Event]]) -> Grade:
    """How `outcome` does on `question`, its citations checked against the passages in the trace."""
    response = outcome.response
    cited = {Place(course=each.course, lesson=each.lesson) for each in response.citations if each.course is not None}
    asked_for = set(question.answered_by)
    right = _says_so(response) if question.kind == UNANSWERABLE else bool(cited & asked_for)
    return Grade(
        id=question.id,
        kind=question.kind,
        question=question.question,
        right=right,
        complete=right and asked_for <= cited,
        rounds=response.rounds,
        calls=response.calls,
        facts=len(question.facts),
        facts_found=sum(fact.casefold() in response.answer.casefold() for fact in question.facts),
        citations=len(response.citations),
        wrong_citations=_wrong_citations(outcome, trace),
        confidence=response.confidence,
        reasoner=response.reasoner,
        duration_ms=outcome.duration_ms,
        query_id=outcome.query_id,
        note="" if right else _note(cited, response.answer),
    )


def _says_so(response: ResponseAssembled) -> bool:
    """Whether an answer owns that the courses do not hold it: it was looked for, and nothing is cited."""
    looked = not any(doubt.kind == "tool_failed" for doubt in response.indicators)
    return looked and not response.citations and response.confidence != "high"


def _wrong_citations(outcome: Outcome, trace: Sequence[Recorded[Event]]) -> tuple[str, ...]:
    passages = _passages(trace)
    return tuple(
        citation.cited_text
        for citation in outcome.response.citations
        if citation.fact not in passages or citation.cited_text not in passages[citation.fact].text.text
    )


def _passages(trace: Sequence[Recorded[Event]]) -> dict[str, Passage]:
    """Every fact's passage, by the fact's id."""
    remembered = (said.event for said in trace if isinstance(said.event, ContextSynthesized))
    return {fact.id: fact.passage for event in remembered for fact in event.facts}


def _note(cited: set[Place], answer: str) -> str:
    if not cited:
        return f"cited nothing: {answer}"
    places = sorted(f"{place.course} {'outline' if place.lesson is None else place.lesson}" for place in cited)
    return f"cited {', '.join(places)}"


class Targets(Value, frozen=True, kw_only=True):
    """What a run must reach: shares of 1, rounds and calls of each question."""

    least_right: float = 0.9
    least_said_so: float = 5 / 6
    most_rounds: int = 2
    most_calls: int = 3


def shortfalls(grades: Sequence[Grade], targets: Targets) -> list[str]:
    """In sentences, where the run stays below its targets; none where it reaches them."""
    answerable = [each for each in grades if each.kind != UNANSWERABLE]
    others = [each for each in grades if each.kind == UNANSWERABLE]
    shares = (
        ("a right lesson is cited", answerable, targets.least_right),
        ("an unanswerable question is said to be one", others, targets.least_said_so),
    )
    short = [
        f"In {share(asked):.0%} {what}; at least {least:.0%} is wanted."
        for what, asked, least in shares
        if asked and share(asked) < least - 1e-9
    ]
    short += [
        f"{each.id} took {each.rounds} rounds and {each.calls} calls; "
        f"at most {targets.most_rounds} and {targets.most_calls} are allowed."
        for each in grades
        if each.rounds > targets.most_rounds or each.calls > targets.most_calls
    ]
    return short + [
        f"{each.id} cites words that are not in the passage it names: {words!r}."
        for each in grades
        for words in each.wrong_citations
    ]


def share(grades: Sequence[Grade]) -> float:
    """How many of `grades` are right, of 1."""
    return sum(each.right for each in grades) / len(grades)
