"""Appends on JetStream: one writer owns a trace, and an append of unknown outcome is found again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.errors import APIError

from antiphon.bus.recorder import Recorder
from antiphon.cluster import Cluster, JetStreamTraceStore
from antiphon.cluster.stream_reading import StoredMessage, StreamReader
from antiphon.cluster.trace_log import CONFLICTS, EXPECTED
from antiphon.vocabulary.errors import (
    SequenceError,
    SupersededError,
    TraceError,
    TraceStateError,
)
from antiphon.vocabulary.events import Event, QueryClosed, QueryResumed
from tests.fakes import FixedClock
from tests.story import answered, placed, query_received, tool_succeeded
from tests.trace_stores import connected, nats_url

__all__ = ["nats_url"]

WRITERS = 8


@pytest_asyncio.fixture
async def cluster(nats_url: str) -> AsyncIterator[Cluster]:
    async with connected(nats_url) as of_test:
        yield of_test


async def another(cluster: Cluster, folder: Path) -> JetStreamTraceStore:
    """A store as another process has it: it knows nothing of what others wrote."""
    return await JetStreamTraceStore.open(cluster, folder)


class LostAnswers:
    """A JetStream whose answers get lost, or whose messages do; it takes the place of `Cluster.jetstream`."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.lost_answers = 0
        self.lost_messages = 0
        self.refused_though_stored = 0
        self.refused: list[int | None] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def publish(self, *arguments: Any, **named: Any) -> Any:
        if self.lost_messages:
            self.lost_messages -= 1
            raise NatsTimeoutError
        try:
            answer = await self._inner.publish(*arguments, **named)
        except APIError as error:
            self.refused.append(error.err_code)
            raise
        if self.lost_answers:
            self.lost_answers -= 1
            raise NatsTimeoutError
        if self.refused_though_stored:
            self.refused_though_stored -= 1
            raise APIError(code=400, err_code=CONFLICTS[0])
        return answer


def with_losses(cluster: Cluster) -> tuple[Cluster, LostAnswers]:
    losses = LostAnswers(cluster.jetstream)
    broken = Cluster(cluster.client, losses, cluster.naming, cluster.replicas)  # type: ignore[arg-type]  # as said there
    return broken, losses


async def seqs(store: JetStreamTraceStore, query_id: str = "q1") -> list[int]:
    return [recorded.seq for recorded in await store.read(query_id)]


async def test_exactly_one_of_eight_racing_writers_wins_each_append(
    cluster: Cluster, tmp_path: Path
) -> None:
    stores = [await another(cluster, tmp_path) for _ in range(WRITERS)]

    for seq in range(10):
        event: Event = tool_succeeded(f"{seq}")
        if seq == 0:
            event = query_received()
        ends = await asyncio.gather(
            *(
                store.append("q1", seq, placed("q1", [event], after=seq))
                for store in stores
            ),
            return_exceptions=True,
        )
        assert ends.count(None) == 1
        assert [type(end) for end in ends if end is not None] == (
            [SequenceError if seq == 0 else SupersededError] * (WRITERS - 1)
        )

    assert await seqs(stores[0]) == list(range(1, 11))


