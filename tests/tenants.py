"""The small service over real HTTP with keys of several tenants, for tests of access and permissions."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import uvicorn

from antiphon import faults
from antiphon.dispatcher import Tool
from antiphon.engine import Profile
from antiphon.service import AccessFile, Keys, Limits, Quotas, Settings
from antiphon.vocabulary.access import SCOPES
from antiphon.vocabulary.events import QueryReceived
from antiphon.vocabulary.values import QuerySettings
from tests.apps import APPS
from tests.small_service import House, house
from tests.story import placed

QUESTION = {"query": "What is BM25?"}
SCRIPT: dict[str, Any] = {"replies": [{"text": "It is good."}], "then": "last"}
EVERYTHING = tuple(SCOPES)


class Site:
    """A running service, its folder, and its keys."""

    def __init__(self, at: House, url: str) -> None:
        self.house = at
        self.url = url
        self.file = AccessFile(at.folder, 5_000)
        self.keys = Keys(self.file)
        self.quotas = Quotas(self.file)
        self._clients: list[httpx2.AsyncClient] = []

    def key(
        self, tenant: str, *scopes: str, expires_s: float | None = None, **limits: Any
    ) -> str:
        """Makes a key, by default with all scopes, and returns it."""
        key, info = self.keys.add(
            "test", tenant, scopes or EVERYTHING, expires_s=expires_s
        )
        if limits:
            self.quotas.limit("key", info.key_id, Limits(**limits))
        return key

    def client(self, key: str | None = None, **headers: str) -> httpx2.AsyncClient:
        """A client with or without a key."""
        if key is not None:
            headers["authorization"] = f"Bearer {key}"
        client = httpx2.AsyncClient(base_url=self.url, headers=headers, timeout=30.0)
        self._clients.append(client)
        return client

    def tenant(self, name: str, *scopes: str, **limits: Any) -> httpx2.AsyncClient:
        """A client with a new key of a tenant."""
        return self.client(self.key(name, *scopes, **limits))

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()
        self.file.close()


@asynccontextmanager
async def site(
    folder: Path,
    *tools: Callable[..., Awaitable[object]] | Tool,
    script: object = None,
    profile: Profile | None = None,
    **settings: Any,
) -> AsyncIterator[Site]:
    """The service on a free port, in this process and over a real socket."""
    chosen = Settings(_env_file=None, data_dir=folder, **settings)  # type: ignore[call-arg]  # pydantic-settings
    async with AsyncExitStack() as stack:
        at = await stack.enter_async_context(
            house(folder, script or SCRIPT, *tools, settings=chosen, profile=profile)
        )

        async def opened(_: Settings) -> Any:
            return at.service

        app = APPS.take(chosen, opened, faults.injector_of)
        # With the protocol given as TCP, asyncio sets TCP_NODELAY: replies do not wait for an ACK of their head.
        listener = stack.enter_context(socket.socket(proto=socket.IPPROTO_TCP))
        listener.bind(("127.0.0.1", 0))
        listener.listen()  # early callers wait until it serves
        config = uvicorn.Config(
            app, log_config=None, access_log=False, timeout_graceful_shutdown=5
        )
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        running = Site(at, f"http://127.0.0.1:{listener.getsockname()[1]}")
        try:
            yield running
        finally:
            await running.close()
            server.should_exit = True
            await serving
            APPS.give_back(chosen, app)


async def interrupted(at: Site, tenant: str, query_id: str) -> None:
    """Stores an unfinished query, such as a dead process leaves."""
    store = at.house.store.seen_by(tenant)
    first = QueryReceived(
        query="What is lost?", session_id=f"s-{query_id}", settings=QuerySettings()
    )
    await store.append(query_id, 0, placed(query_id, [first]))


async def ask(client: httpx2.AsyncClient, **more: object) -> httpx2.Response:
    return await client.post("/api/query", json=QUESTION | more)


async def share_of(client: httpx2.AsyncClient, holder: str = "key") -> dict[str, Any]:
    shares = (await client.get("/api/usage")).json()["shares"]
    [share] = [each for each in shares if each["holder"] == holder]
    found: dict[str, Any] = share
    return found


async def counted(at: Site) -> None:
    """Waits until the usage of all finished queries is counted."""
    await at.house.service._runtime.callers.metering.close()
