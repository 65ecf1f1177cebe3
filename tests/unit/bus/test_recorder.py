"""A recorder knows its own appends from another writer's, also where it did not hear how they ended."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from antiphon.bus import recorder as recorders
from antiphon.bus.recorder import Recorder
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.events import Event, QueryReceived, Recorded
from antiphon.vocabulary.ports import Ports, Subscription, on
from tests.fakes import HastyClock, MemoryTraceStore
from tests.story import query_received, tool_succeeded
from tests.unit.bus.stage import Stage, audience, starter
from tests.virtual_time import VirtualClock, run


class StoreThat(MemoryTraceStore):
    """A store that stores, and whose next answer then fails to arrive in one of two ways."""

    def __init__(self, way: str) -> None:
        super().__init__()
        self.way = way

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        await super().append(query_id, expected_seq, events)
        way, self.way = self.way, ""
        if way == "hangs":
            await asyncio.Event().wait()
        if way == "is cancelled":
            raise asyncio.CancelledError


class GatedStore(MemoryTraceStore):
    """A store whose gate is closed at first, and which takes some turns of the event loop for each append."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        await self.gate.wait()
        for _ in range(5):
            await asyncio.sleep(0)
        await super().append(query_id, expected_seq, events)


class TardyStore(MemoryTraceStore):
    """A store whose next appends take so many seconds each; later ones take none."""

    def __init__(self, *takes_s: float) -> None:
        super().__init__()
        self._takes_s = list(takes_s)

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        if self._takes_s:
            await asyncio.sleep(self._takes_s.pop(0))
        await super().append(query_id, expected_seq, events)


class LockedStore(MemoryTraceStore):
    """A store that refuses every append at once for so many seconds."""

    def __init__(self, for_s: float) -> None:
        super().__init__()
        self._for_s = for_s

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        if VirtualClock().now() < self._for_s:
            raise TraceError("another process is writing")
        await super().append(query_id, expected_seq, events)


def at(seq: int, event: Event) -> Recorded[Event]:
    return Recorded(query_id="q1", seq=seq, cause=0, at=0.0, event=event)


FIRST = at(1, query_received())
SECOND = at(2, tool_succeeded("one"))
THIRD = at(3, tool_succeeded("two"))


@pytest.mark.parametrize("way", ["hangs", "is cancelled"])
async def test_what_an_append_of_unknown_outcome_stored_is_taken_as_stored(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorders, "APPEND_S", 0.01)
    store, clock = StoreThat(way), HastyClock()
    recorder = Recorder("q1", store, clock)

    unheard = await recorder.record([FIRST])
    await clock.sleep(recorders.GIVE_UP_S)
    heard = await recorder.record([SECOND])

    assert isinstance(unheard, TraceError)
    assert heard is None
    assert recorder.complete
    assert len(store.events("q1")) == 2


async def test_the_only_event_is_taken_as_stored_when_its_query_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recorders, "APPEND_S", 0.01)
    store, clock = StoreThat("is cancelled"), HastyClock()
    recorder = Recorder("q1", store, clock)

    await recorder.record([FIRST])
    await clock.sleep(recorders.GIVE_UP_S)
    await recorder.finish()

    assert recorder.complete
    assert store.events("q1") == [FIRST.event]


async def test_events_that_another_writer_stored_are_never_taken_for_ones_own() -> None:
    store = MemoryTraceStore()
    recorder = Recorder("q1", store, HastyClock())
    await store.append("q1", 0, [FIRST])

    refused = await recorder.record([FIRST, SECOND])

    assert isinstance(refused, TraceError)
    assert not recorder.complete
    assert len(store.events("q1")) == 1


async def test_a_store_that_has_recovered_is_waited_for_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store = GatedStore()
    with monkeypatch.context() as impatient:
        impatient.setattr(recorders, "APPEND_S", 0.01)
        recorder = Recorder("q1", store, HastyClock())
        slow = await recorder.record([FIRST])

    store.gate.set()
    for _ in range(10):
        await asyncio.sleep(0)
    after = [await recorder.record([event]) for event in (SECOND, THIRD)]

    assert isinstance(slow, TraceError)
    assert after == [None, None]
    assert store.appends == [[1], [2], [3]]


NEVER = 1e9


@pytest.mark.parametrize(
    "store",
    [
        TardyStore(9.0),
        TardyStore(NEVER),
        TardyStore(0.0, 9.0),
        TardyStore(9.0, 9.0),
        LockedStore(3.0),
        LockedStore(7.0),
    ],
    ids=[
        *("slow", "never ends", "slow at the end", "slow twice"),
        *("locked for 3 s", "locked for 7 s"),
    ],
)
def test_the_end_of_a_query_is_stored_by_a_store_that_comes_back_within_seconds(
    store: MemoryTraceStore,
) -> None:
    async def query() -> bool:
        recorder = Recorder("q1", store, VirtualClock())
        await recorder.record([FIRST])
        await recorder.record([SECOND])
        await recorder.finish()
        return recorder.complete

    complete = run(query())

    assert complete
    assert store.events("q1") == [FIRST.event, SECOND.event]


@pytest.mark.parametrize("store", [TardyStore(*[NEVER] * 9), LockedStore(NEVER)])
def test_a_store_that_never_comes_back_is_waited_for_no_longer_than_eleven_seconds(
    store: MemoryTraceStore,
) -> None:
    async def query() -> float:
        recorder = Recorder("q1", store, VirtualClock())
        await recorder.record([FIRST])
        await recorder.finish()
        return VirtualClock().now()

    took_s = run(query())

    assert not store.events("q1")
    assert took_s < 11


def test_a_loop_that_is_behind_for_half_a_minute_loses_nothing() -> None:
    class BusyClock(VirtualClock):
        """Of a process that others keep from running: each look finds that two seconds have gone."""

        gone_s = 0.0

        def now(self) -> float:
            if self.gone_s < 30.0:
                self.gone_s += 2.0
            return super().now() + self.gone_s

    store = TardyStore(25.0, 25.0)

    async def query() -> bool:
        recorder = Recorder("q1", store, BusyClock())
        await recorder.record([FIRST])
        await recorder.finish()
        return recorder.complete

    assert run(query())
    assert store.events("q1") == [FIRST.event]


def test_a_session_that_must_be_stored_waits_two_seconds_at_most_and_leaves_nothing() -> (
    None
):
    async def refused() -> tuple[float, int, bool]:
        store = GatedStore()
        worked: list[str] = []

        def cast(ports: Ports) -> list[Subscription]:
            async def work() -> None:
                worked.append("acted")

            return [on(QueryReceived, starter(ports, work)), *audience(ports)]

        stage = Stage(cast, store, VirtualClock())
        stage.session.start(query_received(), must_be_stored=True)
        with pytest.raises(TraceError, match="longer than"):
            await stage.session.begun()
        took_s = VirtualClock().now()
        store.gate.set()
        await asyncio.sleep(60)
        return took_s, len(stage.kinds()) + len(worked), bool(stage.bus.sessions)

    took_s, left, is_open = run(refused())

    assert took_s <= 2.0
    assert left == 0
    assert not is_open


def test_a_session_that_must_be_stored_begins_when_a_slow_store_has_stored_it() -> None:
    async def begun() -> list[str]:
        store = TardyStore(1.0)
        stage = Stage(audience, store, VirtualClock())
        stage.session.start(query_received(), must_be_stored=True)
        await stage.session.begun()
        stored = stage.kinds()
        await stage.session.ended()
        return stored

    assert run(begun())[0] == "QueryReceived"
