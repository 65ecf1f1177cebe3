"""`antiphon eval`: asks a file of questions and grades the answers by their citations."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from statistics import median_high
from typing import Annotated

import msgspec
import typer

from antiphon import service
from antiphon.cli.questions import UNANSWERABLE, Place, SampleQuestion, read_questions
from antiphon.cli.session import (
    DataDir,
    Json,
    Model,
    Reasoner,
    opened,
    settings_to_ask,
)
from antiphon.cli.terminal import (
    counted,
    err,
    new_table,
    one_line,
    out,
    print_json,
    short_id,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    ContextSynthesized,
    Event,
    Recorded,
    ResponseAssembled,
)
from antiphon.vocabulary.values import Passage, Value


class Targets(Value, frozen=True, kw_only=True):
    """The least that a run must reach: shares of 1; the most rounds and calls of each question."""

    least_right: float = 0.9
    least_said_so: float = 5 / 6
    most_rounds: int = 2
    most_calls: int = 3


DEFAULTS = Targets()


def evaluate(
    file: Annotated[
        Path,
        typer.Argument(
            help="Questions as JSON lines, such as samples/questions.jsonl."
        ),
    ],
    as_json: Json = False,
    least_right: Annotated[
        float,
        typer.Option(
            help="Share of answerable questions whose right lesson must be cited."
        ),
    ] = DEFAULTS.least_right,
    least_said_so: Annotated[
        float,
        typer.Option(
            help="Share of unanswerable questions of which the answer must say so."
        ),
    ] = DEFAULTS.least_said_so,
    most_rounds: Annotated[
        int, typer.Option(help="Most rounds a question may take.")
    ] = DEFAULTS.most_rounds,
    most_calls: Annotated[
        int, typer.Option(help="Most reasoning calls a question may take.")
    ] = DEFAULTS.most_calls,
    at_once: Annotated[
        int, typer.Option(min=1, help="How many questions are asked at once.")
    ] = 2,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks every question of a file and grades the answers by their citations; exit code 1 below the targets."""
    targets = Targets(
        least_right=least_right,
        least_said_so=least_said_so,
        most_rounds=most_rounds,
        most_calls=most_calls,
    )
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(
            f"{file} cannot be read ({error}): name a file of questions in UTF-8."
        ) from error
    questions = read_questions(lines, str(file))
    settings = settings_to_ask(data_dir=data_dir, reasoner=reasoner, model=model)
    grades = asyncio.run(_ask_all(settings, questions, at_once))
    short = shortfalls(grades, targets)
    if as_json:
        print_json(
            msgspec.json.encode({"grades": grades, "shortfalls": short}).decode()
        )
    else:
        show_grades(grades)
    for sentence in short:
        err.print(one_line(sentence, 300), style="red", soft_wrap=True)
    if short:
        raise typer.Exit(1)


async def _ask_all(
    settings: service.Settings, questions: Sequence[SampleQuestion], at_once: int
) -> list[Grade]:
    # More at once would only wait for one another's processor time, and their latencies would mean nothing.
    turns = asyncio.Semaphore(at_once)
    async with opened(settings) as antiphon:
        grading = [_graded(antiphon, question, turns) for question in questions]
        return await asyncio.gather(*grading)


async def _graded(
    antiphon: service.Antiphon, question: SampleQuestion, turns: asyncio.Semaphore
) -> Grade:
    async with turns:
        outcome = await antiphon.ask(service.Question(query=question.question))
    found = grade(question, outcome, await antiphon.store.read(outcome.query_id))
    mark = "✗"
    if found.right:
        mark = "✓"
    err.print(
        f"{mark} {found.id} {one_line(found.question, 80)}", style="dim", soft_wrap=True
    )
    return found


def show_grades(grades: Sequence[Grade]) -> None:
    """Prints a line for each kind of question, and each answer that is not right."""
    by_kind: dict[str, list[Grade]] = {}
    for each in grades:
        by_kind.setdefault(each.kind, []).append(each)
    table = new_table(
        "Kind",
        "Asked",
        "Right",
        "All lessons",
        "Phrases",
        "Most rounds",
        "Most calls",
        "ms (median)",
    )
    for kind, of_kind in by_kind.items():
        table.add_row(kind, *_row(of_kind))
    table.add_row("all", *_row(grades), style="bold")
    out.table(table)
    for each in grades:
        if not each.right:
            out.print(f"✗ {each.id} {one_line(each.question, 120)}", soft_wrap=True)
            out.print(
                f"    {one_line(each.note, 200)} ({short_id(each.query_id)})",
                soft_wrap=True,
            )


def _row(grades: Sequence[Grade]) -> tuple[str, ...]:
    complete = phrases = found = most_rounds = most_calls = 0
    times: list[float] = []
    for each in grades:
        complete += each.complete
        phrases += each.facts
        found += each.facts_found
        most_rounds = max(most_rounds, each.rounds)
        most_calls = max(most_calls, each.calls)
        times.append(each.duration_ms)
    # Empty where the file names no phrases: 0/0 would look like a failure.
    found_of_all = ""
    if phrases:
        found_of_all = f"{found}/{phrases}"
    return (
        str(len(grades)),
        f"{share(grades):.0%}",
        str(complete),
        found_of_all,
        str(most_rounds),
        str(most_calls),
        f"{median_high(times):.0f}",
    )


