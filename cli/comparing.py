"""The same questions in several modes: what came of each run, and what each mode comes to. Pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Literal, get_args

from msgspec.structs import replace

from antiphon.cli.asking_file import PLAIN
from antiphon.cli.grading import SampleQuestion, grade
from antiphon.service import Outcome
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import QuerySettings, Usage, Value

Mode = Literal["single", "transcript", "briefing"]
MODES: tuple[Mode, ...] = get_args(Mode)
MEANING: dict[Mode, str] = {
    "single": "one round of tools, the plain message list",
    "transcript": "two rounds of tools, the plain message list",
    "briefing": "two rounds of tools, a briefing built afresh for each call",
}
"""Each mode differs from the one before it in one thing, so that what differs in the answers has one reason."""


class Run(Value, frozen=True, kw_only=True):
    """One question in one mode.

    Attributes:
        right: Whether a right source is cited (or the answer owns that there is none); None where the file does not say
            what is right.
        doubts: The kinds of the answer's indicators.
    """

    mode: Mode
    query_id: str
    status: str
    answer: str
    sources: tuple[str, ...]
    source_links: tuple[str | None, ...]
    confidence: str
    doubts: tuple[str, ...]
    reasoner: str
    rounds: int
    calls: int
    usage: Usage
    duration_ms: float
    right: bool | None = None


class Compared(Value, frozen=True, kw_only=True):
    """One question with its run in each mode."""

    id: str
    question: str
    runs: tuple[Run, ...]


class Sum(Value, frozen=True, kw_only=True):
    """What one mode came to over all questions; `usage` is a sum, `rounds` and `calls` are means, `ms` is a median.

    Attributes:
        answered: Runs that a model's reply answered.
        graded: Runs of which the file says what is right.
        cost_usd: None where a price is not known.
    """

    mode: Mode
    runs: int
    answered: int
    graded: int
    right: int
    sources: float
    rounds: float
    calls: float
    usage: Usage
    cost_usd: float | None
    ms: float


def modes_of(names: str) -> tuple[Mode, ...]:
    """The modes that are named, with commas between; each once.

    Raises:
        BadInputError: One is unknown, or none is named.
    """
    wanted = list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [name for name in wanted if name not in MODES]
    if unknown or not wanted:
        what = f"There is no mode {unknown[0][:40]!r}" if unknown else "No mode is named"
        raise BadInputError(f"{what}: name some of {', '.join(MODES)}, with commas between.")
    return tuple(mode for name in wanted for mode in MODES if mode == name)


def settings_of(mode: Mode, settings: QuerySettings) -> QuerySettings:
    """The settings of a query in this mode; what the mode does not say stays as it is."""
    context: Literal["briefing", "transcript"] = "briefing" if mode == "briefing" else "transcript"
    return replace(settings, context=context, max_rounds=1 if mode == "single" else 2)


def run_of(mode: Mode, question: SampleQuestion, outcome: Outcome, trace: Sequence[Recorded[Event]]) -> Run:
    """What came of one run."""
    response = outcome.response
    return Run(
        mode=mode,
        query_id=outcome.query_id,
        status=outcome.status,
        answer=response.answer,
        sources=response.sources,
        source_links=response.source_links,
        confidence=response.confidence,
        doubts=tuple(dict.fromkeys(each.kind for each in response.indicators)),
        reasoner=response.reasoner,
        rounds=response.rounds,
        calls=response.calls,
        usage=response.usage,
        duration_ms=round(outcome.duration_ms, 1),
        right=None if question.kind == PLAIN else grade(question, outcome, trace).right,
    )


def sum_of(mode: Mode, compared: Sequence[Compared]) -> Sum:
    """What a mode came to."""
    runs = [run for each in compared for run in each.runs if run.mode == mode]
    costs = [run.usage.cost_usd for run in runs]
    known = [cost for cost in costs if cost is not None]
    usage = Usage()
    for run in runs:
        usage += run.usage
    return Sum(
        mode=mode,
        runs=len(runs),
        answered=sum(run.status == "answered" for run in runs),
        graded=sum(run.right is not None for run in runs),
        right=sum(run.right is True for run in runs),
        sources=_mean([len(run.sources) for run in runs]),
        rounds=_mean([run.rounds for run in runs]),
        calls=_mean([run.calls for run in runs]),
        usage=usage,
        cost_usd=sum(known) if len(known) == len(costs) else None,
        ms=median(run.duration_ms for run in runs) if runs else 0.0,
    )


def in_words(told: Sum) -> str:
    """A mode's sum in one line."""
    right = f"{told.right}/{told.graded} right, " if told.graded else ""
    return (
        f"{told.mode}: {told.answered}/{told.runs} answered, {right}{told.rounds:.1f} rounds, {told.calls:.1f} calls, "
        f"{told.usage.all_input_tokens:,} + {told.usage.output_tokens:,} tokens, {told.ms:.0f} ms, "
        f"{dollars(told.cost_usd)}"
    )


def dollars(cost: float | None) -> str:
    """A cost as people read it."""
    return "cost unknown" if cost is None else f"${cost:.4f}"


def _mean(numbers: Sequence[int]) -> float:
    return sum(numbers) / len(numbers) if numbers else 0.0
