"""Opens the service and its traces inside the command's own process; and the options that change its settings."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.status import Status

from antiphon import service
from antiphon.cli.process import end_at_once
from antiphon.cli.terminal import clean, err, one_line
from antiphon.vocabulary.errors import KnowledgeError, NotFoundError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import (
    TraceFilter,
    TraceListing,
    TraceStore,
    TraceSummary,
)
from antiphon.vocabulary.settings import DECLARED

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Folder for the index and the traces.", show_default="data"
    ),
]
Reasoner = Annotated[
    Literal["auto", "claude", "offline"] | None,
    typer.Option(
        "--reasoner",
        help="Who answers; auto is Claude if a key is set.",
        show_default="auto",
    ),
]
Model = Annotated[
    str | None, typer.Option("--model", help="Claude's model.", show_default=False)
]
Embedder = Annotated[
    Literal["auto", "minilm", "onnx"] | None,
    typer.Option(
        "--embedder",
        help="The embedder, which turns text into vectors.",
        show_default="auto",
    ),
]
ChromaUrl = Annotated[
    str | None,
    typer.Option(
        "--chroma-url", help="A Chroma server; by default the index is in this process."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TraceId = Annotated[str, typer.Argument(help="The trace's id, or the beginning of it.")]

PAGE = 500


def wish(name: str, flag: str) -> Any:
    """Returns the option for one setting that a caller may choose, as vocabulary/settings.py declares it."""
    return typer.Option(flag, help=DECLARED[name].sentence)


def loaded_settings(**overrides: object) -> service.Settings:
    """Loads the settings, and warns of names that look like a setting but are not.

    Raises:
        ConfigurationError: A value cannot be used.
    """
    settings = service.load_settings(**overrides)
    for sentence in service.settings_warnings():
        err.print(f"! {one_line(sentence, 200)}", style="yellow", soft_wrap=True)
    return settings


def settings_for_people(**overrides: object) -> service.Settings:
    """Loads the settings with logging turned down to warnings, for commands whose output people read.

    Raises:
        ConfigurationError: A value cannot be used.
    """
    settings = loaded_settings(**overrides)
    # Another level is the user's choice and stays; the default, "info", would mix lines of the log into the output.
    if settings.log_level == "info":
        settings = settings.model_copy(update={"log_level": "warning"})
    service.configure_logging(settings)
    return settings


def opening() -> Status:
    """Returns a spinner on standard error, if that is a terminal, for loading that takes seconds."""
    return err.status("Opening the index and the reasoner …")


def require_index(settings: service.Settings) -> None:
    """Refuses a data folder in which nothing is indexed, before one is made or anything large is loaded.

    Call it after checking the arguments: a user who mistyped one should get that error instead.

    Raises:
        KnowledgeError: Nothing is indexed.
    """
    indexed = service.overview(settings.data_dir)
    if indexed is None or not indexed.courses:
        raise KnowledgeError(nothing_indexed(settings))


def nothing_indexed(settings: service.Settings) -> str:
    """Returns the sentence for a data folder in which nothing is indexed, with the remedy."""
    return (
        f"Nothing is indexed in {clean(str(settings.data_dir))}: run `antiphon index PATH…` on a folder of course "
        "documents, or name the folder of another index with --data-dir."
    )


@asynccontextmanager
async def opened(settings: service.Settings) -> AsyncIterator[service.Antiphon]:
    """Opens the service, and closes it at the end in any case; Ctrl-C cancels the task that uses it.

    Raises:
        ServiceError: It cannot be opened.
    """
    with opening():
        antiphon = await service.Antiphon.open(settings)
    try:
        with _cancelled_by_ctrl_c() as interrupted:
            yield antiphon
    finally:
        await antiphon.close()
        # Not by an exception, which would wait for threads on its way out.
        if interrupted.is_set():
            # After an interruption, a lost output is not worth an error.
            with suppress(OSError):
                sys.stdout.flush()
            end_at_once()


@contextmanager
def _cancelled_by_ctrl_c() -> Iterator[asyncio.Event]:
    """Has Ctrl-C cancel the running task, so that the trace records the query's end; a second one ends the process."""
    interrupted = asyncio.Event()
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    # In other processes, such as a test's, signals are not ours to handle.
    if task is None or signal.getsignal(signal.SIGINT) is not end_at_once:
        yield interrupted
        return

    def interrupt() -> None:
        interrupted.set()
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, end_at_once)
        task.cancel()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield interrupted
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, end_at_once)


def may_hold_traces(settings: service.Settings) -> bool:
    """Returns False if there is no data folder, and traces are not on NATS either."""
    return settings.nats_url is not None or settings.data_dir.is_dir()


def no_data_folder(settings: service.Settings) -> str:
    """Returns the sentence for a missing data folder, with the remedy."""
    return (
        f"There is no data folder {clean(str(settings.data_dir))}, and so no trace: ask something with "
        "`antiphon ask`, or name another folder with --data-dir."
    )


@asynccontextmanager
async def open_store(
    settings: service.Settings,
    redaction: service.Redaction | None = None,
    *,
    make: bool = False,
) -> AsyncIterator[TraceStore]:
    """Opens the trace store of these settings, which also knows their subscribers' events; closes it at the end.

    Args:
        redaction: Redacts traces that are added.
        make: True to make the data folder if there is none.

    Raises:
        NotFoundError: There is no data folder.
        TraceError: The store cannot be opened.
    """
    # No folder is made for reading, because it would be empty: its name is mistyped, or nothing was asked yet.
    if not make and not may_hold_traces(settings):
        raise NotFoundError(no_data_folder(settings))
    catalog = service.catalog_of(service.load_subscribers(settings.subscribers))
    async with service.trace_store_of(settings, redaction, catalog) as store:
        yield store


async def every_trace(
    store: TraceListing, where: TraceFilter | None = None
) -> AsyncIterator[TraceSummary]:
    """Yields a line for each trace that passes the filter, the newest first; None: for all traces."""
    last: str | None = None
    # Pages continue after the last id rather than at an offset, so that queries that begin meanwhile shift nothing.
    while page := await store.list(PAGE, after_id=last, where=where):
        for row in page:
            yield row
        last = page[-1].query_id


async def found_id(settings: service.Settings, wanted: str) -> str:
    """Finds a trace for a command that then opens the service, which takes seconds. Raises as `whole_id` does."""
    async with open_store(settings) as store:
        return await service.whole_id(store, wanted)


async def read_trace(
    settings: service.Settings, wanted: str
) -> Sequence[Recorded[Event]]:
    """Reads the events of the one trace whose id begins so. Raises as `whole_id` does."""
    async with open_store(settings) as store:
        return await store.read(await service.whole_id(store, wanted))
