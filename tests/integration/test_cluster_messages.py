"""Messages of traces on JetStream: none is too large, none repeats a text, and the store refuses foreign ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
import pytest_asyncio

from antiphon.cluster import Cluster, JetStreamTraceStore
from antiphon.cluster.blobs import PART_BYTES
from antiphon.cluster.messages import Payload, unpack
from antiphon.cluster.stream_reading import StreamReader
from antiphon.vocabulary.errors import DecodeError, NotFoundError, TraceError
from antiphon.vocabulary.events import Event, QueryClosed
from tests.story import NOON, placed, query_received, tool_succeeded
from tests.trace_stores import connected, nats_url

__all__ = ["nats_url"]


@pytest_asyncio.fixture
async def cluster(nats_url: str) -> AsyncIterator[Cluster]:
    async with connected(nats_url) as of_test:
        yield of_test


async def another(cluster: Cluster, folder: Path) -> JetStreamTraceStore:
    """A store as another process has it: it knows nothing of what others wrote."""
    return await JetStreamTraceStore.open(cluster, folder)


@pytest.mark.parametrize(
    "event",
    [
        tool_succeeded("a" * 5_000_000),
        tool_succeeded(*[f"{number} " + "b" * 60_000 for number in range(60)]),
        query_received("c" * 3_000_000),
    ],
    ids=["one huge text", "many long texts", "a huge text that is no stored text"],
)
async def test_no_message_is_larger_than_the_server_takes(
    cluster: Cluster, tmp_path: Path, event: Event
) -> None:
    store = await another(cluster, tmp_path)
    events = placed("q1", [query_received(), event, QueryClosed(status="answered")])

    await store.append("q1", 0, events[:1])
    await store.append("q1", 1, events[1:])

    assert await store.read("q1") == events
    assert await (await another(cluster, tmp_path)).read("q1") == events
    for stream in (cluster.naming.traces_stream, cluster.naming.blobs):
        for size in await message_sizes(cluster, stream):
            assert size < cluster.client.max_payload
    assert cluster.client.max_payload > PART_BYTES
    # All of it goes with the trace.
    await store.delete(["q1"])
    assert await message_sizes(cluster, cluster.naming.blobs) == []


async def test_a_trace_grows_with_its_events_and_not_with_the_texts_they_repeat(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await another(cluster, tmp_path)
    passages = [
        f"Passage {number}. " + "It says something. " * 40 for number in range(10)
    ]
    await store.append("q1", 0, placed("q1", [query_received()]))
    for count in range(1, 11):
        event = tool_succeeded(*passages[:count])
        await store.append("q1", count, placed("q1", [event], after=count))

    sizes = (await message_sizes(cluster, cluster.naming.traces_stream))[1:]

    steps = [later - earlier for earlier, later in pairwise(sizes)]
    assert max(steps) < 250 < len(passages[0])


async def message_sizes(cluster: Cluster, stream: str) -> list[int]:
    """The sizes of a stream's messages, in their order."""
    reader = StreamReader(cluster, stream)
    state = await reader.state()
    sizes: list[int] = []
    async for message in reader.between(">", 1, state.last_seq):
        headers = sum(len(name) + len(value) for name, value in message.headers.items())
        sizes.append(len(message.data) + headers)
    return sizes


async def test_what_another_program_put_under_a_trace_is_refused_by_name(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await another(cluster, tmp_path)
    await cluster.jetstream.publish(cluster.naming.trace("q1"), b"\xffno message")

    with pytest.raises(DecodeError, match="trace q1"):
        await store.read("q1")
    assert await store.ids("", 9) == []


@pytest.mark.parametrize("odd", ["x" * 600, "x" * 60_000, "half \ud800"])
async def test_an_id_that_fits_no_subject_is_refused_and_costs_nobody_the_connection(
    cluster: Cluster, tmp_path: Path, odd: str
) -> None:
    store = await another(cluster, tmp_path)
    events = placed("q1", [query_received()])

    with pytest.raises(TraceError, match="no text"):
        await store.append(odd, 0, events)
    with pytest.raises(TraceError, match="no text"):
        await store.open_conversation(odd)
    for asked in (store.read(odd), store.head(odd), store.take_over(odd)):
        with pytest.raises(NotFoundError):
            await asked
    assert await store.label_of(odd) is None
    assert await store.delete([odd]) == 0

    await store.append("q1", 0, events)
    assert cluster.client.stats["reconnects"] == 0


async def test_what_others_put_into_the_stream_keeps_no_trace_out_of_the_list(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await another(cluster, tmp_path)
    publish = cluster.jetstream.publish
    trace = cluster.naming.trace
    event = (1, 0, NOON, "query_received", 1, b'{"kind":"query_received"}')
    nothing = msgspec.msgpack.encode(Payload(()))
    broken = msgspec.msgpack.encode(Payload((event,)))
    for number, (data, headers) in enumerate(
        [
            (b"", {"Antiphon-Events": "1-1"}),
            (b"\xff", {"Antiphon-Events": "1-1"}),
            (nothing, {"Antiphon-Events": "1-1"}),
            (broken, {"Antiphon-Events": "1-1", "Antiphon-Tenant": "=\u00ff!"}),
            (broken, {"Antiphon-Events": "1-2"}),
            (broken, {"Antiphon-Events": "1-999999999999999"}),
            (broken, {"Antiphon-Events": "9" * 30 + "-1"}),
            (b"", {"Antiphon-Events": "1-1", "Antiphon-Payload": "0" * 64}),
        ]
    ):
        await publish(trace(f"odd{number}"), data, headers=headers)
    await publish(f"{cluster.naming.prefix}.traces.=!", b"")
    await publish(cluster.naming.conversation("s1"), b"\xff")
    await store.append("q1", 0, placed("q1", [query_received(), tool_succeeded("x")]))
    # The same events once more, from a program that goes around the fence.
    twice = await StreamReader(cluster, cluster.naming.traces_stream).last(trace("q1"))
    assert twice is not None
    rest = Payload((unpack(twice.data, "q1").events[1],))
    await publish(
        trace("q1"),
        msgspec.msgpack.encode(rest),
        headers={"Antiphon-Events": "2-2"},
    )

    assert [line.query_id for line in await store.list()] == ["q1"]


async def test_an_event_of_a_later_version_is_refused_by_name(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await another(cluster, tmp_path)
    event = (1, 0, NOON, "query_received", 7, b'{"kind":"query_received"}')
    await cluster.jetstream.publish(
        cluster.naming.trace("q1"),
        msgspec.msgpack.encode(Payload((event,))),
        headers={"Antiphon-Events": "1-1"},
    )

    with pytest.raises(DecodeError, match=r"trace q1, seq 1: .*version 7"):
        await store.read("q1")
    (line,) = await store.lines("q1")
    assert msgspec.json.decode(line)["version"] == 7


async def test_the_error_says_that_a_changed_text_is_missing(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await another(cluster, tmp_path)
    await store.append("q1", 0, placed("q1", [tool_succeeded("a" * 100_000)]))
    reader = StreamReader(cluster, cluster.naming.blobs)
    (subject,) = await reader.subjects(">")
    await cluster.jetstream.publish(subject, b"other", headers={"Antiphon-Parts": "1"})

    with pytest.raises(DecodeError, match="missing from the store"):
        await store.read("q1")
