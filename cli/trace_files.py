"""`antiphon traces export|import|test|delete|prune`: keeping traces, and giving them away."""

from __future__ import annotations

import asyncio
import math
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.conversations import whole_conversation
from antiphon.cli.session import (
    DataDir,
    TraceId,
    every_trace,
    open_store,
    settings_for_people,
)
from antiphon.cli.terminal import counted, err, one_line, out, short_id
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Json, TraceFilter, TraceSummary

Yes = Annotated[bool, typer.Option("--yes", help="Delete without being asked.")]
MOST_DAYS = 36_500.0
SHOWN_ROWS = 5


def export(
    query_id: TraceId,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    data_dir: DataDir = None,
) -> None:
    """Writes a trace into a file of JSON lines, as it is stored, with a hash over all of it."""
    settings = settings_for_people(data_dir=data_dir)

    async def stored() -> tuple[str, Sequence[bytes]]:
        async with open_store(settings) as store:
            found_id = await service.whole_id(store, query_id)
            # The events are not decoded: another program may have written them.
            return found_id, await store.lines(found_id)

    found_id, lines = asyncio.run(stored())
    _write(output, service.file_of_lines(found_id, lines))
    out.print(f"{output}: {counted(len(lines), 'event')}", soft_wrap=True)


def import_(
    file: Annotated[
        Path, typer.Argument(help="A file that `antiphon traces export` wrote.")
    ],
    data_dir: DataDir = None,
) -> None:
    """Reads a trace from a file; one that is not whole and sound is refused, and nothing of it is kept."""
    settings = settings_for_people(data_dir=data_dir)
    catalog = service.catalog_of(service.load_subscribers(settings.subscribers))
    # Read and checked as a whole before the store is opened: half a trace must not get in.
    events = service.read_trace_file(service.bytes_of_file(file), catalog)

    async def add() -> None:
        async with open_store(
            settings, service.redaction_of(settings), make=True
        ) as store:
            await store.add(events)

    asyncio.run(add())
    out.print(
        f"{short_id(events[0].query_id)}: {counted(len(events), 'event')}",
        soft_wrap=True,
    )


def as_test(
    query_id: TraceId,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="The folder, or the test_….py to write."),
    ],
    redact: Annotated[
        list[str] | None,
        typer.Option("--redact", help="A pattern to cross out everywhere."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over files that are there.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Makes a regression test of a trace: a sealed file and a few lines of pytest that replay it."""
    settings = settings_for_people(data_dir=data_dir)
    events, forms = asyncio.run(_with_forms(settings, query_id))
    folder = output
    # An id from elsewhere may be any text, and this one becomes part of a path.
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"trace_{events[0].query_id[:8]}")
    if output.suffix == ".py":
        folder = output.parent
        name = output.stem.removeprefix("test_")
    data, test = service.trace_test(
        events, name, redact or (), settings.subscribers, forms
    )
    files = {folder / f"{name}.jsonl": data, folder / f"test_{name}.py": test.encode()}
    for path in files:
        if path.exists() and not force:
            raise BadInputError(f"{path} is there already: --force writes over it.")
    for path, content in files.items():
        _write(path, content)
    out.print(f"{path} replays {counted(len(events), 'event')}", soft_wrap=True)


async def _with_forms(
    settings: service.Settings, query_id: str
) -> tuple[Sequence[Recorded[Event]], Sequence[Json]]:
    """Reads a trace, and each of its events in the form in which it was written."""
    async with open_store(settings) as store:
        whole = await service.whole_id(store, query_id)
        return await store.read(whole), await store.forms(whole)


def delete(
    query_id: Annotated[
        str | None, typer.Argument(help="The trace's id.", show_default=False)
    ] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="All of a conversation.")
    ] = None,
    yes: Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Deletes one trace or one conversation, with the texts that nothing else holds; asks first."""
    if (query_id is None) == (conversation is None):
        raise BadInputError(
            "Name either a trace, or a conversation with --conversation."
        )
    settings = settings_for_people(data_dir=data_dir)
    if conversation is not None:
        conversation = asyncio.run(whole_conversation(settings, conversation))
    where = TraceFilter(session_id=conversation)
    found = asyncio.run(_found(settings, query_id, where))
    _ask_first(found, yes=yes)

    async def work() -> int:
        async with open_store(settings) as store:
            if conversation is not None:
                return await store.delete_conversation(conversation)
            return await store.delete([found[0].query_id])

    out.print(f"{asyncio.run(work())} deleted")


def prune(
    older_than_days: Annotated[
        float | None,
        typer.Option(
            "--older-than-days",
            min=0.0,
            max=MOST_DAYS,
            help="Begun longer ago than that.",
        ),
    ] = None,
    most_mb: Annotated[
        float | None,
        typer.Option("--most-mb", min=0.0, help="Until this is used at most."),
    ] = None,
    yes: Yes = False,
    data_dir: DataDir = None,
) -> None:
    """Deletes the oldest traces that are over, by age and by size; asks first."""
    if older_than_days is None and most_mb is None:
        raise BadInputError("Say what to delete: --older-than-days or --most-mb.")
    older_than: float | None = None
    most_bytes: int | None = None
    if older_than_days is not None:
        older_than = time.time() - older_than_days * 86_400
    if most_mb is not None:
        most_bytes = _bytes_of(most_mb)
    settings = settings_for_people(data_dir=data_dir)
    # Which ones a limit of size takes is known only as they go: any of them may.
    where = TraceFilter(until=older_than)
    if most_bytes is not None:
        where = TraceFilter()
    _ask_first(asyncio.run(_found(settings, None, where)), yes=yes, at_most=True)

    async def work() -> int:
        async with open_store(settings) as store:
            return await store.prune(older_than=older_than, most_bytes=most_bytes)

    out.print(f"{asyncio.run(work())} deleted")


def _bytes_of(megabytes: float) -> int:
    if not math.isfinite(megabytes):
        raise BadInputError("--most-mb wants a number of megabytes.")
    return int(megabytes * 1_000_000)


async def _found(
    settings: service.Settings, wanted: str | None, where: TraceFilter
) -> list[TraceSummary]:
    """Lists what would be deleted, the newest first: the one trace that is wanted, or those that a filter lets through.

    Raises:
        NotFoundError: There is no such trace.
        BadInputError: Several begin so.
    """
    found: list[TraceSummary] = []
    async with open_store(settings) as store:
        query_id: str | None = None
        if wanted is not None:
            query_id = await service.whole_id(store, wanted)
        async for row in every_trace(store, where):
            if row.query_id == query_id:
                return [row]
            if query_id is None:
                found.append(row)
    return found


def _ask_first(
    found: Sequence[TraceSummary], *, yes: bool, at_most: bool = False
) -> None:
    """Shows what is to be deleted, and asks.

    Raises:
        BadInputError: Nobody is there to be asked.
    """
    if yes or not found:
        return
    for row in found[:SHOWN_ROWS]:
        err.print(
            one_line(f"  {short_id(row.query_id)}  {row.query}", 110), soft_wrap=True
        )
    if len(found) > SHOWN_ROWS:
        err.print(f"  … and {len(found) - SHOWN_ROWS} more")
    many = counted(len(found), "trace")
    if at_most:
        many = f"at most {many}"
    if not sys.stdin.isatty():
        raise BadInputError(
            f"Nothing is deleted yet: this would delete {many} for good. Say --yes to do so."
        )
    typer.confirm(f"Delete {many} for good?", abort=True, err=True)


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise BadInputError(f"{path} cannot be written: {error.strerror}") from error
