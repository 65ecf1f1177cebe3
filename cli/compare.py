"""`antiphon compare`: the same questions in one round, in two with the plain message list, and with briefings."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Column, Table

from antiphon.cli.asking_file import read_asking_file
from antiphon.cli.compare_page import as_page
from antiphon.cli.comparing import (
    MODES,
    Compared,
    Mode,
    Run,
    Sum,
    dollars,
    in_words,
    modes_of,
    run_of,
    settings_of,
    sum_of,
)
from antiphon.cli.grading import SampleQuestion
from antiphon.cli.options import DataDir, Model, Reasoner
from antiphon.cli.session import opened, settings_for_people
from antiphon.cli.terminal import clean, err, one_line, out
from antiphon.service import Antiphon, Question, Settings
from antiphon.vocabulary.errors import BadInputError

WIDTH = 100
SHOWN_ANSWER = 240
SHOWN_ID = 12


def add_to(app: typer.Typer) -> None:
    """Makes the command known."""
    app.command("compare")(compare)


def compare(
    questions: Annotated[Path, typer.Option("--questions", help="A question a line, as text or as JSON.")],
    modes: Annotated[str, typer.Option("--modes", help="Which modes, with commas between.")] = ",".join(MODES),
    html: Annotated[Path | None, typer.Option("--html", help="Write the comparison as a page.")] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write the comparison as JSON.")] = None,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks the same questions in several modes and shows answers, sources, tokens, calls, time and cost side by side.

    `single` is one round of tools and `transcript` two, both with the plain message list; `briefing` is two rounds with
    a briefing for each call. Every run is an ordinary query whose trace is kept.
    """
    chosen = modes_of(modes)
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner, model=model)
    asked = read_asking_file(questions, settings.query_chars)
    for path in (html, json_file):
        _check_writable(path)
    compared = asyncio.run(_ask_all(settings, asked, chosen))
    sums = [sum_of(mode, compared) for mode in chosen]
    show(compared, sums)
    if html is not None:
        _write(html, as_page(compared, sums).encode())
    if json_file is not None:
        _write(json_file, msgspec.json.encode({"questions": compared, "modes": sums}))


async def _ask_all(settings: Settings, asked: Sequence[SampleQuestion], modes: Sequence[Mode]) -> list[Compared]:
    """One query at a time, so that times can be compared; each question begins with another mode, so that none is
    always the one for which caches are cold."""
    compared: list[Compared] = []
    async with opened(settings) as service:
        for number, question in enumerate(asked):
            turn = number % len(modes)
            runs = {mode: await _run(service, question, mode) for mode in (*modes[turn:], *modes[:turn])}
            each = Compared(id=question.id, question=question.question, runs=tuple(runs[mode] for mode in modes))
            err.print(f"{number + 1} of {len(asked)}: {one_line(each.question, 80)}", style="dim", soft_wrap=True)
            compared.append(each)
    return compared


async def _run(service: Antiphon, question: SampleQuestion, mode: Mode) -> Run:
    settings = settings_of(mode, service.settings.query_settings())
    outcome = await service.ask(Question(query=question.question, settings=settings))
    return run_of(mode, question, outcome, await service.store.read(outcome.query_id))


def show(compared: Sequence[Compared], sums: Sequence[Sum]) -> None:
    """Prints a table for each question, one for all of them, and a line for each mode."""
    for each in compared:
        out.print(_of_question(each), width=min(WIDTH, out.width))
    out.print(_of_modes(sums), width=min(WIDTH, out.width))
    for told in sums:
        out.print(in_words(told), soft_wrap=True)


def _of_question(each: Compared) -> Table:
    columns = (Column(run.mode, ratio=1, overflow="fold") for run in each.runs)
    table = Table(Column("", no_wrap=True), *columns, title=one_line(each.question, 200), title_justify="left")
    for name, cells in rows(each.runs, SHOWN_ANSWER):
        table.add_row(name, *cells)
    return table


def rows(runs: Sequence[Run], answer_chars: int) -> list[tuple[str, list[str]]]:
    """What is shown of a question: a name and a cell for each mode."""
    graded = any(run.right is not None for run in runs)
    shown = [
        ("answer", [_answer(run, runs[0], answer_chars) for run in runs]),
        ("sources", ["\n".join(one_line(source, 120) for source in run.sources) or "none" for run in runs]),
        ("right", [{True: "✓", False: "✗", None: ""}[run.right] for run in runs]),
        ("confidence", [run.confidence for run in runs]),
        ("doubts", [", ".join(run.doubts) or "none" for run in runs]),
        ("rounds, calls", [f"{run.rounds}, {run.calls}" for run in runs]),
        ("tokens in, out", [f"{run.usage.all_input_tokens:,}, {run.usage.output_tokens:,}" for run in runs]),
        ("ms", [f"{run.duration_ms:.0f}" for run in runs]),
        ("cost", [dollars(run.usage.cost_usd) for run in runs]),
        ("trace", [clean(run.query_id)[:SHOWN_ID] for run in runs]),
    ]
    return [row for row in shown if row[0] != "right" or graded]


def _answer(run: Run, first: Run, chars: int) -> str:
    if run is not first and run.answer == first.answer:
        return f"the same as {first.mode}"
    return one_line(run.answer, chars)


def _of_modes(sums: Sequence[Sum]) -> Table:
    table = Table("", *(told.mode for told in sums), title="All questions", title_justify="left")
    table.add_row("answered", *(f"{told.answered}/{told.runs}" for told in sums))
    if any(told.graded for told in sums):
        table.add_row("right", *(f"{told.right}/{told.graded}" for told in sums))
    table.add_row("sources cited", *(f"{told.sources:.1f}" for told in sums))
    table.add_row("rounds, calls", *(f"{told.rounds:.1f}, {told.calls:.1f}" for told in sums))
    tokens = (f"{told.usage.all_input_tokens:,}, {told.usage.output_tokens:,}" for told in sums)
    table.add_row("tokens in, out", *tokens)
    table.add_row("ms (median)", *(f"{told.ms:.0f}" for told in sums))
    table.add_row("cost", *(dollars(told.cost_usd) for told in sums))
    return table


def _check_writable(path: Path | None) -> None:
    """Refuses before the questions are asked what could not be written after them."""
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise BadInputError(
            f"{one_line(str(path), 200)} cannot be written: name a file in a folder that you may write."
        )


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadInputError(f"{one_line(str(path), 200)} cannot be written: {error.strerror}") from error
