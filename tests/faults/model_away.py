"""With no server behind the model's address: of a hundred questions, how many get an answer, labelled and right.

Run as `python -m tests.faults.model_away [DATA_DIR]`; prints the figures and exits with 1 if a promise is broken.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections import Counter
from itertools import islice, product
from pathlib import Path

from antiphon.cli.questions import UNANSWERABLE, SampleQuestion
from antiphon.service import Antiphon, Outcome, Question, load_settings, silence_logging
from benchmarks.evaluation.grading import Grade, grade
from benchmarks.evaluation.samples import read_samples

ROOT = Path(__file__).parents[2]
QUESTIONS = 100
AT_ONCE = 4
LEAST_RIGHT = 0.8
WORDINGS = ("{}", "Please tell me: {}", "I should like to know this. {}")
"""The forty sample questions are asked in one wording after another until there are a hundred."""


def questions() -> list[SampleQuestion]:
    """The questions to ask."""
    samples = read_samples(ROOT / "samples/questions.jsonl")
    worded = (
        SampleQuestion(
            id=f"{sample.id}-{number}", kind=sample.kind, question=wording.format(sample.question),
            answered_by=sample.answered_by, needed=sample.needed,
        )
        for (number, wording), sample in product(enumerate(WORDINGS), samples)
    )  # fmt: skip
    return list(islice(worded, QUESTIONS))


def closed_port() -> int:
    """A local port that nobody listens on."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def labelled(outcome: Outcome) -> bool:
    """Whether the answer says who wrote it, and that it was not the model."""
    doubts = {doubt.kind for doubt in outcome.response.indicators}
    away = bool(doubts & {"fallback_reasoner", "partial_evidence", "no_evidence"})
    return (
        outcome.response.reasoner in ("offline", "none")
        and away
        and outcome.response.confidence != "high"
    )


async def ask_all(data_dir: Path, embedder: str) -> tuple[list[Outcome], list[Grade]]:
    """Returns every answer and its grade."""
    url = f"http://127.0.0.1:{closed_port()}"
    settings = load_settings(
        data_dir=data_dir, reasoner="claude", embedder=embedder, anthropic_base_url=url
    )
    turns = asyncio.Semaphore(AT_ONCE)
    service = await Antiphon.open(settings)

    async def one(question: SampleQuestion) -> tuple[Outcome, Grade]:
        async with turns:
            outcome = await service.ask(Question(query=question.question))
            return outcome, grade(
                question, outcome, await service.store.read(outcome.query_id)
            )

    try:
        pairs = await asyncio.gather(*map(one, questions()))
    finally:
        await service.close()
    return [outcome for outcome, _ in pairs], [graded for _, graded in pairs]


def cites_a_right_lesson(question: SampleQuestion, graded: Grade) -> bool:
    """Whether a lesson that holds the answer is cited, first or not."""
    right = {f"{place.course} {place.part}" for place in question.answered_by}
    return bool(right & set(graded.cited))


def main() -> None:
    """Asks, prints, judges."""
    silence_logging()
    data_dir = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("data")
    outcomes, grades = asyncio.run(ask_all(data_dir, "auto"))
    answered = sum(bool(outcome.response.answer.strip()) for outcome in outcomes)
    said_so = sum(map(labelled, outcomes))
    answerable = [
        pair
        for pair in zip(questions(), grades, strict=True)
        if pair[0].kind != UNANSWERABLE
    ]
    right = sum(cites_a_right_lesson(*pair) for pair in answerable)
    statuses = ", ".join(
        f"{status} {count}"
        for status, count in Counter(o.status for o in outcomes).items()
    )
    opened = sum(
        any(d.kind == "fallback_reasoner" for d in o.response.indicators)
        for o in outcomes
    )
    sys.stdout.write(
        f"asked {len(outcomes)}, answered {answered} ({statuses}), labelled {said_so} (fallback_reasoner {opened})\n"
        f"right lesson cited in {right} of {len(answerable)} answerable ones ({right / len(answerable):.0%}); "
        f"slowest {max(o.duration_ms for o in outcomes):.0f} ms\n"
    )
    sys.exit(
        answered < len(outcomes)
        or said_so < len(outcomes)
        or right < LEAST_RIGHT * len(answerable)
    )


if __name__ == "__main__":
    main()
