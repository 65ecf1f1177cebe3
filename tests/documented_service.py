"""A small but whole service in front of the documented Messages API: real wiring, real SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from antiphon.bus import SystemClock
from antiphon.dispatcher import Registry, course_tools
from antiphon.engine import (
    CitationStyles,
    DocumentedApi,
    Double,
    InProcessTransport,
    Profile,
    connect,
    offline_model,
)
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.service import (
    Antiphon,
    Outcome,
    Question,
    Resources,
    ServiceResources,
    Settings,
)
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import Event, Recorded
from tests.guarded import guarded

QUESTION = "What are the states of a circuit breaker?"


class DocumentedService(NamedTuple):
    """The service and the API that it calls."""

    service: Antiphon
    api: DocumentedApi
    double: Double

    async def ask(self, query: str = QUESTION) -> Outcome:
        return await self.service.ask(Question(query=query))

    async def trace(self, outcome: Outcome) -> Sequence[Recorded[Event]]:
        return await self.service.store.read(outcome.query_id)

    @property
    def dollars(self) -> float:
        """The dollars that the API has billed so far."""
        return sum(billed.usage.cost_usd or 0.0 for billed in self.api.billed)


@asynccontextmanager
async def documented_service(
    folder: Path,
    api: DocumentedApi | None = None,
    *,
    profile: Profile | None = None,
    **settings: object,
) -> AsyncIterator[DocumentedService]:
    """Opens the service in a folder, and closes it; settings are those of composition/settings.py."""
    api = api or DocumentedApi()
    double = Double(api)
    model = connect("key", "http://double.test", transport=InProcessTransport(double))
    library = SmallLibrary(WordEmbedder())
    registry = Registry(course_tools(library))
    styles = CitationStyles({"primary": profile} if profile else {})
    shared = Resources(
        clock=SystemClock(),
        models={"primary": model, "fallback": offline_model()},
        tools=registry,
        tool_definitions=registry.definitions(),
        redaction=guarded(),
        styles=styles,
    )
    built = ServiceResources(
        shared=shared,
        store=SqliteTraceStore.open(folder, redaction=shared.redaction),
        library=library,
        models=(model,),
        reasoner="double",
        versions=(),
    )
    service = Antiphon.over(Settings.model_construct(**settings), built)  # type: ignore[arg-type]  # unchecked, as in other tests
    try:
        yield DocumentedService(service, api, double)
    finally:
        await service.close()
