"""The same questions in several modes: one run, the sum of a mode, and how both are shown. Pure rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Literal, get_args

from msgspec.structs import replace

from antiphon.cli.grading import grade
from antiphon.cli.questions import PLAIN, SampleQuestion
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
    """The sum of one mode over all questions; `usage` is a sum, `rounds` and `calls` are means, `ms` is a median.

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
    known = {str(mode): mode for mode in MODES}
    wanted: list[Mode] = []
    for name in names.split(","):
        name = name.strip()
        if name and name not in known:
            raise BadInputError(
                f"There is no mode {name[:40]!r}: name some of {', '.join(MODES)}, with commas between."
            )
        if name and known[name] not in wanted:
            wanted.append(known[name])
    if not wanted:
        raise BadInputError(f"No mode is named: name some of {', '.join(MODES)}, with commas between.")
    return tuple(wanted)


def settings_of(mode: Mode, settings: QuerySettings) -> QuerySettings:
    """The settings of a query in this mode; what the mode does not say stays as it is."""
    if mode == "briefing":
        return replace(settings, context="briefing", max_rounds=2)
    return replace(settings, context="transcript", max_rounds=1 if mode == "single" else 2)


def run_of(mode: Mode, question: SampleQuestion, outcome: Outcome, trace: Sequence[Recorded[Event]]) -> Run:
    """One run as it is compared."""
    response = outcome.response
    right: bool | None = None
    if question.kind != PLAIN:
        right = grade(question, outcome, trace).right
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
        right=right,
    )


def sum_of(mode: Mode, compared: Sequence[Compared]) -> Sum:
    """Sums up the runs of one mode."""
    runs: list[Run] = []
    for each in compared:
        runs += [run for run in each.runs if run.mode == mode]
    usage = Usage()
    times: list[float] = []
    answered = graded = right = sources = rounds = calls = 0
    for run in runs:
        usage += run.usage
        answered += run.status == "answered"
        graded += run.right is not None
        right += run.right is True
        sources += len(run.sources)
        rounds += run.rounds
        calls += run.calls
        times.append(run.duration_ms)
    number = max(len(runs), 1)
    return Sum(
        mode=mode,
        runs=len(runs),
        answered=answered,
        graded=graded,
        right=right,
        sources=sources / number,
        rounds=rounds / number,
        calls=calls / number,
        usage=usage,
        cost_usd=_cost(runs),
        # The median: one run that met a cold cache would move a mean.
        ms=median(times) if times else 0.0,
    )


def _cost(runs: Sequence[Run]) -> float | None:
    """The cost of all runs; None where that of one is not known."""
    total = 0.0
    for run in runs:
        if run.usage.cost_usd is None:
            return None
        total += run.usage.cost_usd
    return total


Rows = list[tuple[str, list[str]]]
"""A table: the name of each row and its cells."""


def run_rows(runs: Sequence[Run]) -> Rows:
    """The figures of runs side by side."""
    return _side_by_side(list(map(_run_figures, runs)))


def sum_rows(sums: Sequence[Sum]) -> Rows:
    """The figures of modes side by side."""
    return _side_by_side(list(map(_sum_figures, sums)))


def _side_by_side(columns: Sequence[Mapping[str, str]]) -> Rows:
    """Columns as rows, without those that are empty everywhere (nothing was graded)."""
    rows: Rows = []
    # Every column has the same names in the same order.
    for name in columns[0]:
        cells = [column[name] for column in columns]
        if any(cells):
            rows.append((name, cells))
    return rows


def _run_figures(run: Run) -> dict[str, str]:
    right = ""
    if run.right is not None:
        right = "✓" if run.right else "✗"
    return {
        "right": right,
        "confidence": run.confidence,
        "doubts": ", ".join(run.doubts) or "none",
        "rounds, calls": f"{run.rounds}, {run.calls}",
        "tokens in, out": _tokens(run.usage),
        "ms": f"{run.duration_ms:.0f}",
        "cost": dollars(run.usage.cost_usd),
    }


def _sum_figures(each: Sum) -> dict[str, str]:
    return {
        "answered": f"{each.answered}/{each.runs}",
        "right": f"{each.right}/{each.graded}" if each.graded else "",
        "sources cited": f"{each.sources:.1f}",
        "rounds, calls": f"{each.rounds:.1f}, {each.calls:.1f}",
        "tokens in, out": _tokens(each.usage),
        "ms (median)": f"{each.ms:.0f}",
        "cost": dollars(each.cost_usd),
    }


def _tokens(usage: Usage) -> str:
    return f"{usage.all_input_tokens:,}, {usage.output_tokens:,}"


def in_words(each: Sum) -> str:
    """A mode's sum in one line."""
    right = f"{each.right}/{each.graded} right, " if each.graded else ""
    return (
        f"{each.mode}: {each.answered}/{each.runs} answered, {right}{each.rounds:.1f} rounds, {each.calls:.1f} calls, "
        f"{each.usage.all_input_tokens:,} + {each.usage.output_tokens:,} tokens, {each.ms:.0f} ms, "
        f"{dollars(each.cost_usd)}"
    )


def dollars(cost: float | None) -> str:
    """A cost as people read it."""
    return "cost unknown" if cost is None else f"${cost:.4f}"
