"""`antiphon compare`: asks the same questions in one round, in two with the plain message list, and with briefings."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Annotated

import msgspec
import typer
from rich.table import Column, Table

from antiphon import service
from antiphon.cli.comparing import (
    MODES,
    Compared,
    Mode,
    Run,
    Sum,
    in_words,
    modes_of,
    run_of,
    run_rows,
    settings_of,
    sum_of,
    sum_rows,
)
from antiphon.cli.questions import SampleQuestion, read_questions
from antiphon.cli.session import (
    DataDir,
    Json,
    Model,
    Reasoner,
    opened,
    require_index,
    settings_for_people,
)
from antiphon.cli.terminal import (
    err,
    new_table,
    one_line,
    out,
    print_json,
    short_id,
)
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.imports import needing_extra

SHOWN_ANSWER = 240


def compare(
    questions: Annotated[
        Path,
        typer.Option(
            "--questions", help="A file with one question per line, as text or as JSON."
        ),
    ],
    modes: Annotated[
        str, typer.Option("--modes", help="The modes, comma-separated.")
    ] = ",".join(MODES),
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write the comparison as an HTML page."),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json-file", help="Write the comparison as JSON.")
    ] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    model: Model = None,
) -> None:
    """Asks the same questions in several modes and compares answers, sources, tokens, calls, time and cost.

    `single` is one round of tools and `transcript` two, both with the plain message list; `briefing` is two rounds with
    a briefing for each call. Every run is an ordinary query whose trace is kept.
    """
    chosen = modes_of(modes)
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner, model=model)
    asked = read_questions(questions, settings.query_chars)
    # Checked before asking anything: answers by Claude cost money, and would be lost.
    if html is not None:
        _page_module()
    for path in (html, json_file):
        if path is not None:
            _refuse_unwritable(path)
    require_index(settings)
    compared = asyncio.run(_ask_all(settings, asked, chosen))
    sums = [sum_of(mode, compared) for mode in chosen]
    encoded = msgspec.json.encode({"questions": compared, "modes": sums})
    if as_json:
        print_json(encoded.decode())
    else:
        show(compared, sums)
    if html is not None:
        _write(html, _page_module().as_page(compared, sums).encode())
    if json_file is not None:
        _write(json_file, encoded)


async def _ask_all(
    settings: service.Settings, asked: Sequence[SampleQuestion], modes: Sequence[Mode]
) -> list[Compared]:
    """Asks one query at a time, so that times can be compared."""
    compared: list[Compared] = []
    async with opened(settings) as antiphon:
        for number, question in enumerate(asked):
            # Each question begins with another mode, so that cold caches do not always hit the same one.
            turn = number % len(modes)
            runs = {
                mode: await _run(antiphon, question, mode)
                for mode in (*modes[turn:], *modes[:turn])
            }
            # The columns stay in the order that the user named.
            in_order = tuple(runs[mode] for mode in modes)
            compared.append(
                Compared(id=question.id, question=question.question, runs=in_order)
            )
            err.print(
                f"{number + 1} of {len(asked)}: {one_line(question.question, 80)}",
                style="dim",
                soft_wrap=True,
            )
    return compared


async def _run(antiphon: service.Antiphon, question: SampleQuestion, mode: Mode) -> Run:
    settings = settings_of(mode, antiphon.settings.query_settings())
    outcome = await antiphon.ask(
        service.Question(query=question.question, settings=settings)
    )
    return run_of(mode, question, outcome)


def show(compared: Sequence[Compared], sums: Sequence[Sum]) -> None:
    """Prints a table for each question, one for all of them, and a line for each mode."""
    for each in compared:
        out.table(_question_table(each))
    table = new_table("", title="All questions")
    for each_sum in sums:
        table.add_column(each_sum.mode)
    for name, cells in sum_rows(sums):
        table.add_row(name, *cells)
    out.table(table)
    for each_sum in sums:
        out.print(in_words(each_sum), soft_wrap=True)


def _question_table(each: Compared) -> Table:
    table = new_table(Column("", no_wrap=True), title=one_line(each.question, 200))
    first = each.runs[0]
    for run in each.runs:
        table.add_column(run.mode, ratio=1, overflow="fold")
    table.add_row("answer", *[_shown_answer(run, first) for run in each.runs])
    table.add_row("sources", *[_shown_sources(run) for run in each.runs])
    for name, cells in run_rows(each.runs):
        table.add_row(name, *cells)
    table.add_row("trace", *[short_id(run.query_id) for run in each.runs])
    return table


def _shown_answer(run: Run, first: Run) -> str:
    # A long answer printed twice would hide that the two are the same.
    if run is not first and run.answer == first.answer:
        return f"the same as {first.mode}"
    return one_line(run.answer, SHOWN_ANSWER)


def _shown_sources(run: Run) -> str:
    return "\n".join(one_line(source, 120) for source in run.sources) or "none"


def _page_module() -> ModuleType:
    with needing_extra("reports", "`--html`"):
        return importlib.import_module("antiphon.cli.compare_page")


def _refuse_unwritable(path: Path) -> None:
    """Refuses a file that could not be written, without touching it.

    Raises:
        BadInputError: It is a folder, or in a folder that does not exist or is not writable.
    """
    to_write = path if path.exists() else path.parent
    is_place = path.parent.is_dir() and not path.is_dir()
    if not is_place or not os.access(to_write, os.W_OK):
        raise BadInputError(
            f"{one_line(str(path), 200)} cannot be written: name a file in a folder that you may write."
        )


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise BadInputError(
            f"{one_line(str(path), 200)} cannot be written: {error.strerror}"
        ) from error
