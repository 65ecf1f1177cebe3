"""`make eval-memory`: transcript, briefing, and briefing at half budget over the same two-round runs.

Beside them half the budget with a summary of older rounds, made by the offline reasoner: by extraction.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec
from rich.console import Console

from antiphon.composition import embedder_of, load_settings
from benchmarks.memory.hotpotqa import QUESTIONS, hotpotqa_runs
from benchmarks.memory.report import Measured, measure, shortfalls, table
from benchmarks.memory.samples import sample_runs
from benchmarks.memory.speed import Speed, measure_speed

HOTPOTQA = Path("../shared/data/hotpotqa_100")


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that was measured."""

    sets: tuple[Measured, ...]
    speed: tuple[Speed, ...]
    missing: tuple[str, ...]
    shortfalls: tuple[str, ...]


def main() -> int:
    """Measures, prints, and returns 1 where a target is missed or the data is not there."""
    options = _options()
    embedder = embedder_of(load_settings(embedder=options.embedder))
    work = options.work / embedder.name.split("/")[-1].replace(" ", "_")
    sets = [measure("sample questions", sample_runs(options.samples, options.courses, work / "samples", embedder))]
    missing = []
    if (options.hotpotqa / QUESTIONS).exists():
        runs = hotpotqa_runs(options.hotpotqa, work / "hotpotqa", embedder)
        sets.append(measure("hotpotqa_100", runs))
        sets.append(measure("hotpotqa_100, even half (weights were chosen on it)", runs[::2]))
        sets.append(measure("hotpotqa_100, odd half (looked at beside it)", runs[1::2]))
    else:
        missing.append(f"hotpotqa_100 was NOT measured: there is no {options.hotpotqa / QUESTIONS}")
    short = [sentence for each in sets if each.name == "hotpotqa_100" for sentence in shortfalls(each)]
    report = Report(sets=tuple(sets), speed=measure_speed(), missing=tuple(missing), shortfalls=tuple(short))
    if options.json:
        sys.stdout.write(msgspec.json.format(msgspec.json.encode(report)).decode() + "\n")
    else:
        _show(report)
    for sentence in (*missing, *short):
        Console(stderr=True).print(sentence, style="bold red", soft_wrap=True)
    return 1 if missing or short else 0


def _show(report: Report) -> None:
    out = Console(width=170)
    for each in report.sets:
        out.print(table(each))
    for speed in report.speed:
        out.print(f"A briefing from {speed.facts} facts ({speed.sentences} sentences): {speed.cpu_ms:.1f} ms CPU")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--embedder", choices=("minilm", "onnx"), default=None)
    parser.add_argument("--hotpotqa", type=Path, default=HOTPOTQA)
    parser.add_argument("--samples", type=Path, default=Path("samples/questions.jsonl"))
    parser.add_argument("--courses", type=Path, default=Path("samples/courses"))
    parser.add_argument("--work", type=Path, default=Path("data/eval-memory"), help="where its indexes are kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
