"""Rules for comparing modes over the same questions: one run, the sum of a mode, and the figures of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Literal, get_args

from msgspec.structs import replace

from antiphon import service
from antiphon.cli.judging import is_right
from antiphon.cli.questions import SampleQuestion
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.values import QuerySettings, Usage, Value

Mode = Literal["single", "transcript", "briefing"]
MODES: tuple[Mode, ...] = get_args(Mode)
MEANING: dict[Mode, str] = {
    "single": "one round of tools, the plain message list",
    "transcript": "two rounds of tools, the plain message list",
    "briefing": "two rounds of tools, a briefing built afresh for each call",
}
"""Each mode differs from the one before it in one thing, so that differences in the answers have one cause."""


class Run(Value, frozen=True, kw_only=True):
    """One question in one mode.

    Attributes:
        right: True if the answer holds everything that the file wants, or admits that there is no answer; None if the
            file names no right answer.
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
        graded: Runs for which the file names a right answer.
        cost_usd: The cost; None if a price is not known.
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
    """Reads a list of modes, with commas between; each counts once.

    Raises:
        BadInputError: A mode is unknown, or none is named.
    """
    known: dict[str, Mode] = {mode: mode for mode in MODES}
    # A dict keeps their order and drops repeats.
    named = dict.fromkeys(name.strip() for name in names.split(",") if name.strip())
    for name in named:
        if name not in known:
            raise BadInputError(
                f"There is no mode {name[:40]!r}: name some of {', '.join(MODES)}, with commas between."
            )
    if not named:
        raise BadInputError(
            f"No mode is named: name some of {', '.join(MODES)}, with commas between."
        )
    return tuple(known[name] for name in named)


def settings_of(mode: Mode, settings: QuerySettings) -> QuerySettings:
    """Returns the settings of a query in this mode; settings that the mode does not fix stay as they are."""
    if mode == "briefing":
        return replace(settings, context="briefing", max_rounds=2)
    if mode == "transcript":
        return replace(settings, context="transcript", max_rounds=2)
    return replace(settings, context="transcript", max_rounds=1)


def run_of(mode: Mode, question: SampleQuestion, outcome: service.Outcome) -> Run:
    """Returns one run with the figures to compare."""
    response = outcome.response
    # A plain file names no right answers; and a question that depends on earlier ones was asked without them.
    can_be_judged = question.can_be_judged and not question.earlier
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
        right=is_right(question, response) if can_be_judged else None,
    )


def sum_of(mode: Mode, compared: Sequence[Compared]) -> Sum:
    """Sums up the runs of one mode."""
    runs = _runs_in(mode, compared)
    verdicts = [run.right for run in runs]
    return Sum(
        mode=mode,
        runs=len(runs),
        answered=sum(run.status == "answered" for run in runs),
        graded=len(runs) - verdicts.count(None),
        right=verdicts.count(True),
        sources=fmean(len(run.sources) for run in runs),
        rounds=fmean(run.rounds for run in runs),
        calls=fmean(run.calls for run in runs),
        usage=sum((run.usage for run in runs), Usage()),
        cost_usd=_cost([run.usage.cost_usd for run in runs]),
        # The median, because a single run with a cold cache would distort the mean.
        ms=median(run.duration_ms for run in runs),
    )


def _runs_in(mode: Mode, compared: Sequence[Compared]) -> list[Run]:
    return [run for each in compared for run in each.runs if run.mode == mode]


def _cost(costs: Sequence[float | None]) -> float | None:
    # `Usage` adds up only known costs; a mode with an unknown cost has no sum to compare.
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None


Rows = list[tuple[str, list[str]]]
"""A table: the name of each row and its cells."""

_RIGHT = {None: "", True: "✓", False: "✗"}


def run_rows(runs: Sequence[Run]) -> Rows:
    """Lays the figures of runs side by side."""
    return _side_by_side([_run_figures(run) for run in runs])


def sum_rows(sums: Sequence[Sum]) -> Rows:
    """Lays the figures of modes side by side."""
    return _side_by_side([_sum_figures(each) for each in sums])


def _side_by_side(columns: Sequence[Mapping[str, str]]) -> Rows:
    """Turns columns into rows, without rows that are empty everywhere (such as grades if nothing was graded)."""
    rows: Rows = []
    # Every column has the same names in the same order.
    for name in columns[0]:
        cells = [column[name] for column in columns]
        if any(cells):
            rows.append((name, cells))
    return rows


def _run_figures(run: Run) -> dict[str, str]:
    return {
        "right": _RIGHT[run.right],
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
    """Writes a mode's sum as one line."""
    right = f"{each.right}/{each.graded} right, " if each.graded else ""
    return (
        f"{each.mode}: {each.answered}/{each.runs} answered, {right}{each.rounds:.1f} rounds, {each.calls:.1f} calls, "
        f"{each.usage.all_input_tokens:,} + {each.usage.output_tokens:,} tokens, {each.ms:.0f} ms, "
        f"{dollars(each.cost_usd)}"
    )


def dollars(cost: float | None) -> str:
    """Writes a cost for people."""
    return "cost unknown" if cost is None else f"${cost:.4f}"
