"""A small but whole service: a real store in a folder, a double that follows a script, and the test's tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import msgspec

from antiphon.bus import SystemClock
from antiphon.dispatcher import Registry, Tool, tool_from_function
from antiphon.engine import (
    CitationStyles,
    Double,
    InProcessTransport,
    Profile,
    Script,
    connect,
    offline_model,
)
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.service import Antiphon, Outcome, Resources, ServiceResources, Settings
from antiphon.traces import Redaction, SqliteTraceStore
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.workers.remote_parts import performed_elsewhere
from tests.guarded import guarded


class House:
    """The service, its folder, and the double behind it."""

    def __init__(
        self,
        folder: Path,
        service: Antiphon,
        store: SqliteTraceStore,
        double: Double,
        resources: ServiceResources,
    ) -> None:
        self.folder = folder
        self.service = service
        self.store = store
        self.double = double
        self.resources = resources

    def stored(self) -> bytes:
        """Every byte in the folder: the database, its log, and any other files."""
        return b"".join(
            path.read_bytes()
            for path in sorted(self.folder.iterdir())
            if path.is_file()
        )

    def sent(self) -> str:
        """All requests to the model, as text."""
        return str(self.double.requests)

    async def trace(self, outcome: Outcome) -> Sequence[Recorded[Event]]:
        return await self.store.read(outcome.query_id)


def _as_tool(given: Callable[..., Awaitable[object]] | Tool) -> Tool:
    if isinstance(given, Tool):
        return given
    return tool_from_function(given)


@asynccontextmanager
async def house(
    folder: Path,
    script: object,
    *tools: Callable[..., Awaitable[object]] | Tool,
    redaction: Redaction | None = None,
    api_key: str = "key",
    subscribers: tuple[Subscriber, ...] = (),
    observers: tuple[Subscriber, ...] = (),
    settings: Settings | None = None,
    profile: Profile | None = None,
) -> AsyncIterator[House]:
    """Opens the service, and closes it at the end."""
    blots = redaction or guarded()
    # Instead of a script, a test may pass an object that makes the replies itself, such as the documented API.
    if not hasattr(script, "reply"):
        script = msgspec.convert(script, Script)
    double = Double(script)
    registry = Registry([_as_tool(tool) for tool in tools])
    parts = Resources(
        clock=SystemClock(),
        models={
            "primary": connect(
                api_key, "http://double.test", transport=InProcessTransport(double)
            ),
            "fallback": offline_model(),
        },
        tools=registry,
        tool_definitions=registry.definitions(),
        redaction=blots,
        styles=CitationStyles({"primary": profile} if profile else {}),
        subscribers=subscribers,
        observers=observers,
    )
    settings = settings or Settings.model_construct()
    elsewhere = performed_elsewhere(settings) if settings.remote else None
    if elsewhere is not None:
        parts = replace(parts, outside=elsewhere)
    store = SqliteTraceStore.open(folder, redaction=blots, catalog=parts.catalog)
    library = SmallLibrary(WordEmbedder())
    built = ServiceResources(
        shared=parts,
        store=store,
        library=library,
        models=(),
        close_outside=None if elsewhere is None else elsewhere.close,
        reasoner="double",
        versions=(),
    )
    service = Antiphon.over(settings, built)
    try:
        yield House(folder, service, store, double, built)
    finally:
        await service.close()
