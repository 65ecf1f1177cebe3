"""A trace is followed from any process: what is stored, what comes, live text in its place, and nothing refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from antiphon.cluster import Cluster, JetStreamTraceStore, following
from antiphon.cluster.trace_ports import TraceHead
from antiphon.vocabulary.errors import NotFoundError, SupersededError
from antiphon.vocabulary.events import (
    Event,
    Live,
    QueryClosed,
    Recorded,
    TextDelta,
)
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


class Reader:
    """A follower that gathers what it sees."""

    def __init__(
        self, store: JetStreamTraceStore, after: int = 0, query_id: str = "q1"
    ) -> None:
        self.seen: list[Recorded[Event] | Live] = []
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read(store, query_id, after))

    @property
    def seqs(self) -> list[int]:
        return [item.seq for item in self.seen if isinstance(item, Recorded)]

    async def until(self, count: int) -> None:
        """Waits until it has seen so many items."""
        async with asyncio.timeout(WITHIN_S):
            while len(self.seen) < count:
                self._news.clear()
                await self._news.wait()

    async def ended(self) -> None:
        """Waits until it ends by itself."""
        async with asyncio.timeout(WITHIN_S):
            await self._task

    async def _read(
        self, store: JetStreamTraceStore, query_id: str, after: int
    ) -> None:
        async for item in store.follow(query_id, after):
            self.seen.append(item)
            self._news.set()


def a_query(events: int) -> list[Recorded[Event]]:
    middle = [tool_succeeded(LONG, f"{LONG}{number}") for number in range(events - 2)]
    return placed("q1", [query_received(), *middle, QueryClosed(status="answered")])


async def test_a_trace_is_followed_from_its_beginning_to_its_end_while_it_is_written(
    store: JetStreamTraceStore,
) -> None:
    events = a_query(6)
    await store.append("q1", 0, events[:1])
    reader = Reader(store)
    await reader.until(1)

    await store.append("q1", 1, events[1:4])
    await reader.until(4)
    await store.append("q1", 4, events[4:])
    await reader.ended()

    assert reader.seen == events


async def test_a_trace_that_is_over_is_read_and_the_reader_ends(
    store: JetStreamTraceStore,
) -> None:
    events = placed("q1", answered("a", "b"))
    await store.append("q1", 0, events)

    reader = Reader(store, after=1)
    await reader.ended()

    assert reader.seen == events[1:]


async def test_a_reader_that_comes_again_sees_what_it_has_not_seen(
    store: JetStreamTraceStore,
) -> None:
    events = a_query(6)
    await store.append("q1", 0, events[:3])
    reader = Reader(store, after=2)
    await reader.until(1)

    await store.append("q1", 3, events[3:])
    await reader.ended()

    assert reader.seen == events[2:]


async def test_an_append_that_was_refused_is_not_seen(
    store: JetStreamTraceStore, cluster: Cluster, tmp_path: Path
) -> None:
    stale = await JetStreamTraceStore.open(cluster, tmp_path)
    events = a_query(4)
    await stale.append("q1", 0, events[:1])
    plain = await cluster.client.subscribe(cluster.naming.trace("q1"))
    reader = Reader(store)
    await reader.until(1)
    await store.append("q1", 1, events[1:2])

    with pytest.raises(SupersededError):
        await stale.append("q1", 1, placed("q1", [tool_succeeded("no")], after=1))
    await store.append("q1", 2, events[2:])
    await reader.ended()

    assert reader.seen == events
    # A listener to the trace's own subject hears what was refused.
    heard = [await plain.next_msg(WITHIN_S) for _ in range(3)]
    assert sum(b"no" in message.data for message in heard) == 1


async def test_a_gap_is_read_again(
    store: JetStreamTraceStore, cluster: Cluster
) -> None:
    events = a_query(6)
    await store.append("q1", 0, events[:1])
    reader = Reader(store)
    await reader.until(1)
    # Two appends that nobody hears of, as while a connection is lost.
    (subscription,) = [
        each
        for each in cluster.client._subs.values()
        if each.subject == cluster.naming.live("q1")
    ]
    hear, subscription._cb = subscription._cb, ignore
    await store.append("q1", 1, events[1:2])
    await store.append("q1", 2, events[2:4])
    await cluster.client.flush()
    subscription._cb = hear

    await store.append("q1", 4, events[4:])
    await reader.ended()

    assert reader.seen == events


async def ignore(_: object) -> None:
    """Hears nothing."""


async def test_a_follower_finds_an_end_of_which_it_heard_nothing(
    store: JetStreamTraceStore, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "LOOK_AGAIN_S", 0.1)
    events = a_query(4)
    await store.append("q1", 0, events[:1])
    reader = Reader(store)
    await reader.until(1)
    for subscription in cluster.client._subs.values():
        if subscription.subject == cluster.naming.live("q1"):
            subscription._cb = ignore

    await store.append("q1", 1, events[1:])
    await reader.ended()

    assert reader.seen == events


async def test_live_text_is_seen_after_its_event_and_in_order(
    store: JetStreamTraceStore,
) -> None:
    events = a_query(4)
    deltas = [TextDelta(call_id="c1", text=str(number)) for number in range(3)]
    await store.append("q1", 0, events[:1])
    reader = Reader(store)
    await reader.until(1)

    # The event before it is stored later, as can happen because the two take different ways.
    for delta in deltas:
        await store.emit_live("q1", 2, delta)
    await store.append("q1", 1, events[1:3])
    await reader.until(6)
    await store.append("q1", 3, events[3:])
    await reader.ended()

    assert reader.seen == [*events[:2], *deltas, *events[2:]]


async def test_hostile_live_text_ends_no_reader(
    store: JetStreamTraceStore, cluster: Cluster
) -> None:
    events = a_query(3)
    await store.append("q1", 0, events[:1])
    reader = Reader(store)
    await reader.until(1)

    subject = cluster.naming.deltas("q1")
    await cluster.client.publish(subject, b"\xff{", headers={"Antiphon-After": "1"})
    await cluster.client.publish(subject, b'{"kind":"text_delta"}')
    await cluster.client.publish(cluster.naming.live("q1"), b"no message of ours")
    await store.append("q1", 1, events[1:])
    await reader.ended()

    assert reader.seen == events


async def test_a_missing_trace_cannot_be_followed(
    store: JetStreamTraceStore,
) -> None:
    with pytest.raises(NotFoundError):
        await Reader(store).ended()
    with pytest.raises(NotFoundError):
        await store.head("q1")


async def test_a_tenant_follows_only_its_own_traces(
    store: JetStreamTraceStore,
) -> None:
    events = placed("q1", answered("a", "b"))
    await store.seen_by("red").append("q1", 0, events)

    red = Reader(store.seen_by("red"))
    await red.ended()

    assert red.seen == events
    with pytest.raises(NotFoundError):
        await Reader(store.seen_by("blue")).ended()


async def test_the_head_says_where_a_trace_ends_and_whether_it_is_over(
    store: JetStreamTraceStore,
) -> None:
    events = placed("q1", answered("a", "b"))
    await store.append("q1", 0, events[:2])
    before = await store.head("q1")
    await store.append("q1", 2, events[2:])
    after = await store.head("q1")

    assert (before.seq, before.closed) == (2, False)
    assert after == TraceHead(3, True, after.at)
    assert after.at >= before.at > 1_700_000_000


async def test_fifty_readers_see_the_same(store: JetStreamTraceStore) -> None:
    events = a_query(30)
    await store.append("q1", 0, events[:1])
    readers = [Reader(store) for _ in range(50)]

    for recorded in events[1:]:
        await store.append("q1", recorded.seq - 1, [recorded])
    await asyncio.gather(*(reader.ended() for reader in readers))

    assert [reader.seqs for reader in readers] == [list(range(1, 31))] * 50
