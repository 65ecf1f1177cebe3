"""`make eval-calibration`: what the built-in reasoner's confidence is worth, on questions that it was not fitted on.

chunking_evaluation in two halves of other texts. Each half's questions are asked of its own index, which answers them,
and of the other half's, where nothing does. The weights of language/certainty.py are fitted on the first half; what the
service says is shown for both.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table

from benchmarks.calibration.asking import Row, ask_all, index, read_questions
from benchmarks.calibration.fitting import fit

DATA = Path("../shared/data/chunking_evaluation")
LEVELS = ("high", "medium", "low")


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
    every = [corpus for half in HALVES for corpus in half.corpora]
    questions = read_questions(options.data / "questions_df.csv", every)
    out = Console(width=150)
    for half in HALVES:
        paths = [options.data / "corpora" / f"{name}.md" for name in half.corpora]
        folder = options.work / half.corpora[0]
        settings = index(folder, paths, options.embedder)
        rows = asyncio.run(ask_all(settings, questions, half.corpora))
        options.work.mkdir(parents=True, exist_ok=True)
        (options.work / f"{half.corpora[0]}.json").write_bytes(
            msgspec.json.encode(rows)
        )
        out.print(_table(half, rows))
        out.print(f"fitted on {half.name}:")
        out.print(f"  by meaning {fit(rows, by_meaning=True)}")
        out.print(f"  by words   {fit(rows, by_meaning=False)}")
    return 0


def _table(half: Half, rows: Sequence[Row]) -> Table:
    """Lists what the service said of questions that the texts answer, and of others."""
    table = Table("asked of " + half.name, "", title_justify="left")
    _add_own(table, [row for row in rows if row.answerable])
    _add_others(table, [row for row in rows if not row.answerable])
    for level in LEVELS:
        called = [row for row in rows if row.confidence == level and not row.refused]
        right = _share([row.cited for row in called])
        table.add_row(f"called {level}", f"{len(called)}, of these right: {right}")
    return table


def _add_own(table: Table, rows: Sequence[Row]) -> None:
    mean_chars = sum([row.chars for row in rows]) / len(rows)
    table.add_row("questions that it answers", str(len(rows)))
    table.add_row("  found by search", _share([row.retrieved for row in rows]))
    table.add_row("  cited", _share([row.cited for row in rows]))
    table.add_row("  characters", f"{mean_chars:.0f}")
    table.add_row("  declined", _share([row.refused for row in rows]))
    table.add_row("  declined, or called low", _share(_doubted(rows)))


def _add_others(table: Table, rows: Sequence[Row]) -> None:
    table.add_row("questions that it does not answer", str(len(rows)))
    table.add_row("  declined", _share([row.refused for row in rows]))
    table.add_row("  declined, or called low", _share(_doubted(rows)))


def _doubted(rows: Sequence[Row]) -> list[bool]:
    return [row.refused or row.confidence == "low" for row in rows]


def _share(flags: Sequence[bool]) -> str:
    if not flags:
        return "none"
    return f"{sum(flags) / len(flags):.1%}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--embedder", choices=("minilm", "onnx"), default="onnx")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, default=Path("data/eval-calibration"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
