"""`make eval-memory`: transcript, briefing, and briefing at half budget over the same two-round runs.

Beside them half the budget with a summary of older rounds, made by the offline reasoner: by extraction. And the CPU of
building one briefing, by the number of facts; no embedder is used, whatever the budget.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import msgspec
from rich.console import Console

from antiphon.composition import embedder_of, load_settings
from antiphon.language.sentences import sentence_starts
from antiphon.synthesizer.briefing import brief
from antiphon.synthesizer.memory import Memory, remember, settle
from antiphon.vocabulary.events import (
    QueryReceived,
    RoundOpened,
    ToolRequested,
    ToolsSettled,
    ToolSucceeded,
)
from antiphon.vocabulary.values import (
    Passage,
    QuerySettings,
    StoredText,
    ToolCall,
    Value,
)
from benchmarks.memory.question_sets import (
    HOTPOTQA_QUESTIONS,
    hotpotqa_runs,
    sample_runs,
)
from benchmarks.memory.report import Comparison, compare, shortfalls, table

HOTPOTQA = Path("../shared/data/hotpotqa_100")

SENTENCES_PER_FACT = 8
REPETITIONS = 15


class BriefingSpeed(Value, frozen=True, kw_only=True):
    """CPU milliseconds of one briefing, the best of several."""

    facts: int
    sentences: int
    budget: int
    cpu_ms: float


class Report(Value, frozen=True, kw_only=True):
    """Everything that was measured."""

    sets: tuple[Comparison, ...]
    speed: tuple[BriefingSpeed, ...]
    missing: tuple[str, ...]
    shortfalls: tuple[str, ...]


def main() -> int:
    """Measures, prints, and returns 1 if a target is missed or the data is not there."""
    options = _options()
    report = _measure(options)
    if options.json:
        sys.stdout.write(
            msgspec.json.format(msgspec.json.encode(report)).decode() + "\n"
        )
    else:
        _show(report)
    problems = (*report.missing, *report.shortfalls)
    for sentence in problems:
        Console(stderr=True).print(sentence, style="bold red", soft_wrap=True)
    if problems:
        return 1
    return 0


def _measure(options: argparse.Namespace) -> Report:
    embedder = embedder_of(load_settings(embedder=options.embedder))
    # An index belongs to one embedder.
    work = options.work / embedder.name.split("/")[-1].replace(" ", "_")
    samples = sample_runs(options.samples, options.courses, work / "samples", embedder)
    sets = [compare("sample questions", samples)]
    missing = []
    missed: list[str] = []
    if (options.hotpotqa / HOTPOTQA_QUESTIONS).exists():
        runs = hotpotqa_runs(options.hotpotqa, work / "hotpotqa", embedder)
        whole = compare("hotpotqa_100", runs)
        sets.append(whole)
        sets.append(
            compare("hotpotqa_100, even half (weights were chosen on it)", runs[::2])
        )
        sets.append(compare("hotpotqa_100, odd half (looked at beside it)", runs[1::2]))
        missed = shortfalls(whole)
    else:
        missing.append(
            f"hotpotqa_100 was NOT measured: there is no {options.hotpotqa / HOTPOTQA_QUESTIONS}"
        )
    return Report(
        sets=tuple(sets),
        speed=measure_speed(),
        missing=tuple(missing),
        shortfalls=tuple(missed),
    )


def _show(report: Report) -> None:
    out = Console(width=170)
    for comparison in report.sets:
        out.print(table(comparison))
    for speed in report.speed:
        out.print(
            f"A briefing from {speed.facts} facts ({speed.sentences} sentences): {speed.cpu_ms:.1f} ms CPU"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--embedder", choices=("minilm", "onnx"), default=None)
    parser.add_argument("--hotpotqa", type=Path, default=HOTPOTQA)
    parser.add_argument("--samples", type=Path, default=Path("samples/questions.jsonl"))
    parser.add_argument("--courses", type=Path, default=Path("samples/courses"))
    parser.add_argument(
        "--work",
        type=Path,
        default=Path("data/eval-memory"),
        help="where its indexes are kept",
    )
    return parser.parse_args()


def measure_speed() -> tuple[BriefingSpeed, ...]:
    """Measures 40 facts within and over the budget, then two, four and eight times as many."""
    sizes = ((40, 24_000), (40, 2_000), (80, 2_000), (160, 2_000), (320, 2_000))
    measured = []
    for facts, budget in sizes:
        measured.append(_briefing_speed(facts, budget))
    return tuple(measured)


def _briefing_speed(facts: int, budget: int) -> BriefingSpeed:
    memory = _memory(facts, budget)
    opened = RoundOpened(round=2, call_id="call-2", final=False, rounds_left=0)
    took = []
    for _ in range(REPETITIONS):
        started = time.process_time()
        brief(memory, opened)
        took.append(time.process_time() - started)
    return BriefingSpeed(
        facts=facts,
        sentences=facts * SENTENCES_PER_FACT,
        budget=budget,
        cpu_ms=round(min(took) * 1000, 2),
    )


def _memory(facts: int, budget: int) -> Memory:
    call = ToolCall(
        id="toolu_1",
        name="search_course_content",
        arguments='{"query": "how logs keep their order"}',
    )
    received = QueryReceived(
        query="How does a log keep its order?",
        session_id="s",
        settings=QuerySettings(briefing_tokens=budget),
    )
    succeeded = ToolSucceeded(
        tool_call_id=call.id,
        name=call.name,
        output=StoredText(""),
        passages=tuple(map(_passage, range(facts))),
        duration_ms=0.0,
    )
    memory = remember(Memory(), received)
    memory = remember(memory, ToolRequested(round=1, call=call, timeout_s=1.0))
    memory = remember(memory, succeeded)
    memory, _ = settle(memory, ToolsSettled(round=1, succeeded=(call.id,), failed=()))
    return memory


def _passage(number: int) -> Passage:
    sentences = []
    for part in range(SENTENCES_PER_FACT):
        # Numbers that differ from sentence to sentence, so that none is a repetition of another.
        log, record = number * part, part * 7
        sentences.append(
            f"Part {part} of text {number} tells how log {log} keeps the order of record {record} for its readers."
        )
    text = " ".join(sentences)
    return Passage(
        id=f"p{number}",
        source=f"Logs {number % 5} - Lesson {number}",
        text=StoredText(text),
        starts=sentence_starts(text),
        title=f"Topic {number} of Logs",
        course=f"Logs {number % 5}",
        lesson=number,
        score=10 / (1 + number),
    )


if __name__ == "__main__":
    sys.exit(main())
