"""A query's end reaches all processes with its last events; one that hears nothing, or nonsense, finds it too."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from antiphon.cluster import Cluster, JetStreamTraceStore
from antiphon.cluster.stream_reading import StoredMessage
from antiphon.cluster.trace_log import TraceLog
from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.events import Event, QueryClosed, Recorded
from tests.story import answered, placed, query_received, tool_succeeded
from tests.trace_stores import connected, nats_url

__all__ = ["nats_url"]

WITHIN_S = 30.0
LONG = "a long text " * 40


@pytest_asyncio.fixture
async def cluster(nats_url: str) -> AsyncIterator[Cluster]:
    async with connected(nats_url) as of_test:
        yield of_test


@pytest_asyncio.fixture
async def store(cluster: Cluster, tmp_path: Path) -> JetStreamTraceStore:
    return await JetStreamTraceStore.open(cluster, tmp_path)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The traces that were looked at."""
    traces: list[str] = []
    last = TraceLog.last

    async def noted(self: TraceLog, query_id: str) -> StoredMessage:
        traces.append(query_id)
        return await last(self, query_id)

    monkeypatch.setattr(TraceLog, "last", noted)
    return traces


def a_query(*middle: Event) -> list[Recorded[Event]]:
    return placed("q1", [query_received(), *middle, QueryClosed(status="answered")])


async def test_a_process_that_waits_for_an_end_gets_the_last_events_and_reads_nothing(
    store: JetStreamTraceStore, read: list[str]
) -> None:
    events = placed("q1", answered("a", "b"))
    end = await store.end_of("q1")
    await store.append("q1", 0, events[:1])

    await store.append("q1", 1, events[1:])

    assert await end.within(WITHIN_S) == events[1:]
    assert read == []


async def test_a_query_that_goes_on_has_no_end(store: JetStreamTraceStore) -> None:
    end = await store.end_of("q1")
    await store.append("q1", 0, a_query()[:1])

    assert await end.within(0.0) == ()


async def test_a_process_finds_an_end_that_came_before_it_waited(
    store: JetStreamTraceStore,
) -> None:
    events = placed("q1", answered("a", "b"))
    await store.append("q1", 0, events)

    assert await (await store.end_of("q1")).within(0.0) == events


async def test_a_message_of_an_end_counts_for_nothing_until_the_trace_says_so(
    store: JetStreamTraceStore, cluster: Cluster
) -> None:
    events = a_query()
    end = await store.end_of("q1")
    await store.append("q1", 0, events[:1])
    subject = cluster.naming.end("q1")

    for data, headers in (
        (b"", None),
        (b"over", None),
        (b"\xffover", {"Antiphon-Closed": "1"}),
    ):
        await cluster.client.publish(subject, data, headers=headers)
        assert await end.within(WITHIN_S) == ()

    await store.append("q1", 1, events[1:])
    assert await end.within(WITHIN_S) == events[1:]


async def test_last_events_that_are_large_are_read(
    store: JetStreamTraceStore, read: list[str]
) -> None:
    large = [tool_succeeded(f"{LONG}{number}" * 20) for number in range(8)]
    events = a_query(*large)
    end = await store.end_of("q1")
    await store.append("q1", 0, events[:1])

    await store.append("q1", 1, events[1:])

    assert await end.within(WITHIN_S) == events[1:]
    assert read == ["q1"]


async def test_last_events_that_refer_to_an_earlier_text_are_read_with_all_others(
    store: JetStreamTraceStore,
) -> None:
    events = a_query(tool_succeeded(LONG), tool_succeeded(LONG))
    end = await store.end_of("q1")
    await store.append("q1", 0, events[:2])

    await store.append("q1", 2, events[2:])

    assert list(await end.within(WITHIN_S))[-2:] == events[2:]


async def test_a_tenant_does_not_learn_of_another_tenants_end(
    store: JetStreamTraceStore,
) -> None:
    end = await store.seen_by("blue").end_of("q1")
    await store.seen_by("red").append("q1", 0, a_query())

    with pytest.raises(NotFoundError):
        await end.within(WITHIN_S)


async def test_nobody_can_wait_for_the_end_of_a_trace_that_is_not_there(
    store: JetStreamTraceStore,
) -> None:
    end = await store.end_of("q1")

    with pytest.raises(NotFoundError):
        await end.within(0.0)
