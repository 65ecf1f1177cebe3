"""What one node says of conversations, owners and deleted traces holds on every other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from antiphon.cluster import Cluster, JetStreamTraceStore
from antiphon.cluster.projection import FILE_NAME
from antiphon.traces import files_holding
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.events import QueryClosed
from antiphon.vocabulary.values import Exchange
from tests.nats_servers import NatsServer
from tests.story import answered, placed, query_received, tool_succeeded
from tests.trace_stores import connected, nats_url

__all__ = ["nats_url"]


@pytest_asyncio.fixture
async def cluster(nats_url: str) -> AsyncIterator[Cluster]:
    async with connected(nats_url) as of_test:
        yield of_test


async def a_node(cluster: Cluster, folder: Path) -> JetStreamTraceStore:
    """A store with a folder of its own, as another machine has it."""
    return await JetStreamTraceStore.open(cluster, folder, abandoned_after_s=0.0)


async def fill(store: JetStreamTraceStore, *query_ids: str) -> None:
    for query_id in query_ids:
        await store.append(query_id, 0, placed(query_id, answered(query_id, "so")))


async def test_a_conversation_that_was_cleared_on_one_node_is_clear_on_all(
    cluster: Cluster, tmp_path: Path
) -> None:
    one, other = await a_node(cluster, tmp_path / "1"), await a_node(cluster, tmp_path)
    await one.open_conversation("s1")
    await fill(one, "q1")
    # Begun before it was cleared, and over after that.
    await one.append("q2", 0, placed("q2", answered("q2", "so")[:2]))
    assert len(await other.exchanges("s1", 9)) == 1

    await other.clear_conversation("s1")
    await one.append("q2", 2, placed("q2", [QueryClosed(status="answered")], after=2))
    await fill(one, "q3")

    expected = [Exchange(question="q3", answer="so")]
    assert list(await one.exchanges("s1", 9)) == expected
    assert list(await other.exchanges("s1", 9)) == expected
    anew = await a_node(cluster, tmp_path / "new")
    assert list(await anew.exchanges("s1", 9)) == expected


async def test_a_conversation_that_was_deleted_on_one_node_is_unknown_on_all(
    cluster: Cluster, tmp_path: Path
) -> None:
    one, other = await a_node(cluster, tmp_path / "1"), await a_node(cluster, tmp_path)
    await one.open_conversation("s1")
    await fill(one, "q1")
    await one.append("q2", 0, placed("q2", answered("q2", "so", "only asked in")))
    assert len(await other.exchanges("s1", 9)) == 1

    await one.delete_conversation("s1")
    await one.delete_conversation("only asked in")

    for session_id in ("s1", "only asked in"):
        for node in (one, other):
            with pytest.raises(NotFoundError):
                await node.exchanges(session_id, 9)


async def test_an_open_silent_query_that_waits_for_nobody_is_unfinished(
    cluster: Cluster, tmp_path: Path
) -> None:
    writer, node = (
        await a_node(cluster, tmp_path / "1"),
        await a_node(cluster, tmp_path),
    )
    red = writer.seen_by("red")
    await fill(writer, "over")
    await red.append("waits", 0, placed("waits", [query_received()]))
    await red.append("lost", 0, placed("lost", [query_received()]))
    await cluster.jetstream.publish(cluster.naming.query("red", "waits"), b"")
    patient = await JetStreamTraceStore.open(cluster, tmp_path)

    assert await node.unfinished() == ["lost"]
    # Its worker may only be waiting for a model.
    assert await patient.unfinished() == []
    await node.take_over("lost")
    more = placed("lost", [tool_succeeded("x")], after=1)
    await node.append("lost", 1, more)
    assert await node.unfinished() == []
    assert await writer.unfinished() == ["lost"]


async def test_nothing_of_a_deleted_trace_is_left_in_any_file(tmp_path: Path) -> None:
    server = NatsServer(tmp_path / "nats")
    server.start()
    try:
        async with connected(server.url) as cluster:
            store = await a_node(cluster, tmp_path / "node")
            for name in ("alpha", "beta"):
                question = query_received(f"word{name}", session_id=f"talk{name}")
                found = tool_succeeded(f"kept{name} " * 40, f"long{name} " * 40_000)
                closed = QueryClosed(status="answered")
                await store.append(name, 0, placed(name, [question, found, closed]))
                await store.open_conversation(f"talk{name}")
            assert len(await store.list()) == 2
            said = [f"{kind}alpha" for kind in ("word", "kept", "long", "talk")]
            assert files_holding(tmp_path / "nats", said)

            await store.delete_conversation("talkalpha")

            assert files_holding(tmp_path / "nats", said) == {}
            await store.close()
            assert files_holding(tmp_path / "node", said) == {}
            others = [each.replace("alpha", "beta") for each in said]
            assert files_holding(tmp_path / "nats", others)
            assert (tmp_path / "node" / FILE_NAME).is_file()
    finally:
        server.stop()
