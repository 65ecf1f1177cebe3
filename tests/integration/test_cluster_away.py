"""NATS is away for a while: appends fail with a sentence, and afterwards everything goes on from there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from antiphon.bus.recorder import Recorder
from antiphon.cluster import JetStreamTraceStore, connection, following, trace_log
from antiphon.vocabulary.errors import SequenceError, TraceError
from antiphon.vocabulary.events import Event, Live, QueryClosed, Recorded
from tests.fakes import FixedClock
from tests.nats_servers import NatsServer, nats_server
from tests.story import placed, query_received, tool_succeeded
from tests.trace_stores import connected

WITHIN_S = 60.0

EVENTS = placed(
    "q1",
    [
        query_received(),
        *[tool_succeeded("x" * 300, f"{n}" * 300) for n in range(4)],
        QueryClosed(status="answered"),
    ],
)


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NatsServer]:
    monkeypatch.setattr(trace_log, "REQUEST_S", 0.3)
    monkeypatch.setattr(following, "LOOK_AGAIN_S", 0.1)
    monkeypatch.setattr(connection, "REQUEST_S", 0.2)
    with nats_server(tmp_path / "nats") as started:
        yield started


async def test_appends_go_on_where_they_were_when_the_server_is_back(
    server: NatsServer, tmp_path: Path
) -> None:
    async with connected(server.url) as cluster:
        store = await JetStreamTraceStore.open(cluster, tmp_path)
        recorder = Recorder("q1", store, FixedClock())
        assert await recorder.record(EVENTS[:2]) is None

        server.kill()
        error = await recorder.record(EVENTS[2:3])
        server.start()
        left = EVENTS[3:5]
        async with asyncio.timeout(WITHIN_S):
            while not recorder.complete:
                await recorder.record(left)
                left = []
        assert await recorder.record(EVENTS[5:]) is None

        assert isinstance(error, TraceError)
        assert not isinstance(error, SequenceError)
        assert await store.read("q1") == EVENTS
        assert [line.status for line in await store.list()] == ["answered"]


async def test_a_reader_goes_on_reading_when_the_server_is_back(
    server: NatsServer, tmp_path: Path
) -> None:
    async with connected(server.url) as cluster:
        store = await JetStreamTraceStore.open(cluster, tmp_path)
        await store.append("q1", 0, EVENTS[:2])
        seen: list[Recorded[Event] | Live] = []
        two = asyncio.Event()

        async def read() -> None:
            async for item in store.follow("q1"):
                seen.append(item)
                if len(seen) == 2:
                    two.set()

        reading = asyncio.create_task(read())
        await two.wait()
        server.kill()
        # The reader looks in vain meanwhile: an append fails only after a longer wait than a look.
        for _ in range(3):
            with pytest.raises(TraceError):
                await store.append("q1", 2, EVENTS[2:])
        server.start()
        async with asyncio.timeout(WITHIN_S):
            await append_until_stored(store)
            await reading

        assert seen == EVENTS


async def append_until_stored(store: JetStreamTraceStore) -> None:
    while True:
        try:
            await store.append("q1", 2, EVENTS[2:])
        except SequenceError:
            raise
        except TraceError:
            await asyncio.sleep(0.1)
        else:
            return
