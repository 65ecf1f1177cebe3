"""The whole service with everything on but the network: the SDK, a double in this process, SQLite traces, redaction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from antiphon.bus import SystemClock
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.engine import InProcessTransport, connect, offline_model
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.service import (
    Antiphon,
    Question,
    Redaction,
    Resources,
    ServiceResources,
    Settings,
)
from antiphon.traces import SqliteTraceStore
from benchmarks.double import app
from benchmarks.working_model import Tools

KEY = f"sk-ant-api03-{'x9_Qf' * 19}-AA"


@asynccontextmanager
async def whole_service(folder: Path) -> AsyncIterator[Antiphon]:
    """Opens the service in a folder, and closes it."""
    tools = Tools(passages=3)
    registry = Registry(
        [
            tool_from_function(tools.search_course_content),
            tool_from_function(tools.get_course_outline),
        ]
    )
    redaction = Redaction(secrets=(KEY,))
    model = connect(KEY, "http://double.invalid", transport=InProcessTransport(app))
    shared = Resources(
        clock=SystemClock(),
        models={"primary": model, "fallback": offline_model()},
        tools=registry,
        tool_definitions=registry.definitions(),
        redaction=redaction,
    )
    resources = ServiceResources(
        shared=shared,
        store=SqliteTraceStore.open(folder, redaction=redaction),
        library=SmallLibrary(WordEmbedder()),
        models=(model,),
        reasoner="double",
        versions=(),
    )
    service = Antiphon.over(Settings.model_construct(data_dir=folder), resources)
    try:
        yield service
    finally:
        await service.close()


async def ask(service: Antiphon, query: str) -> None:
    """Asks a question that takes three calls and three tool calls, or ends the measurement."""
    response = (await service.ask(Question(query=query))).response
    if (response.calls, response.rounds) != (3, 2):
        raise SystemExit(
            f"a query made {response.calls} calls in {response.rounds} rounds, not 3 in 2: {response}"
        )
