"""The list of traces that a node makes of the stream: complete when it is read, and rebuilt when it must be."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from antiphon.cluster import Cluster, JetStreamTraceStore, stream_reading
from antiphon.cluster.stream_reading import StreamReader
from antiphon.vocabulary.ports import TraceFilter
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


async def test_writing_and_reading_traces_makes_no_list(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await a_node(cluster, tmp_path)
    await fill(store, "q1")

    assert len(await store.read("q1")) == 3
    assert (await store.head("q1")).closed
    # The list would be a file here.
    assert os.listdir(tmp_path) == []


async def test_every_node_lists_all_that_any_node_stored_before_the_call(
    cluster: Cluster, tmp_path: Path
) -> None:
    nodes = [await a_node(cluster, tmp_path / str(number)) for number in range(3)]

    for number in range(30):
        await fill(nodes[number % 3], f"q{number:02}")
        for node in nodes:
            newest, *_ = sorted(await node.ids("", 100), reverse=True)
            assert newest == f"q{number:02}"

    lists = [await node.list(100) for node in nodes]
    assert lists[0] == lists[1] == lists[2]
    assert [line.events for line in lists[0]] == [3] * 30


async def test_a_list_goes_on_where_it_was_when_its_process_ended(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = await a_node(cluster, tmp_path)
    await fill(first, *(f"q{number}" for number in range(20)))
    await first.list()
    await first.close()
    await fill(first, "later")
    asked_from: list[int] = []
    between = StreamReader.between

    def noted(
        reader: StreamReader, subject: str, first_seq: int, last_seq: int
    ) -> object:
        asked_from.append(first_seq)
        return between(reader, subject, first_seq, last_seq)

    monkeypatch.setattr(StreamReader, "between", noted)
    again = await a_node(cluster, tmp_path)

    assert len(await again.ids("", 100)) == 21
    # Each trace is one message here: the twenty that the first process listed are not read again.
    assert asked_from == [21]


async def test_a_list_goes_on_growing_when_nobody_waits_for_it_any_longer(
    cluster: Cluster, tmp_path: Path
) -> None:
    writer, node = (
        await a_node(cluster, tmp_path / "1"),
        await a_node(cluster, tmp_path),
    )
    await fill(writer, *(f"q{number:03}" for number in range(300)))

    with pytest.raises(TimeoutError):
        # The caller gives up long before 300 traces are listed.
        async with asyncio.timeout(0.001):
            await node.list()
    found = await asyncio.gather(*(node.ids("", 1_000) for _ in range(100)))

    assert {len(ids) for ids in found} == {300}


async def test_a_node_rebuilds_a_list_that_is_gone(
    cluster: Cluster, tmp_path: Path
) -> None:
    first = await a_node(cluster, tmp_path)
    await fill(first, "q1", "q2")
    before = await first.list()
    await first.close()
    for name in os.listdir(tmp_path):
        os.unlink(tmp_path / name)

    again = await a_node(cluster, tmp_path)

    assert await again.list() == before


async def test_a_node_rebuilds_a_list_of_another_stream(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await a_node(cluster, tmp_path)
    await fill(store, "old", "older")
    await store.ids("", 9)
    await cluster.jetstream.delete_stream(cluster.naming.traces_stream)

    anew = await a_node(cluster, tmp_path)
    await fill(anew, "new")

    assert await store.ids("", 9) == await anew.ids("", 9) == ["new"]


async def test_two_processes_of_a_machine_fill_one_file(
    cluster: Cluster, tmp_path: Path
) -> None:
    stores = [await a_node(cluster, tmp_path) for _ in range(4)]
    await fill(stores[0], *(f"q{number:03}" for number in range(300)))

    found = await asyncio.gather(*(store.ids("", 1_000) for store in stores))
    assert [len(ids) for ids in found] == [300] * 4

    await fill(stores[1], "q300")
    found = await asyncio.gather(*(store.ids("", 1_000) for store in stores))
    assert [len(ids) for ids in found] == [301] * 4
    lines = await stores[2].list(1_000)
    assert {line.events for line in lines} == {3}


async def test_lists_are_whole_while_others_write_delete_and_list(
    cluster: Cluster, tmp_path: Path
) -> None:
    folders = [tmp_path, tmp_path, tmp_path, tmp_path / "other"]
    nodes = [await a_node(cluster, folder) for folder in folders]
    ids = [f"q{number:03}" for number in range(120)]
    deleted = ids[::3]

    async def write() -> None:
        for query_id in ids:
            await fill(nodes[0], query_id)
            if query_id in deleted:
                await nodes[3].delete([query_id])

    writing = asyncio.create_task(write())
    while not writing.done():
        await asyncio.gather(*(node.ids("", 1_000) for node in nodes))
    await writing

    found = await asyncio.gather(*(node.ids("", 1_000) for node in nodes))
    assert list(found) == [[each for each in ids if each not in deleted]] * 4
    lines = await nodes[1].list(1_000)
    assert {line.events for line in lines} == {3}


async def test_a_node_no_longer_lists_what_another_deleted(
    cluster: Cluster, tmp_path: Path
) -> None:
    one, other = await a_node(cluster, tmp_path / "1"), await a_node(cluster, tmp_path)
    await fill(one, "q1", "q2", "q3", "q4")
    assert len(await other.list()) == 4

    await one.delete(["q2", "q3"])

    assert await other.ids("", 9) == await one.ids("", 9) == ["q1", "q4"]
    assert await other.list(where=TraceFilter(text="q2")) == []
    await fill(other, "q2")
    assert await one.ids("", 9) == ["q1", "q2", "q4"]
    assert [line.events for line in await one.list()] == [3, 3, 3]


async def test_an_id_that_was_deleted_and_used_again_between_two_looks_is_one_trace(
    cluster: Cluster, tmp_path: Path
) -> None:
    one, other = await a_node(cluster, tmp_path / "1"), await a_node(cluster, tmp_path)
    await one.append("q1", 0, placed("q1", [query_received("before")]))
    await one.append("q1", 1, placed("q1", [tool_succeeded("x")], after=1))
    assert len(await other.list()) == 1

    await one.delete(["q1"])
    await fill(one, "q1")

    (line,) = await other.list()
    assert (line.query, line.status, line.events) == ("q1", "answered", 3)


async def test_thousands_are_listed_by_pages(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So that one reading takes more than one batch.
    monkeypatch.setattr(stream_reading, "_AT_ONCE", 100)
    store = await a_node(cluster, tmp_path)
    ids = [f"q{number:04}" for number in range(1_200)]
    await asyncio.gather(*(fill(store, query_id) for query_id in ids))

    assert list(await store.ids("", 10_000)) == ids
    reader = StreamReader(cluster, cluster.naming.traces_stream)
    assert len(await reader.subjects(f"{cluster.naming.prefix}.traces.*")) == 1_200
