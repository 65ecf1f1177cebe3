"""`antiphon search`: the passages that the tools would find, without answering a question."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import msgspec
import typer
from rich.table import Column
from rich.text import Text

from antiphon import service
from antiphon.cli.conversations import in_utf8
from antiphon.cli.session import (
    ChromaUrl,
    DataDir,
    Embedder,
    Json,
    require_index,
    settings_for_people,
)
from antiphon.cli.terminal import clean, err, new_table, one_line, out, print_json

MOST_TEXT = 1_000
"""The most characters of a passage in the table; `--json` has all of it."""


def search(
    query: Annotated[
        str, typer.Argument(help="What to search for: a question, or words.")
    ],
    course: Annotated[
        str | None,
        typer.Option(
            "--course", help="In this course only: its title, or a part of it."
        ),
    ] = None,
    lesson: Annotated[
        str | None,
        typer.Option(
            "--lesson", help="In this lesson only: its number, `last`, or its title."
        ),
    ] = None,
    limit: Annotated[
        int,
        typer.Option(
            "--limit",
            min=1,
            max=service.MOST_PASSAGES,
            help="Maximum number of passages.",
        ),
    ] = service.PASSAGES,
    why: Annotated[
        bool, typer.Option("--why", help="Show why each passage was found.")
    ] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
    embedder: Embedder = None,
    chroma_url: ChromaUrl = None,
) -> None:
    """Finds the best-matching passages of the courses, by meaning and by words, best first."""
    in_utf8(lambda: query)
    service.check_search(query, course, lesson, limit)
    settings = settings_for_people(
        data_dir=data_dir, embedder=embedder, chroma_url=chroma_url
    )
    require_index(settings)
    with err.status("Opening the index …"):
        library = service.open_library(settings)
    with closing(library):
        found = service.search(library, query, course, lesson, limit, why=why)
    if as_json:
        print_json(msgspec.json.encode(found).decode())
    elif found.passages:
        _show(found, why=why)
    else:
        out.print(_nothing(found), soft_wrap=True)


def _show(found: service.SearchResult, *, why: bool) -> None:
    """Prints the passages: for people, each under its source; for programs, one line each."""
    if out.is_terminal:
        table = new_table(Column("Score", justify="right"), "Passage")
        for passage in found.passages:
            table.add_row(f"{passage.score:.2f}", _block(passage, why=why))
        out.table(table)
        return
    columns = ["Score", "Source", "Passage", "Link"]
    if why:
        columns.append("Why")
    table = new_table(*columns)
    for passage in found.passages:
        table.add_row(*_cells(passage, why=why))
    out.table(table)


def _block(passage: service.FoundPassage, *, why: bool) -> Text:
    block = Text(_source(passage), style="bold")
    if passage.link is not None:
        block.append(f"\n{one_line(passage.link, 300)}", style="not bold dim")
    if why:
        block.append(f"\n{one_line(_reason(passage), 300)}", style="not bold cyan")
    text = clean(passage.text[:MOST_TEXT])
    block.append(f"\n{text}\n", style="not bold")
    return block


def _cells(passage: service.FoundPassage, *, why: bool) -> list[str]:
    cells = [
        f"{passage.score:.2f}",
        _source(passage),
        one_line(passage.text, MOST_TEXT),
        one_line(passage.link or "", 300),
    ]
    if why:
        cells.append(one_line(_reason(passage), 300))
    return cells


def _source(passage: service.FoundPassage) -> str:
    place = "" if passage.place is None else f", {passage.place}"
    return one_line(f"{passage.source}{place}", 300)


def _reason(passage: service.FoundPassage) -> str:
    signals = passage.signals
    if signals is None:
        return "not told"
    matched = f": {', '.join(signals.matched)}" if signals.matched else ""
    return f"meaning {signals.meaning:.2f}, words {signals.words:.2f}{matched}"


def _nothing(found: service.SearchResult) -> str:
    lesson = "" if found.lesson is None else f" in lesson {found.lesson}"
    course = "" if found.course is None else f" of '{one_line(found.course, 200)}'"
    return f"Nothing was found for '{one_line(found.query, 200)}'{lesson}{course}."