async def test_exactly_one_of_two_that_begin_one_query_in_one_process_wins(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await another(cluster, tmp_path)
    one, other = [placed("q1", [query_received(text)]) for text in ("one", "other")]

    ends = await asyncio.gather(
        store.append("q1", 0, one), store.append("q1", 0, other), return_exceptions=True
    )

    assert [type(end) for end in ends] == [type(None), SequenceError]
    assert await store.read("q1") == one


async def test_the_sequence_is_a_fence_and_the_id_of_a_message_is_not(
    cluster: Cluster, tmp_path: Path
) -> None:
    await another(cluster, tmp_path)
    subject = cluster.naming.trace("q1")
    publish = cluster.jetstream.publish

    first = await publish(subject, b"1", headers={"Nats-Msg-Id": "a"})
    again = await publish(subject, b"2", headers={"Nats-Msg-Id": "a"})
    other = await publish(subject, b"3", headers={"Nats-Msg-Id": "b"})
    with pytest.raises(APIError) as refused:
        await publish(
            subject,
            b"4",
            headers={"Nats-Msg-Id": "c", EXPECTED: str(first.seq)},
        )

    # The same id passes for success though its content is not stored, and another one keeps nobody out.
    assert (again.duplicate, again.seq, other.seq) == (True, first.seq, first.seq + 1)
    assert refused.value.err_code in CONFLICTS


async def test_an_append_whose_answer_was_lost_is_stored_once_when_it_is_made_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    broken, losses = with_losses(cluster)
    store = await another(broken, tmp_path)
    events = placed("q1", [query_received(), *[tool_succeeded("x" * 300)] * 3])
    await store.append("q1", 0, events[:1])
    losses.lost_answers = 1
    with pytest.raises(TraceError) as lost:
        await store.append("q1", 1, events[1:2])

    # Retried with what was emitted meanwhile, as the recorder does.
    await store.append("q1", 1, events[1:3])
    await store.append("q1", 3, events[3:])

    assert not isinstance(lost.value, SequenceError)
    assert losses.refused == [10071]
    assert await store.read("q1") == events


async def test_an_append_that_never_arrived_is_stored_when_it_is_made_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    broken, losses = with_losses(cluster)
    store = await another(broken, tmp_path)
    events = placed("q1", [query_received(), tool_succeeded("x" * 300)])
    await store.append("q1", 0, events[:1])
    losses.lost_messages = 1
    with pytest.raises(TraceError):
        await store.append("q1", 1, events[1:])

    await store.append("q1", 1, events[1:])

    assert (losses.refused, await store.read("q1")) == ([], events)


async def test_the_part_of_an_append_that_landed_is_not_stored_twice_if_the_rest_was_lost(
    cluster: Cluster, tmp_path: Path
) -> None:
    broken, losses = with_losses(cluster)
    store = await another(broken, tmp_path)
    events = placed("q1", [query_received(), *[tool_succeeded("x" * 300)] * 3])
    await store.append("q1", 0, events[:1])
    losses.lost_answers = 2
    with pytest.raises(TraceError):
        await store.append("q1", 1, events[1:2])
    # The second is found to have landed; then the answer for the third is lost too.
    with pytest.raises(TraceError):
        await store.append("q1", 1, events[1:3])

    await store.append("q1", 1, events[1:])

    assert await store.read("q1") == events


async def test_a_leader_that_is_behind_costs_no_writer_its_trace(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, losses = with_losses(cluster)
    store = await another(broken, tmp_path)
    events = placed("q1", [query_received(), *[tool_succeeded("x" * 300)] * 2])
    reader = StreamReader(cluster, cluster.naming.traces_stream)
    await store.append("q1", 0, events[:1])
    behind = await reader.last(cluster.naming.trace("q1"))
    await store.append("q1", 1, events[1:2])
    losses.lost_answers = 1
    with pytest.raises(TraceError):
        await store.append("q1", 2, events[2:])

    # It landed; but the server that leads now shows neither it nor the one before.
    async def last(*_: object) -> StoredMessage | None:
        return behind

    with monkeypatch.context() as patch:
        patch.setattr(StreamReader, "last", last)
        with pytest.raises(TraceError) as refused:
            await store.append("q1", 2, events[2:])
    await store.append("q1", 2, events[2:])

    assert not isinstance(refused.value, SequenceError)
    assert await store.read("q1") == events


async def test_a_writer_recognises_its_append_that_one_leader_refused_and_another_stored(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, losses = with_losses(cluster)
    store = await another(broken, tmp_path)
    events = placed("q1", [query_received(), tool_succeeded("x" * 300)])
    reader = StreamReader(cluster, cluster.naming.traces_stream)
    await store.append("q1", 0, events[:1])
    behind = await reader.last(cluster.naming.trace("q1"))
    losses.refused_though_stored = 1

    # The one that refuses does not show it either: it led before the network was cut.
    async def last(*_: object) -> StoredMessage | None:
        return behind

    with monkeypatch.context() as patch:
        patch.setattr(StreamReader, "last", last)
        with pytest.raises(TraceError) as refused:
            await store.append("q1", 1, events[1:])
    await store.append("q1", 1, events[1:])

    assert not isinstance(refused.value, SequenceError)
    assert await store.read("q1") == events


async def test_the_recorder_goes_on_after_an_append_whose_answer_was_lost(
    cluster: Cluster, tmp_path: Path
) -> None:
    broken, losses = with_losses(cluster)
    store = await another(broken, tmp_path)
    recorder = Recorder("q1", store, FixedClock())
    events = placed("q1", answered("a", "b"))
    losses.lost_answers = 1

    first = await recorder.record(events[:1])
    second = await recorder.record(events[1:])

    assert isinstance(first, TraceError)
    assert (second, recorder.complete) == (None, True)
    assert await store.read("q1") == events


async def test_two_sessions_of_one_process_do_not_take_each_others_append_for_theirs(
    cluster: Cluster, tmp_path: Path
) -> None:
    broken, losses = with_losses(cluster)
    store = await another(broken, tmp_path)
    await store.append("q1", 0, placed("q1", [query_received()]))
    losses.lost_answers = 1
    with pytest.raises(TraceError):
        await store.append("q1", 1, placed("q1", [tool_succeeded("one's")], after=1))

    with pytest.raises(SupersededError) as refused:
        await store.append("q1", 1, placed("q1", [tool_succeeded("other's")], after=1))

    assert (refused.value.expected_seq, refused.value.found_seq) == (1, 2)
    assert len(await store.read("q1")) == 2


async def test_after_a_new_owner_has_begun_every_append_of_the_old_one_is_refused(
    cluster: Cluster, tmp_path: Path
) -> None:
    old, new = await another(cluster, tmp_path), await another(cluster, tmp_path)
    await old.append("q1", 0, placed("q1", [query_received()]))
    await old.append("q1", 1, placed("q1", [tool_succeeded("old")], after=1))

    await new.take_over("q1")
    prefix = await new.read("q1")
    resumed = QueryResumed(away_s=1.0, why="its worker died")
    await new.append("q1", 2, placed("q1", [resumed], after=2))

    with pytest.raises(SupersededError) as refused:
        await old.append("q1", 2, placed("q1", [tool_succeeded("late")], after=2))

    assert (refused.value.expected_seq, refused.value.found_seq) == (2, 3)
    # It stays refused, even now that it has looked up the end of the trace.
    with pytest.raises(SupersededError):
        await old.append("q1", 2, placed("q1", [tool_succeeded("late")], after=2))
    assert len(prefix) == 2
    await new.append("q1", 3, placed("q1", [QueryClosed(status="answered")], after=3))
    assert await seqs(new) == [1, 2, 3, 4]


async def test_no_process_takes_over_a_query_that_is_over(
    cluster: Cluster, tmp_path: Path
) -> None:
    store = await another(cluster, tmp_path)
    await store.append("q1", 0, placed("q1", answered("a", "b")))

    with pytest.raises(TraceStateError, match="is over"):
        await store.take_over("q1")


async def test_a_writer_whose_trace_was_deleted_is_refused_and_leaves_no_text(
    cluster: Cluster, tmp_path: Path
) -> None:
    store, other = await another(cluster, tmp_path), await another(cluster, tmp_path)
    await store.append("q1", 0, placed("q1", [query_received()]))
    await other.delete(["q1"])

    large = tool_succeeded("y" * 200_000)
    with pytest.raises(SupersededError):
        await store.append("q1", 1, placed("q1", [large], after=1))

    assert await store.ids("", 9) == []
    blobs = StreamReader(cluster, cluster.naming.blobs)
    assert (await blobs.state()).messages == 0
