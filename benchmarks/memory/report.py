"""Cost and loss of each mode over a set of runs: as values, as a table, and as sentences if a target is missed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from antiphon.vocabulary.values import QuerySettings, Value
from benchmarks.memory.counting import (
    CACHE_READ_PRICE,
    costs,
    plain_loop_tokens,
    sentences_kept,
    sentences_mentioned,
    summary_tokens,
)
from benchmarks.memory.runs import Run, contexts_of

HALF = QuerySettings().briefing_tokens // 2
# The first is the base of all shares.
MODES: dict[str, QuerySettings] = {
    "transcript": QuerySettings(context="transcript"),
    "briefing": QuerySettings(),
    "briefing, half budget": QuerySettings(briefing_tokens=HALF),
    "half budget and a summary": QuerySettings(
        briefing_tokens=HALF, compression="model"
    ),
}


class Target(Value, frozen=True, kw_only=True):
    """Bounds of one mode, as shares of the transcript's tokens and of the needed sentences."""

    max_tokens: float
    max_last_tokens: float
    min_kept: float


TARGETS = {
    "briefing": Target(max_tokens=0.75, max_last_tokens=0.58, min_kept=1.0),
    "briefing, half budget": Target(
        max_tokens=0.73, max_last_tokens=0.55, min_kept=0.98
    ),
}


class ModeFigures(Value, frozen=True, kw_only=True):
    """One mode over one set of runs.

    Attributes:
        tokens: Of all calls; those that only sum up are counted apart.
        last_tokens: Of the last calls.
        priced: Of all calls, with what each shares with the one before at a tenth.
        needed: Sentences that the answers need and the tools returned.
        kept: How many of them are in the last request, word for word, if they can be cited.
        mentioned: How many are there at all, notes included.
        summary_tokens: Tokens that summarising calls were shown.
    """

    mode: str
    tokens: int
    last_tokens: int
    priced: int
    needed: int
    kept: int
    mentioned: int
    summary_tokens: int = 0

    @property
    def share_kept(self) -> float:
        if self.needed == 0:
            return 1.0
        return self.kept / self.needed


class Comparison(Value, frozen=True, kw_only=True):
    """A set of runs in every mode; `plain_loop` is a loop that sends each tool's result as one text."""

    name: str
    runs: int
    plain_loop: ModeFigures
    modes: tuple[ModeFigures, ...]


def compare(name: str, runs: Sequence[Run]) -> Comparison:
    """Measures all modes over the same runs."""
    modes = []
    for mode, settings in MODES.items():
        modes.append(_figures(mode, settings, runs))
    return Comparison(
        name=name, runs=len(runs), plain_loop=_plain_loop(runs), modes=tuple(modes)
    )


def table(comparison: Comparison) -> Table:
    """Draws a line a mode; shares are of the transcript, and of the plain loop's."""
    base, loop = comparison.modes[0], comparison.plain_loop
    drawn = Table(
        "Mode",
        "Tokens, all calls",
        "Last call",
        "Cache reads at a tenth",
        "Needed sentences kept",
        "Mentioned",
        "To sum up",
        title=f"{comparison.name}: {comparison.runs} questions of two rounds",
    )
    for figures in (loop, *comparison.modes):
        kept = mentioned = to_sum_up = ""
        # A plain loop drops nothing.
        if figures is not loop:
            kept = f"{figures.kept}/{figures.needed} ({figures.share_kept:.1%})"
            mentioned = str(figures.mentioned)
        if figures.summary_tokens:
            to_sum_up = f"{figures.summary_tokens:,}"
        drawn.add_row(
            figures.mode,
            _shares(figures.tokens, base.tokens, loop.tokens),
            _shares(figures.last_tokens, base.last_tokens, loop.last_tokens),
            f"{figures.priced:,} ({figures.priced / base.priced:.1%})",
            kept,
            mentioned,
            to_sum_up,
        )
    return drawn


def _shares(tokens: int, base: int, loop: int) -> str:
    return f"{tokens:,} ({tokens / base:.1%}; loop {tokens / loop:.1%})"


def shortfalls(comparison: Comparison) -> list[str]:
    """Returns a sentence for each mode that misses its target."""
    base = comparison.modes[0]
    sentences = []
    for figures in comparison.modes:
        target = TARGETS.get(figures.mode)
        if target is None:
            continue
        tokens = figures.tokens / base.tokens
        last_tokens = figures.last_tokens / base.last_tokens
        within = tokens <= target.max_tokens and last_tokens <= target.max_last_tokens
        if within and figures.share_kept >= target.min_kept:
            continue
        found = f"{tokens:.1%} / {last_tokens:.1%} of the tokens, {figures.share_kept:.1%} kept"
        wanted = f"{target.max_tokens:.0%} / {target.max_last_tokens:.0%}, {target.min_kept:.0%}"
        sentences.append(
            f"{comparison.name}, {figures.mode}: {found}; wanted {wanted}."
        )
    return sentences


def _figures(mode: str, settings: QuerySettings, runs: Sequence[Run]) -> ModeFigures:
    tokens = last_tokens = needed = kept = mentioned = summaries = 0
    priced = 0.0
    for run in runs:
        contexts = contexts_of(run, settings)
        # The last briefing is that of the final call, from which the answer must be written.
        calls = [briefing.messages for briefing in contexts.briefings]
        call_costs = costs(calls)
        for cost in call_costs:
            tokens += cost.tokens
            priced += cost.priced
        last_tokens += call_costs[-1].tokens
        needed += len(run.gold)
        kept += sentences_kept(run.gold, calls[-1])
        mentioned += sentences_mentioned(run.gold, calls[-1])
        for wanted in contexts.summaries:
            summaries += summary_tokens(wanted.messages)
    return ModeFigures(
        mode=mode,
        tokens=tokens,
        last_tokens=last_tokens,
        priced=round(priced),
        needed=needed,
        kept=kept,
        mentioned=mentioned,
        summary_tokens=summaries,
    )


def _plain_loop(runs: Sequence[Run]) -> ModeFigures:
    tokens = last_tokens = needed = 0
    priced = 0.0
    for run in runs:
        results = []
        for calls in run.rounds:
            results.append(
                [(call.name, call.arguments_json, call.output.text) for call in calls]
            )
        *earlier, last = plain_loop_tokens(run.question, results)
        tokens += sum(earlier) + last
        last_tokens += last
        # A loop's every request begins with the one before.
        priced += last + CACHE_READ_PRICE * sum(earlier)
        needed += len(run.gold)
    return ModeFigures(
        mode="plain loop, results as text",
        tokens=tokens,
        last_tokens=last_tokens,
        priced=round(priced),
        needed=needed,
        kept=needed,
        mentioned=needed,
    )
