"""`antiphon traces`: what was asked, and how each answer came about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Annotated

import typer
from rich.table import Column, Table

from cli.answers import source_lines
from cli.options import DataDir, Json
from cli.session import settings_for_people
from cli.telling import tell_recorded
from cli.terminal import clean, one_line, out, print_json
from service import Settings
from traces import SqliteTraceStore, to_json
from vocabulary.errors import BadInputError, NotFoundError
from vocabulary.events import AnyEvent, Recorded, ResponseAssembled
from vocabulary.ports import TraceStore, TraceSummary

PAGE = 500
SHOWN_MATCHES = 5
SHOWN_ID = 12
"""Characters of an id in the list; `show` takes them for the whole."""

_NARROW = ("Status", "Confidence", "ms")


def add_to(app: typer.Typer) -> None:
    """Makes the commands known."""
    group = typer.Typer(no_args_is_help=True, help="What was asked, and how each answer came about.")
    group.command("list")(listed)
    group.command("show")(show)
    app.add_typer(group, name="traces")


def listed(
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many, the newest first.")] = 20,
    data_dir: DataDir = None,
) -> None:
    """Lists the traces, the newest first."""
    found = asyncio.run(_list(settings_for_people(data_dir=data_dir), limit))
    if not found:
        out.print("There are no traces yet: ask something with `antiphon ask`.")
        return
    table = Table(Column("Query", no_wrap=True), Column("Asked", no_wrap=True), "Question", *_NARROW)
    for row in found:
        table.add_row(*_cells(row))
    out.print(table)


def show(
    query_id: Annotated[str, typer.Argument(help="The trace's id, or enough of its beginning.")],
    as_json: Json = False,
    full: Annotated[bool, typer.Option("--full", help="Show each event with everything in it.")] = False,
    data_dir: DataDir = None,
) -> None:
    """Shows a trace: an event a line (seq, time, kind, what matters, its cause), the answer at the end."""
    events = asyncio.run(_read(settings_for_people(data_dir=data_dir), query_id))
    if as_json:
        for said in events:
            print_json(to_json(said).decode())
        return
    for said in events:
        out.print(tell_recorded(said, events[0].at, 500 if full else 120), soft_wrap=True)
        if full:
            print_json(to_json(said).decode())
    for said in events:
        if isinstance(said.event, ResponseAssembled):
            _show_response(said.event)


def _show_response(response: ResponseAssembled) -> None:
    out.print(f"\n{clean(response.answer)}", soft_wrap=True)
    for line in source_lines(response):
        out.print(line, soft_wrap=True)
    for indicator in response.indicators:
        out.print(f"! {one_line(indicator.detail, 200)} (event {indicator.event_seq})", soft_wrap=True)


def _cells(row: TraceSummary) -> tuple[str, ...]:
    asked = datetime.fromtimestamp(row.started_at).astimezone().strftime("%d %b %H:%M")
    took = "" if row.duration_ms is None else f"{row.duration_ms:.0f}"
    return (
        clean(row.query_id)[:SHOWN_ID],
        asked,
        one_line(row.query, 60),
        row.status,
        row.confidence or "",
        took,
    )


@asynccontextmanager
async def _store(settings: Settings) -> AsyncIterator[TraceStore]:
    store = SqliteTraceStore.open(settings.data_dir)
    try:
        yield store
    finally:
        await store.close()


async def _list(settings: Settings, limit: int) -> Sequence[TraceSummary]:
    async with _store(settings) as store:
        return await store.list(limit)


async def _read(settings: Settings, wanted: str) -> Sequence[Recorded[AnyEvent]]:
    async with _store(settings) as store:
        return await store.read(await whole_id(store, wanted))


async def whole_id(store: TraceStore, beginning: str) -> str:
    """The id of the one trace whose id begins so; `beginning` itself where it is one.

    Raises:
        NotFoundError: None does.
        BadInputError: Several do.
    """
    matches: list[str] = []
    before: float | None = None
    while page := await store.list(PAGE, before):
        matches += [row.query_id for row in page if row.query_id.startswith(beginning)]
        before = page[-1].started_at
    if beginning in matches:
        return beginning
    if not matches:
        raise NotFoundError(f"There is no trace {clean(beginning)!r}: `antiphon traces list` shows those there are.")
    if len(matches) > 1:
        some = ", ".join(matches[:SHOWN_MATCHES])
        raise BadInputError(f"{len(matches)} traces begin with {clean(beginning)!r} ({some}): give more of it.")
    return matches[0]
