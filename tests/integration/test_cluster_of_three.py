"""Three servers hold every trace: if the leader is killed in the middle of appends, nothing is lost."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from antiphon.cluster import JetStreamTraceStore, Naming, connect
from antiphon.cluster.streams import trace_stream
from antiphon.vocabulary.errors import SequenceError, TraceError
from antiphon.vocabulary.events import Event, Recorded
from tests.nats_servers import addresses_of, nats_cluster
from tests.story import placed, query_received, tool_succeeded

TRACES = 20
WITHIN_S = 120.0


class Writer:
    """Writes one trace, and retries each append until it is stored, as the recorder does."""

    def __init__(self, store: JetStreamTraceStore, query_id: str) -> None:
        self.query_id = query_id
        self.stored: list[Recorded[Event]] = []
        self._store = store
        self._news = asyncio.Event()

    async def until(self, count: int) -> None:
        """Waits until so many events are stored."""
        while len(self.stored) < count:
            self._news.clear()
            await self._news.wait()

    async def write(self, stop: asyncio.Event) -> None:
        while not stop.is_set():
            seq = len(self.stored)
            event: Event = tool_succeeded(f"{self.query_id} {seq} " + "text " * 60)
            if seq == 0:
                event = query_received()
            events = placed(self.query_id, [event], after=seq)
            try:
                await self._store.append(self.query_id, seq, events)
            except SequenceError:
                raise
            except TraceError:
                # Nothing was stored: while there is no leader, an append may be refused.
                await asyncio.sleep(0.05)
                continue
            self.stored += events
            self._news.set()


async def test_killing_the_leader_in_the_middle_of_appends_loses_nothing(
    tmp_path: Path,
) -> None:
    with nats_cluster(tmp_path / "nats") as servers:
        cluster = await connect(addresses_of(servers), name="test", replicas=3)
        store = await JetStreamTraceStore.open(cluster, tmp_path / "node")
        for stream in (cluster.naming.traces_stream, cluster.naming.blobs):
            info = await cluster.jetstream.stream_info(stream)
            assert info.config.num_replicas == 3
        writers = [Writer(store, f"q{number}") for number in range(TRACES)]
        stop = asyncio.Event()
        async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as tasks:
            for writer in writers:
                tasks.create_task(writer.write(stop))
            await _until(writers, 20)
            info = await cluster.jetstream.stream_info(cluster.naming.traces_stream)
            assert info.cluster is not None
            (leader,) = [each for each in servers if each.name == info.cluster.leader]
            leader.kill()
            # Everybody goes on under a new leader, and with two servers of three.
            await _until(writers, 20 + max(len(each.stored) for each in writers))
            stop.set()

        for writer in writers:
            assert await store.read(writer.query_id) == writer.stored
        assert len(await store.list(100)) == TRACES
        info = await cluster.jetstream.stream_info(cluster.naming.traces_stream)
        assert info.cluster is not None
        assert info.cluster.leader != leader.name
        await store.close()
        await cluster.close()


async def test_a_server_that_hangs_holds_up_no_reader_for_long(
    tmp_path: Path,
) -> None:
    with nats_cluster(tmp_path / "nats") as servers:
        cluster = await connect(addresses_of(servers), name="test", replicas=3)
        store = await JetStreamTraceStore.open(cluster, tmp_path / "node")
        events = [*placed("q1", [query_received()])]
        await store.append("q1", 0, events)
        for seq in range(1, 6):
            more = placed("q1", [tool_succeeded(f"{seq}")], after=seq)
            await store.append("q1", seq, more)
            events += more
        info = await cluster.jetstream.stream_info(cluster.naming.traces_stream)
        assert info.cluster is not None
        asked = f"{cluster.client.connected_url.netloc}"  # type: ignore[union-attr]  # it is connected
        [still, *_] = [
            each
            for each in servers
            if each.name != info.cluster.leader and not each.url.endswith(asked)
        ]

        # The others still send it its share of the requests that any server may answer.
        still.signal(signal.SIGSTOP)
        found = [await store.read("q1") for _ in range(20)]
        still.signal(signal.SIGCONT)
        await store.close()
        await cluster.close()

    assert found == [events] * 20


async def _until(writers: list[Writer], count: int) -> None:
    """Waits until each has stored so many events."""
    for writer in writers:
        await writer.until(count)


def test_traces_are_kept_on_disk_and_refused_rather_than_dropped() -> None:
    config = trace_stream(Naming(), 3)

    assert (config.storage, config.discard) == ("file", "new")
    assert (config.max_age, config.max_msgs, config.max_bytes) == (None, None, None)
