"""`make eval`: asks files of questions, judges the answers by their content, and exits with 1 below a target."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import msgspec

from antiphon import service
from antiphon.cli.questions import SampleQuestion
from antiphon.cli.session import opened, require_index, settings_for_people
from antiphon.cli.terminal import err, one_line, print_json
from benchmarks.evaluation.figures import figures_of, shortfalls
from benchmarks.evaluation.grading import Asked, grades_of, passages_of
from benchmarks.evaluation.samples import read_samples
from benchmarks.evaluation.table import show

AT_ONCE = 2
"""More would only wait for each other's processor time, and make the latencies meaningless."""


def main() -> None:
    """Asks every question of the files and shows the grades of the answers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    questions = list(chain.from_iterable(map(read_samples, given.files)))
    settings = settings_for_people(data_dir=given.data_dir)
    require_index(settings)
    grades = grades_of(asyncio.run(_ask_all(settings, questions)))
    figures, short = figures_of(grades), shortfalls(grades)
    if given.json:
        report = {"grades": grades, "figures": figures, "shortfalls": short}
        print_json(msgspec.json.encode(report).decode())
    else:
        show(grades, figures)
    for sentence in short:
        err.print(one_line(sentence, 300), style="red", soft_wrap=True)
    sys.exit(bool(short))


async def _ask_all(
    settings: service.Settings, questions: Sequence[SampleQuestion]
) -> list[Asked]:
    turns = asyncio.Semaphore(AT_ONCE)
    async with opened(settings) as antiphon:
        asking = [_ask(antiphon, question, turns) for question in questions]
        return await asyncio.gather(*asking)


async def _ask(
    antiphon: service.Antiphon, question: SampleQuestion, turns: asyncio.Semaphore
) -> Asked:
    async with turns:
        session_id = None
        for earlier in question.earlier:
            before = await antiphon.ask(
                service.Question(query=earlier, session_id=session_id)
            )
            session_id = before.session_id
        outcome = await antiphon.ask(
            service.Question(query=question.question, session_id=session_id)
        )
    trace = await antiphon.store.read(outcome.query_id)
    err.print(
        f"{question.id} {one_line(question.question, 80)}", style="dim", soft_wrap=True
    )
    return Asked(question, outcome, passages_of(trace))


if __name__ == "__main__":
    main()
