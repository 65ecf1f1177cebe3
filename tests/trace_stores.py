"""Trace stores of each kind, opened for a test: all must behave alike."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from antiphon.cluster import Cluster, JetStreamTraceStore, connect
from antiphon.traces import Redaction, SqliteTraceStore
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.ports import WholeTraceStore
from tests.nats_servers import nats_server

KINDS = ("sqlite", "jetstream")


@pytest.fixture(scope="module")
def nats_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A NATS server for one file of tests."""
    with nats_server(tmp_path_factory.mktemp("nats")) as server:
        yield server.url


@asynccontextmanager
async def connected(url: str, prefix: str | None = None) -> AsyncIterator[Cluster]:
    """A connection with a prefix of its own."""
    if prefix is None:
        prefix = f"t{uuid.uuid4().hex[:12]}"
    cluster = await connect(url, name="test", prefix=prefix)
    try:
        yield cluster
    finally:
        await cluster.close()


@asynccontextmanager
async def opened(
    kind: str,
    folder: Path,
    nats_url: str,
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
    prefix: str | None = None,
) -> AsyncIterator[WholeTraceStore]:
    """A store of this kind; on NATS, another one with the same prefix holds the same traces."""
    if kind == "sqlite":
        store = SqliteTraceStore.open(folder, redaction=redaction, catalog=catalog)
        yield store
        await store.close()
        return
    async with connected(nats_url, prefix) as cluster:
        shared = await JetStreamTraceStore.open(cluster, folder, redaction, catalog)
        yield shared
        await shared.close()


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind in turn."""
    return str(request.param)


@pytest_asyncio.fixture
async def store(
    kind: str, tmp_path: Path, nats_url: str
) -> AsyncIterator[WholeTraceStore]:
    """An empty store of that kind."""
    async with opened(kind, tmp_path, nats_url) as of_kind:
        yield of_kind
