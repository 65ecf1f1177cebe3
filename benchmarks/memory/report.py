"""What the modes cost and keep over a set of runs, as values, as a table, and as sentences where a target is missed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from rich.table import Table

from antiphon.vocabulary.values import QuerySettings, Value
from benchmarks.memory.counting import costs, kept, plain_loop_tokens, summary_tokens, told
from benchmarks.memory.runs import Run, shown

HALF = QuerySettings().briefing_tokens // 2
MODES: dict[str, QuerySettings] = {
    "transcript": QuerySettings(context="transcript"),
    "briefing": QuerySettings(),
    "briefing, half budget": QuerySettings(briefing_tokens=HALF),
    "half budget and a summary": QuerySettings(briefing_tokens=HALF, compression="model"),
}
TARGETS = {"briefing": (0.62, 0.47, 0.98), "briefing, half budget": (0.62, 0.47, 0.94)}
"""Most of the transcript's tokens over all calls and at the last call, and least share of needed sentences kept."""


class Row(Value, frozen=True, kw_only=True):
    """One mode over one set of runs.

    Attributes:
        tokens: Of all calls; those that only sum up are counted apart.
        last_tokens: Of the last calls.
        priced: Of all calls, with what each shares with the one before at a tenth.
        needed: Sentences that the answers need and the tools returned.
        kept: How many of them stand in the last request, word for word, where they can be cited.
        told: How many stand there at all, notes included.
        summed: Tokens that summarising calls were shown.
    """

    mode: str
    tokens: int
    last_tokens: int
    priced: int
    needed: int
    kept: int
    told: int
    summed: int = 0

    @property
    def share_kept(self) -> float:
        return self.kept / self.needed if self.needed else 1.0


class Measured(Value, frozen=True, kw_only=True):
    """A set of runs in every mode; `plain_loop` is a loop that sends each tool's words as one text."""

    name: str
    runs: int
    plain_loop: Row
    rows: tuple[Row, ...]


def measure(name: str, runs: Sequence[Run]) -> Measured:
    """All modes over the same runs."""
    rows = tuple(_row(mode, settings, runs) for mode, settings in MODES.items())
    return Measured(name=name, runs=len(runs), plain_loop=_plain_loop(runs), rows=rows)


def table(measured: Measured) -> Table:
    """A line a mode; shares are of the transcript, and of the plain loop's."""
    base, loop = measured.rows[0], measured.plain_loop
    title = f"{measured.name}: {measured.runs} questions of two rounds"
    found = Table(
        "Mode",
        "Tokens, all calls",
        "Last call",
        "Cache reads at a tenth",
        "Needed sentences kept",
        "Told",
        "To sum up",
        title=title,
    )
    for row in (loop, *measured.rows):
        found.add_row(
            row.mode,
            _shares(row.tokens, base.tokens, loop.tokens),
            _shares(row.last_tokens, base.last_tokens, loop.last_tokens),
            f"{row.priced:,} ({row.priced / base.priced:.1%})",
            "" if row is loop else f"{row.kept}/{row.needed} ({row.share_kept:.1%})",
            "" if row is loop else str(row.told),
            f"{row.summed:,}" if row.summed else "",
        )
    return found


def shortfalls(measured: Measured) -> list[str]:
    """In sentences, where a mode misses its targets."""
    base = measured.rows[0]
    missed = []
    for row in measured.rows:
        if row.mode in TARGETS:
            most, most_last, least = TARGETS[row.mode]
            found = (row.tokens / base.tokens, row.last_tokens / base.last_tokens, row.share_kept)
            if found[0] > most or found[1] > most_last or found[2] < least:
                shares = f"{found[0]:.1%} / {found[1]:.1%} of the tokens, {found[2]:.1%} kept"
                missed.append(
                    f"{measured.name}, {row.mode}: {shares}; wanted {most:.0%} / {most_last:.0%}, {least:.0%}."
                )
    return missed


def _row(mode: str, settings: QuerySettings, runs: Sequence[Run]) -> Row:
    tokens = last = needed = found = mentioned = summed = 0
    priced = 0.0
    for run in runs:
        run_shown = shown(run, settings)
        calls = [briefing.messages for briefing in run_shown.briefings]
        spent = costs(calls)
        tokens += sum(cost.tokens for cost in spent)
        last += spent[-1].tokens
        priced += sum(cost.priced for cost in spent)
        needed += len(run.gold)
        found += kept(run.gold, calls[-1])
        mentioned += told(run.gold, calls[-1])
        summed += sum(summary_tokens(wanted.messages) for wanted in run_shown.summaries)
    return Row(
        mode=mode, tokens=tokens, last_tokens=last, priced=round(priced), needed=needed, kept=found, told=mentioned,
        summed=summed,
    )  # fmt: skip


def _plain_loop(runs: Sequence[Run]) -> Row:
    totals = [plain_loop_tokens(run.question, _words(run)) for run in runs]
    needed = sum(len(run.gold) for run in runs)
    # A loop's every request begins with the one before.
    priced = sum(calls[-1] + 0.1 * sum(calls[:-1]) for calls in totals)
    return Row(
        mode="plain loop, results as text",
        tokens=sum(map(sum, totals)),
        last_tokens=sum(calls[-1] for calls in totals),
        priced=round(priced),
        needed=needed,
        kept=needed,
        told=needed,
    )


def _words(run: Run) -> list[list[tuple[str, str, str]]]:
    return [
        [(made.name, msgspec.json.encode(made.arguments).decode(), made.output.text) for made in calls]
        for calls in run.rounds
    ]


def _shares(found: int, base: int, loop: int) -> str:
    return f"{found:,} ({found / base:.1%}; loop {found / loop:.1%})"
