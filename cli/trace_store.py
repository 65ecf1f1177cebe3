"""Reading one trace from the command line, by its id or the beginning of it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from cli.terminal import clean
from service import Settings
from traces import SqliteTraceStore
from vocabulary.errors import BadInputError, NotFoundError
from vocabulary.events import AnyEvent, Recorded
from vocabulary.ports import TraceStore

PAGE = 500
SHOWN_MATCHES = 5


@asynccontextmanager
async def opened_store(settings: Settings) -> AsyncIterator[TraceStore]:
    """The trace store of the settings, closed at the end."""
    store = SqliteTraceStore.open(settings.data_dir)
    try:
        yield store
    finally:
        await store.close()


async def read_trace(settings: Settings, wanted: str) -> Sequence[Recorded[AnyEvent]]:
    """The events of the one trace whose id begins so. Raises as `whole_id` does."""
    async with opened_store(settings) as store:
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
