"""Every way in which a model's server misbehaves, with all that a caller may ask for: the outcome, in one table.

The service, its API, the SDK and the sockets are real; time is the loop's own: limits are the real ones too.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from fastapi import FastAPI

from antiphon.dispatcher import Registry, course_tools
from antiphon.engine import AnthropicModel, connect, offline_model
from antiphon.faults.runs.small_library import SmallLibrary, WordEmbedder
from antiphon.service import (
    Antiphon,
    Resources,
    ServiceResources,
    Settings,
    admission,
    open_trace_store,
    replay,
)
from antiphon.vocabulary.events import Event, Recorded, ToolSucceeded
from tests import misbehaving as servers
from tests.apps import APPS
from tests.loopback_time import LoopClock, run
from tests.misbehaving import Conduct
from tests.unit.api.calling import Browser, Reply

CERTIFICATE = Path(__file__).parents[1] / "data/self-signed.pem"
QUESTION = "What states has a circuit breaker?"
DEADLINE_S = 60.0


class Case(NamedTuple):
    """One server.

    Attributes:
        conduct: How it answers.
        says: What the answer says of it.
        way: How the client gets there: `plain`, over `https` to a server without TLS, over `tls` with a certificate
            that nobody trusts, by a `name` that is not known, or through a `proxy`.
        answers: It answers all the same, on another connection.
    """

    conduct: Conduct
    says: str
    way: str = "plain"
    answers: bool = False


NOT_REACHED = "the provider could not be reached"
TOO_LONG = "what it was shown did not fit its context"
CASES: dict[str, Case] = {
    "silent": Case(servers.silent, "it took too long"),
    "headers only": Case(servers.headers_only, "it fell silent"),
    "pings only": Case(servers.pings_only, "it took too long"),
    "closes kept connections": Case(
        servers.closes_kept_connections, NOT_REACHED, answers=True
    ),
    "bare error event": Case(
        servers.bare_error_event, "the provider reported an error in mid-reply"
    ),
    "413": Case(servers.refuses_context_with_413, TOO_LONG),
    "llama.cpp's 400": Case(servers.refuses_context_as_llama_cpp, TOO_LONG),
    "404 on everything": Case(
        servers.not_found, "there is no Messages API at the configured address"
    ),
    "no HTTP": Case(servers.no_http, NOT_REACHED),
    "https without TLS": Case(servers.well, NOT_REACHED, "https"),
    "certificate of nobody's": Case(servers.well, NOT_REACHED, "tls"),
    "name of nobody's": Case(servers.well, NOT_REACHED, "name"),
    "proxy that refuses": Case(servers.proxy_that_refuses, NOT_REACHED, "proxy"),
}
WISHES: dict[str, dict[str, Any]] = {
    "default": {},
    "strict": {"strict": True},
    "deadline 10": {"deadline_s": 10},
    "max_rounds 0": {"max_rounds": 0},
    "strict, deadline 10": {"strict": True, "deadline_s": 10},
}


def service_of(model: AnthropicModel, folder: Path) -> Antiphon:
    """A service whose primary reasoner is `model`."""
    library = SmallLibrary(WordEmbedder())
    tools = Registry(course_tools(library))
    shared = Resources(
        clock=LoopClock(),
        models={"primary": model, "fallback": offline_model()},
        tools=tools,
        tool_definitions=tools.definitions(),
        chance=lambda: 0.5,
    )
    built = ServiceResources(
        shared=shared,
        store=open_trace_store(folder),
        library=library,
        models=(model,),
        reasoner="m",
        versions=(),
    )
    return Antiphon.over(Settings.model_construct(), built)


@asynccontextmanager
async def opened(app: FastAPI) -> AsyncIterator[Browser]:
    async with app.router.lifespan_context(app):
        yield Browser(app)


@asynccontextmanager
async def reached(case: Case, patch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """The address under which the client looks for the server."""
    tls: ssl.SSLContext | None = None
    if case.way == "tls":
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(CERTIFICATE)
    async with servers.server(case.conduct, tls) as serving:
        url = serving.url
        if case.way == "https":
            url = url.replace("http:", "https:")
        if case.way == "name":
            patch.setattr(socket, "getaddrinfo", _unknown)
            url = "http://no-such-host.invalid"
        if case.way == "proxy":
            patch.setenv("HTTPS_PROXY", serving.url)
            url = "https://api.example.com"
        yield url


def _unknown(*_: object, **__: object) -> object:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


class Asked(NamedTuple):
    """An answer over HTTP, the trace behind it, and the seconds that it took by the loop's time."""

    reply: Reply
    trace: Sequence[Recorded[Event]]
    took_s: float


async def ask(
    case: Case, wish: dict[str, Any], folder: Path, patch: pytest.MonkeyPatch
) -> Asked:
    # Seldom: each time is a step of the loop's, at which it waits in case something is on its way.
    patch.setattr(servers, "PING_EVERY_S", 2.0)
    patch.setattr(admission, "LOOK_EVERY_S", 2.0)
    for name in ("NO_PROXY", "no_proxy"):
        patch.delenv(name, raising=False)
    clock = LoopClock()
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(reached(case, patch))
        service = service_of(connect("key", url), folder)

        async def opening(_: Settings) -> Antiphon:
            return service

        app = APPS.take(service.settings, opening)
        browser = await stack.enter_async_context(opened(app))
        before = clock.now()
        reply = await browser.post("/api/query", {"query": QUESTION} | wish)
        took_s = clock.now() - before
        trace = await service.store.read(reply.json()["query_id"])
    APPS.give_back(service.settings, app)
    return Asked(reply, trace, took_s)


@pytest.mark.parametrize("wish", WISHES)
@pytest.mark.parametrize("name", CASES)
def test_every_misbehaving_server_leads_to_the_outcome_that_is_promised(
    name: str, wish: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]
    asked = run(ask(case, WISHES[wish], tmp_path, monkeypatch))
    reply = asked.reply.json()
    doubts = reply["uncertainty"]["indicators"]

    status = 200
    if WISHES[wish].get("strict") and not case.answers:
        status = 502
    assert asked.reply.status == status
    assert asked.took_s <= WISHES[wish].get("deadline_s", DEADLINE_S)
    assert replay(asked.trace).divergence is None
    if case.answers:
        assert reply["answer"] == "Logs grow."
        return
    # The fallback reasoner answers from a search of its own, and nobody takes that for the model's answer.
    assert "closed, open and half-open" in reply["answer"]
    assert reply["citations"]
    assert any(isinstance(each.event, ToolSucceeded) for each in asked.trace)
    assert "fallback_reasoner" in [doubt["kind"] for doubt in doubts]
    assert reply["uncertainty"]["confidence"] in ("low", "medium")
    # If the call ends before the silence does, the answer only says that it was late.
    if "deadline_s" not in WISHES[wish]:
        assert any(case.says in doubt["detail"] for doubt in doubts)
