"""`antiphon traces export|import|test`: moves traces into files and back, and makes tests of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from antiphon import service
from antiphon.cli.rendering import said_of_import
from antiphon.cli.session import (
    DataDir,
    TraceId,
    open_store,
    read_trace,
    settings_for_people,
)
from antiphon.cli.terminal import counted, err, one_line, out, short_id
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded
from antiphon.vocabulary.feedback import Feedback
from antiphon.vocabulary.ports import Json


def export(
    query_id: TraceId,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    data_dir: DataDir = None,
    form: Annotated[
        Literal["antiphon", "atif"],
        typer.Option(
            "--format",
            help="antiphon: exactly as it is stored, with a hash over all of it; atif: as an agent's trajectory.",
        ),
    ] = "antiphon",
) -> None:
    """Exports a trace as JSON lines for `antiphon traces import`, or as a trajectory (ATIF) for other programs."""
    settings = settings_for_people(data_dir=data_dir)

    async def stored() -> tuple[str, Sequence[bytes], Feedback | None]:
        async with open_store(settings) as store:
            found_id = await service.whole_id(store, query_id)
            feedback = await store.annotations.feedback(found_id)
            # The events are not decoded: another program may have written them.
            return found_id, await store.lines(found_id), feedback

    if form == "atif":
        events = asyncio.run(read_trace(settings, query_id))
        _write(output, service.atif_of(events))
        out.print(f"{output}: {counted(len(events), 'event')}", soft_wrap=True)
        return
    found_id, lines, feedback = asyncio.run(stored())
    _write(output, service.file_of_lines(found_id, lines, feedback))
    out.print(f"{output}: {counted(len(lines), 'event')}", soft_wrap=True)


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            help="A file of `antiphon traces export`, or of another program (docs/imports.md)."
        ),
    ],
    data_dir: DataDir = None,
) -> None:
    """Imports the traces of a file; refuses a damaged or incomplete one and keeps nothing of it."""
    settings = settings_for_people(data_dir=data_dir)
    catalog = service.catalog_of(service.load_subscribers(settings.subscribers))
    redaction = service.redaction_of(settings)
    # Read and checked as a whole before the store is opened, so that no half trace gets in.
    read = service.read_import(service.bytes_of_file(file), catalog, redaction)

    async def add() -> service.ImportedFile:
        async with open_store(settings, redaction, make=True) as store:
            return await service.store_import(store, read)

    stored = asyncio.run(add())
    for events in stored.queries:
        line = f"{short_id(events[0].query_id)}: {counted(len(events), 'event')}"
        first = events[0].event
        if isinstance(first, QueryReceived) and first.imported is not None:
            line += f", {said_of_import(first.imported)}"
        out.print(one_line(line, 500), soft_wrap=True)
    for reason in stored.refused:
        err.print(f"! not imported: {one_line(reason, 300)}", soft_wrap=True)
    if stored.refused:
        raise typer.Exit(1)


def as_test(
    query_id: TraceId,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The folder, or the test_….py file, to write."
        ),
    ],
    redact: Annotated[
        list[str] | None,
        typer.Option("--redact", help="A pattern to redact everywhere."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite existing files.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Turns a trace into a regression test: a sealed file and a few lines of pytest that replay it."""
    settings = settings_for_people(data_dir=data_dir)
    events, forms = asyncio.run(_with_forms(settings, query_id))
    folder = output
    # The id of an imported trace may be any text, and it becomes part of a path here.
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
            raise BadInputError(f"{path} already exists: --force overwrites it.")
    for path, content in files.items():
        _write(path, content)
    out.print(f"{path} replays {counted(len(events), 'event')}", soft_wrap=True)


async def _with_forms(
    settings: service.Settings, query_id: str
) -> tuple[Sequence[Recorded[Event]], Sequence[Json]]:
    """Reads a trace, and each of its events in its stored form."""
    async with open_store(settings) as store:
        whole = await service.whole_id(store, query_id)
        return await store.read(whole), await store.forms(whole)


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise BadInputError(f"{path} cannot be written: {error.strerror}") from error
