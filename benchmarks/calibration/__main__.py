"""`make eval-calibration`: what the built-in reasoner's confidence is worth, on questions that it was not fitted on.

chunking_evaluation in two halves of other texts. Each half's questions are asked of its own index, which answers them;
of the other half's, where nothing does (far); and every second one of an index of the same texts without what answers
it (near). A fit to either half is shown on the other, in both directions; language/certainty.py has that to both.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table

from antiphon.language.certainty import Certainty, Scale, certainty
from benchmarks.calibration.asking import (
    Asked,
    Row,
    State,
    ask_all,
    index,
    read_questions,
    take_out,
)
from benchmarks.calibration.fitting import scale_by_meaning, scale_by_words
from benchmarks.calibration.plot import Curve, plot

DATA = Path("../shared/data/chunking_evaluation")
LevelOf = Callable[[Row], Certainty]


class Half(NamedTuple):
    """A part of the texts."""

    name: str
    corpora: tuple[str, ...]


HALVES = (
    Half("speech, chats, articles", ("chatlogs", "state_of_the_union", "wikitexts")),
    Half("finance, pubmed", ("finance", "pubmed")),
)


def main() -> int:
    """Asks, fits and prints; returns 1 where the data is missing."""
    options = _options()
    if not (options.data / "questions_df.csv").exists():
        sys.stderr.write(f"There is no {options.data}: nothing was measured.\n")
        return 1
    out = Console(width=150)
    options.work.mkdir(parents=True, exist_ok=True)
    of_half: list[list[Row]] = []
    for half in HALVES:
        saved = options.work / f"{half.corpora[0]}.json"
        if not options.saved:
            saved.write_bytes(msgspec.json.encode(_ask(half, options)))
        rows = msgspec.json.decode(saved.read_bytes(), type=list[Row])
        out.print(_table(f"the service, asked of {half.name}", rows, _said))
        of_half.append(rows)
    curves: list[Curve] = []
    for fitted, shown in ((0, 1), (1, 0)):
        title = f"fitted on {HALVES[fitted].name}, shown on {HALVES[shown].name}"
        scale = scale_by_meaning(of_half[fitted])
        out.print(_table(title, of_half[shown], _by(scale)))
        curves.append(_curve(HALVES[shown], of_half[shown], "far", scale))
        curves.append(_curve(HALVES[shown], of_half[shown], "near", scale))
    picture = options.work / "recognised.svg"
    picture.write_text(plot(curves), encoding="utf-8")
    out.print(f"drawn: {picture}")
    every = [*of_half[0], *of_half[1]]
    out.print(f"fitted on both:\n  by meaning {scale_by_meaning(every)}")
    out.print(f"  by words   {scale_by_words(every)}")
    return 0


def _ask(half: Half, options: argparse.Namespace) -> list[Row]:
    """Asks the half's questions of its texts and of what is left of them, and the other half's of its texts."""
    every = [corpus for each in HALVES for corpus in each.corpora]
    asked: list[Asked] = []
    for each in read_questions(options.data / "questions_df.csv", every):
        if each.corpus not in half.corpora:
            each = msgspec.structs.replace(each, state="far")
        asked.append(each)
    folder = options.work / half.corpora[0]
    rest = options.work / f"{half.corpora[0]}-rest"
    rest.mkdir(parents=True, exist_ok=True)
    whole: list[Path] = []
    parts: list[Path] = []
    near: list[Asked] = []
    for corpus in half.corpora:
        whole.append(options.data / "corpora" / f"{corpus}.md")
        parts.append(rest / f"{corpus}.md")
        own = [each for each in asked if each.corpus == corpus]
        left, gone = take_out(own, whole[-1].read_text(encoding="utf-8"))
        parts[-1].write_text(left, encoding="utf-8")
        near += gone
    rows = asyncio.run(ask_all(index(folder, whole, options.embedder), asked))
    return rows + asyncio.run(ask_all(index(rest, parts, options.embedder), near))


def _said(row: Row) -> Certainty:
    """Returns what the service said."""
    if row.refused:
        return "none"
    if row.confidence == "high":
        return "high"
    if row.confidence == "medium":
        return "medium"
    return "low"


def _by(scale: Scale) -> LevelOf:
    def level(row: Row) -> Certainty:
        return certainty(row.by_meaning.fit, scale)

    return level


def _curve(half: Half, rows: Sequence[Row], state: State, scale: Scale) -> Curve:
    likely: dict[State, list[float]] = {"answered": [], "far": [], "near": []}
    for row in rows:
        likely[row.state].append(scale.speaks.probability(row.by_meaning.fit))
    return Curve(
        name=f"{half.name}, {state}",
        answered=tuple(likely["answered"]),
        others=tuple(likely[state]),
    )


def _table(title: str, rows: Sequence[Row], level_of: LevelOf) -> Table:
    """Lists what is said of questions that the texts answer, and of others."""
    table = Table(title, "", title_justify="left")
    _add_answered(table, [row for row in rows if row.state == "answered"], level_of)
    for state in ("far", "near"):
        levels = [level_of(row) for row in rows if row.state == state]
        declined = _share([level == "none" for level in levels])
        doubted = _share([level in ("none", "low") for level in levels])
        table.add_row(f"questions that it does not answer, {state}", str(len(levels)))
        table.add_row("  declined", declined)
        table.add_row("  declined, or called low", doubted)
        table.add_row("  called high", str(levels.count("high")))
    return table


def _add_answered(table: Table, rows: Sequence[Row], level_of: LevelOf) -> None:
    mean_chars = sum([row.chars for row in rows]) / len(rows)
    table.add_row("questions that it answers", str(len(rows)))
    table.add_row("  found by search", _share([row.retrieved for row in rows]))
    table.add_row("  cited", _share([row.cited for row in rows]))
    table.add_row("  characters", f"{mean_chars:.0f}")
    for level in ("high", "medium", "low", "none"):
        called = [row for row in rows if level_of(row) == level]
        right = _share([row.by_meaning.right for row in called])
        table.add_row(f"  called {level}", f"{len(called)}, of these right: {right}")


def _share(flags: Sequence[bool]) -> str:
    if not flags:
        return "none"
    return f"{sum(flags) / len(flags):.1%}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", choices=("minilm", "onnx"), default="onnx")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, default=Path("data/eval-calibration"))
    parser.add_argument("--saved", action="store_true", help="ask nothing again")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