class Grade(Value, frozen=True, kw_only=True):
    """The grade of one answer.

    Attributes:
        right: A right lesson is cited; for a question that nothing answers: the answer says so.
        complete: Every right lesson is cited.
        facts_found: How many of the question's phrases stand in the answer.
        wrong_citations: Cited words that are not in the passage that they name.
        note: The citations, or the answer without any, where it is not right.
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


def grade(
    question: SampleQuestion, outcome: service.Outcome, trace: Sequence[Recorded[Event]]
) -> Grade:
    """Grades `outcome` on `question`; its citations are checked against the passages in the trace."""
    response = outcome.response
    cited = _places_cited(response)
    asked_for = set(question.answered_by)
    # One right lesson is enough: several may hold the answer, and the file lists them all.
    right = bool(cited & asked_for)
    if question.kind == UNANSWERABLE:
        right = _admits_gap(response)
    answer = response.answer.casefold()
    facts_found = 0
    for fact in question.facts:
        facts_found += fact.casefold() in answer
    note = ""
    if not right and cited:
        names = sorted(f"{place.course} {place.part}" for place in cited)
        note = f"cited {', '.join(names)}"
    elif not right:
        note = f"cited nothing: {response.answer}"
    return Grade(
        id=question.id,
        kind=question.kind,
        question=question.question,
        right=right,
        complete=right and asked_for <= cited,
        rounds=response.rounds,
        calls=response.calls,
        facts=len(question.facts),
        facts_found=facts_found,
        citations=len(response.citations),
        wrong_citations=_wrong_citations(outcome, trace),
        confidence=response.confidence,
        reasoner=response.reasoner,
        duration_ms=outcome.duration_ms,
        query_id=outcome.query_id,
        note=note,
    )


def _places_cited(response: ResponseAssembled) -> set[Place]:
    places: set[Place] = set()
    for citation in response.citations:
        if citation.course is not None:
            places.add(Place(course=citation.course, lesson=citation.lesson))
    return places


def _admits_gap(response: ResponseAssembled) -> bool:
    """Returns True if an answer owns that the courses do not hold it: it was looked for, and nothing is cited."""
    doubts = [doubt.kind for doubt in response.indicators]
    # "Nothing was found" is no finding where the search itself failed.
    if "tool_failed" in doubts:
        return False
    return not response.citations and response.confidence != "high"


def _wrong_citations(
    outcome: service.Outcome, trace: Sequence[Recorded[Event]]
) -> tuple[str, ...]:
    passages: dict[str, Passage] = {}
    for recorded in trace:
        if isinstance(recorded.event, ContextSynthesized):
            for fact in recorded.event.facts:
                passages[fact.id] = fact.passage
    wrong: list[str] = []
    for citation in outcome.response.citations:
        passage = passages.get(citation.fact)
        # Character for character: a quotation that is nearly right is not one.
        if passage is None or citation.cited_text not in passage.text.text:
            wrong.append(citation.cited_text)
    return tuple(wrong)


def shortfalls(grades: Sequence[Grade], targets: Targets) -> list[str]:
    """Returns a sentence for each target that the run misses."""
    answerable: list[Grade] = []
    others: list[Grade] = []
    for each in grades:
        if each.kind == UNANSWERABLE:
            others.append(each)
        else:
            answerable.append(each)
    return [
        *_below(answerable, targets.least_right, "a right lesson is cited"),
        *_below(
            others, targets.least_said_so, "an unanswerable question is said to be one"
        ),
        *_too_long(grades, targets),
        *_misquoted(grades),
    ]


def _below(grades: Sequence[Grade], least: float, what: str) -> list[str]:
    # A share such as 5 of 6 is no exact number.
    if not grades or share(grades) >= least - 1e-9:
        return []
    return [f"In {share(grades):.0%} {what}; at least {least:.0%} is wanted."]


def _too_long(grades: Sequence[Grade], targets: Targets) -> list[str]:
    sentences: list[str] = []
    for each in grades:
        if each.rounds > targets.most_rounds or each.calls > targets.most_calls:
            sentences.append(
                f"{each.id} took {counted(each.rounds, 'round')} and {counted(each.calls, 'call')}; "
                f"at most {targets.most_rounds} and {targets.most_calls} are allowed."
            )
    return sentences


def _misquoted(grades: Sequence[Grade]) -> list[str]:
    sentences: list[str] = []
    for each in grades:
        for words in each.wrong_citations:
            sentences.append(
                f"{each.id} cites words that are not in the passage it names: {words!r}."
            )
    return sentences


def share(grades: Sequence[Grade]) -> float:
    """Returns the share of `grades` that are right, from 0 to 1."""
    right = [each for each in grades if each.right]
    return len(right) / len(grades)
