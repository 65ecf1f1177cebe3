"""The trace store as the commands use it: opened for a moment, and a trace found by the beginning of its id."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from antiphon.cli.terminal import clean
from antiphon.service import open_trace_store
from antiphon.traces import Redaction
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import TraceListing, TraceStore

PAGE = 500
SHOWN_MATCHES = 5


@asynccontextmanager
async def open_store(data_dir: Path, redaction: Redaction | None = None) -> AsyncIterator[TraceStore]:
    """The store of a data folder; closed at the end.

    Args:
        redaction: What traces that are added are redacted by.
    """
    store = open_trace_store(data_dir, redaction=redaction)
    try:
        yield store
    finally:
        await store.close()


async def every_id(store: TraceListing) -> AsyncIterator[str]:
    """The ids of all traces, the newest first."""
    last: str | None = None
    while page := await store.list(PAGE, after_id=last):
        for row in page:
            yield row.query_id
        last = page[-1].query_id


async def whole_id(store: TraceListing, beginning: str) -> str:
    """The id of the one trace whose id begins so; `beginning` itself where it is one.

    Raises:
        NotFoundError: None does.
        BadInputError: Several do.
    """
    matches = await store.ids(beginning, SHOWN_MATCHES + 1)
    if beginning in matches[:1]:
        return beginning
    if not matches:
        raise NotFoundError(f"There is no trace {clean(beginning)!r}: `antiphon traces list` shows those there are.")
    if len(matches) > 1:
        some = ", ".join(map(clean, matches[:SHOWN_MATCHES]))
        many = len(matches) if len(matches) <= SHOWN_MATCHES else f"More than {SHOWN_MATCHES}"
        raise BadInputError(f"{many} traces begin with {clean(beginning)!r} ({some}): give more of it.")
    return matches[0]


async def read_trace(data_dir: Path, wanted: str) -> Sequence[Recorded[Event]]:
    """The events of the one trace whose id begins so. Raises as `whole_id` does."""
    async with open_store(data_dir) as store:
        return await store.read(await whole_id(store, wanted))
