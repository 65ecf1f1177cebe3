"""A provider that hangs in one of the ways in which servers do, over real connections, beside a library that works."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from antiphon.api.beginning import status_of_answer
from antiphon.bus import SystemClock
from antiphon.dispatcher import Registry, course_tools
from antiphon.engine import connect, offline_model
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.service import (
    Antiphon,
    Question,
    Resources,
    ServiceResources,
    Settings,
    open_trace_store,
)

Serve = Callable[[asyncio.StreamWriter], Awaitable[None]]
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
PING = b'event: ping\ndata: {"type": "ping"}\n\n'
DEADLINE_S = 3.0


async def never_answers(_: asyncio.StreamWriter) -> None:
    await asyncio.Future()


async def sends_headers_only(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    await asyncio.Future()


async def trickles_pings(writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD)
    while True:
        writer.write(b"%x\r\n%s\r\n" % (len(PING), PING))
        await writer.drain()
        await asyncio.sleep(0.1)


@asynccontextmanager
async def provider(serve: Serve) -> AsyncIterator[str]:
    """A server on loopback that takes every request and then does what `serve` does."""
    tasks: set[asyncio.Task[None] | None] = set()

    async def handle(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        tasks.add(asyncio.current_task())
        try:
            await reader.readuntil(b"\r\n\r\n")
            await serve(writer)
        except (OSError, asyncio.CancelledError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    listening.close()
    for task in tasks:
        if task is not None:
            task.cancel()


@asynccontextmanager
async def service(url: str, folder: Path) -> AsyncIterator[Antiphon]:
    """The service before that provider, with a small library."""
    library = SmallLibrary(WordEmbedder())
    registry = Registry(course_tools(library))
    model = connect("a-real-looking-key", url)
    shared = Resources(
        clock=SystemClock(),
        models={"primary": model, "fallback": offline_model()},
        tools=registry,
        tool_definitions=registry.definitions(),
    )
    resources = ServiceResources(
        shared=shared,
        store=open_trace_store(folder),
        library=library,
        models=(model,),
        reasoner="claude",
        versions=(),
    )
    opened = Antiphon.over(Settings.model_construct(), resources)
    try:
        yield opened
    finally:
        await opened.close()


@pytest.mark.parametrize("serve", [never_answers, sends_headers_only, trickles_pings])
async def test_beside_a_provider_that_hangs_the_fallback_searches_and_answers_in_time(
    serve: Serve, tmp_path: Path
) -> None:
    question = "Which states does a circuit breaker have?"
    async with provider(serve) as url, service(url, tmp_path) as antiphon:
        outcome = await antiphon.ask(Question(query=question, deadline_s=DEADLINE_S))

    response = outcome.response
    doubts = {doubt.kind for doubt in response.indicators}
    assert (outcome.status, response.reasoner) == ("answered", "offline")
    # The little library's search ranks by a few hashed words, and the answer shows its first passage first.
    cited = {citation.course for citation in response.citations}
    assert "Reliability in Small" in cited
    assert response.confidence == "medium"
    assert "fallback_reasoner" in doubts
    assert outcome.duration_ms < DEADLINE_S * 1000
    assert status_of_answer(outcome, strict=True) in (502, 504)
