"""Counts how much of what two-step questions need the whole service finds in two rounds, without a model.

`python -m benchmarks.two_rounds` asks the questions of hotpotqa_100 through the service, over an index in which each
passage is a course of one lesson, and looks into the traces for what the tools brought in each round. Reads
../shared/data/hotpotqa_100 where it is; the index is made in the folder that is named, the first time.

HotpotQA: Yang et al. 2018, https://hotpotqa.github.io, CC BY-SA 4.0. The data stays where it is and is not copied.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from antiphon.composition import Settings, embedder_of, load_settings
from antiphon.knowledge import index_paths
from antiphon.service import Antiphon, Question
from antiphon.vocabulary.events import Event, Recorded, ToolRequested, ToolSucceeded
from antiphon.vocabulary.values import Value
from benchmarks.memory.question_sets import (
    HOTPOTQA_CORPUS,
    HOTPOTQA_QUESTIONS,
    Corpus,
    HotpotQuestion,
    write_course,
)

HOTPOTQA = Path("../shared/data/hotpotqa_100")


class TwoRounds(Value, frozen=True, kw_only=True):
    """What was found, in per cent of the questions or of the passages that they need.

    Attributes:
        recall: Passages needed that were found in the first round, and in both.
        all_gold: Questions of which every passage needed was found in the first round, and in both.
        passages: Passages brought in each round, on average.
        missed: The questions of which one was not found.
    """

    questions: int
    recall: tuple[float, float]
    all_gold: tuple[float, float]
    passages: tuple[float, float]
    missed: tuple[str, ...] = ()


class Found(Value, frozen=True, kw_only=True):
    """The titles that each round brought for one question, and how many passages."""

    titles: tuple[frozenset[str], frozenset[str]]
    passages: tuple[int, int]


def measure(folder: Path, work: Path) -> TwoRounds:
    """Asks every question of the set in `folder`; the index is made in `work` the first time, and reused."""
    corpus = msgspec.json.decode((folder / HOTPOTQA_CORPUS).read_bytes(), type=Corpus)
    questions = msgspec.json.decode(
        (folder / HOTPOTQA_QUESTIONS).read_bytes(), type=list[HotpotQuestion]
    )
    courses = work / "courses"
    courses.mkdir(parents=True, exist_ok=True)
    for title, sentences in corpus.items():
        write_course(courses, title, sentences)
    settings = load_settings(data_dir=work / "data", reasoner="offline")
    index_paths([courses], settings.data_dir, embedder_of(settings))
    found = asyncio.run(_ask_all(settings, questions))
    return _summed_up(questions, found)


async def _ask_all(
    settings: Settings, questions: Sequence[HotpotQuestion]
) -> list[Found]:
    antiphon = await Antiphon.open(settings)
    found: list[Found] = []
    try:
        for question in questions:
            outcome = await antiphon.ask(Question(query=question.question))
            found.append(_found(await antiphon.store.read(outcome.query_id)))
    finally:
        await antiphon.close()
    return found


def _found(trace: Sequence[Recorded[Event]]) -> Found:
    """Reads off a trace what the tools brought; what came again in the second round counts for the first alone."""
    round_of: dict[str, int] = {}
    titles: tuple[set[str], set[str]] = (set(), set())
    passages: tuple[set[str], set[str]] = (set(), set())
    for recorded in trace:
        event = recorded.event
        if isinstance(event, ToolRequested):
            round_of[event.call.id] = event.round
        elif isinstance(event, ToolSucceeded):
            at = min(round_of[event.tool_call_id], 2) - 1
            for passage in event.passages:
                titles[at].add(passage.course or "")
                passages[at].add(passage.id)
    return Found(
        titles=(frozenset(titles[0]), frozenset(titles[1])),
        passages=(len(passages[0]), len(passages[1] - passages[0])),
    )


def _summed_up(
    questions: Sequence[HotpotQuestion], found: Sequence[Found]
) -> TwoRounds:
    recall = [0.0, 0.0]
    whole = [0, 0]
    passages = [0, 0]
    missed: list[str] = []
    for question, rounds in zip(questions, found, strict=True):
        gold = {title for title, _ in question.supporting_facts}
        held: frozenset[str] = frozenset()
        for at in range(2):
            held |= rounds.titles[at]
            recall[at] += len(gold & held) / len(gold)
            whole[at] += gold <= held
            passages[at] += rounds.passages[at]
        if not gold <= held:
            missed.append(question.question)
    total = len(questions)
    return TwoRounds(
        questions=total,
        recall=(_per_cent(recall[0], total), _per_cent(recall[1], total)),
        all_gold=(_per_cent(whole[0], total), _per_cent(whole[1], total)),
        passages=(round(passages[0] / total, 1), round(passages[1] / total, 1)),
        missed=tuple(missed),
    )


def _per_cent(part: float, total: int) -> float:
    return round(100 * part / total, 1)


def main() -> int:
    """Measures, prints JSON, and returns 1 where the data is not there."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--hotpotqa", type=Path, default=HOTPOTQA)
    parser.add_argument("--work", type=Path, default=Path("data/two-rounds"))
    options = parser.parse_args()
    if not (options.hotpotqa / HOTPOTQA_QUESTIONS).exists():
        sys.stderr.write(f"{options.hotpotqa} is not there: nothing was measured.\n")
        return 1
    report = msgspec.json.encode(measure(options.hotpotqa, options.work))
    sys.stdout.write(msgspec.json.format(report).decode() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
