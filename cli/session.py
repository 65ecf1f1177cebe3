"""The service and its traces inside the command's own process, and the options that change its settings."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from antiphon.service import (
    Antiphon,
    Redaction,
    Settings,
    catalog_of,
    configure_logging,
    load_settings,
    load_subscribers,
    open_trace_store,
    whole_id,
)
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import TraceListing, TraceStore
from antiphon.vocabulary.settings import DECLARED

DataDir = Annotated[
    Path | None,
    typer.Option(
        "--data-dir", help="Folder of the index and the traces.", show_default="data"
    ),
]
Reasoner = Annotated[
    Literal["auto", "claude", "offline"] | None,
    typer.Option(
        "--reasoner",
        help="Who answers; auto is Claude where a key is set.",
        show_default="auto",
    ),
]
Model = Annotated[
    str | None, typer.Option("--model", help="Claude's model.", show_default=False)
]
Embedder = Annotated[
    Literal["auto", "minilm", "onnx"] | None,
    typer.Option(
        "--embedder", help="Who turns texts into vectors.", show_default="auto"
    ),
]
ChromaUrl = Annotated[
    str | None,
    typer.Option(
        "--chroma-url", help="A Chroma server; none is the index in this process."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]
TraceId = Annotated[
    str, typer.Argument(help="The trace's id, or enough of its beginning.")
]

PAGE = 500


def wish(name: str, flag: str) -> Any:
    """Returns the option for one setting that a caller may choose, as vocabulary/settings.py declares it."""
    return typer.Option(flag, help=DECLARED[name].sentence)


def settings_for_people(**overrides: object) -> Settings:
    """Loads the settings with logging turned down to warnings, for commands whose output people read.

    Raises:
        ConfigurationError: A value cannot be used.
    """
    settings = load_settings(**overrides)
    # A level that somebody chose is kept; "info" is the default, and would stand between the lines of the output.
    if settings.log_level == "info":
        settings = settings.model_copy(update={"log_level": "warning"})
    configure_logging(settings)
    return settings


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[Antiphon]:
    """Opens the service, and closes it at the end, whatever happens.

    Raises:
        ServiceError: It cannot be opened.
    """
    service = await Antiphon.open(settings)
    try:
        yield service
    finally:
        await service.close()


@asynccontextmanager
async def open_store(
    settings: Settings, redaction: Redaction | None = None
) -> AsyncIterator[TraceStore]:
    """Opens the trace store of these settings, which reads the events of their subscribers too; closes it at the end.

    Args:
        redaction: Redacts traces that are added.
    """
    catalog = catalog_of(load_subscribers(settings.subscribers))
    store = open_trace_store(settings.data_dir, redaction=redaction, catalog=catalog)
    try:
        yield store
    finally:
        await store.close()


async def every_id(store: TraceListing) -> AsyncIterator[str]:
    """Yields the ids of all traces, the newest first."""
    last: str | None = None
    # By the last id and not by a number of rows: queries that begin meanwhile shift nothing.
    while page := await store.list(PAGE, after_id=last):
        for row in page:
            yield row.query_id
        last = page[-1].query_id


async def read_trace(settings: Settings, wanted: str) -> Sequence[Recorded[Event]]:
    """Reads the events of the one trace whose id begins so. Raises as `whole_id` does."""
    async with open_store(settings) as store:
        return await store.read(await whole_id(store, wanted))
