"""Bugs in components, stores that refuse, and sessions that stand still: recorded, and never the end of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from antiphon.vocabulary.errors import (
    ContainedError,
    SequenceError,
    SupersededError,
    TraceError,
)
from antiphon.vocabulary.events import (
    Event,
    HandlerFailed,
    QueryClosed,
    QueryReceived,
    Recorded,
    RecordingFailed,
    RoundOpened,
    SessionStalled,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Ports, Subscription, on
from tests.fakes import HastyClock, MemoryTraceStore
from tests.story import query_received, tool_succeeded
from tests.unit.bus.stage import CLOSED, Stage, audience, closer, ignore, starter

ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)


class Clumsy:
    """A component that raises at whatever it hears."""

    def on_event(self, recorded: Recorded[QueryReceived]) -> None:
        raise ZeroDivisionError(f"seq {recorded.seq}")

    async def work(self) -> None:
        raise ZeroDivisionError("at work")


async def test_a_failed_handler_is_recorded_heard_of_and_raised_again_while_others_still_hear() -> (
    None
):
    heard: list[str] = []

    def cast(ports: Ports) -> Sequence[Subscription]:
        return [
            on(QueryReceived, Clumsy().on_event),
            on(QueryReceived, lambda _: heard.append("other")),
            on(HandlerFailed, closer(ports)),
        ]

    stage = Stage(cast)
    _, failed, _ = await stage.play(query_received())

    assert failed == HandlerFailed(
        handler="Clumsy.on_event", error="ZeroDivisionError: seq 1", event_seq=1
    )
    assert heard == ["other"]
    with pytest.raises(ZeroDivisionError):
        await stage.session.drain()


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (SystemExit(3), "it tried to end the process (SystemExit: 3)"),
        (KeyboardInterrupt(), "it tried to end the process (KeyboardInterrupt)"),
        (GeneratorExit(), "GeneratorExit"),
        (
            asyncio.CancelledError(),
            "work that it had started was cancelled (CancelledError)",
        ),
    ],
)
@pytest.mark.parametrize("at_work", [True, False])
async def test_a_component_that_raises_what_ends_a_process_or_a_task_has_only_failed(
    raised: BaseException, told: str, at_work: bool
) -> None:
    async def work() -> None:
        raise raised

    def cast(ports: Ports) -> Sequence[Subscription]:
        def on_query(_: Recorded[QueryReceived]) -> None:
            if not at_work:
                raise raised
            ports.spawn(work())

        return [on(QueryReceived, on_query), on(HandlerFailed, closer(ports))]

    stage = Stage(cast)
    _, failed, closed = await stage.play(query_received())

    assert isinstance(failed, HandlerFailed)
    assert failed.error == told
    assert closed == CLOSED
    with pytest.raises(ContainedError):
        await stage.session.drain()


async def test_failed_work_is_recorded_like_a_failed_handler() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        def on_round(recorded: Recorded[RoundOpened]) -> None:
            ports.spawn(Clumsy().work())

        return [
            on(QueryReceived, lambda _: ports.publish(ROUND)),
            on(RoundOpened, on_round),
            on(HandlerFailed, closer(ports)),
        ]

    stage = Stage(cast)
    events = await stage.play(query_received())

    assert events[2] == HandlerFailed(
        handler="Clumsy.work", error="ZeroDivisionError: at work", event_seq=2
    )
    with pytest.raises(ZeroDivisionError, match="at work"):
        await stage.session.drain()


async def test_publishing_what_no_catalog_holds_is_a_handler_s_failure() -> None:
    class Unlisted(Event, frozen=True, kw_only=True, tag="unlisted"):
        """An event of a subscriber that does not declare it."""

    def cast(ports: Ports) -> Sequence[Subscription]:
        return [
            on(QueryReceived, lambda _: ports.publish(Unlisted())),
            on(HandlerFailed, closer(ports)),
        ]

    stage = Stage(cast)
    events = await stage.play(query_received())

    assert isinstance(events[1], HandlerFailed)
    assert "UnknownEventError: Unlisted" in events[1].error


async def test_a_handler_that_fails_at_a_failure_does_not_go_round_in_circles() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        clumsy = Clumsy().on_event
        return [
            on(QueryReceived, clumsy),
            on(HandlerFailed, clumsy),
            on(SessionStalled, clumsy),
        ]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stage.kinds() == [
        "QueryReceived",
        "HandlerFailed",
        *["SessionStalled"] * 3,
        "QueryClosed",
    ]


async def test_a_session_that_stands_still_says_who_was_waited_for() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        return [
            on(QueryReceived, lambda _: ports.publish(ROUND)),
            on(RoundOpened, ignore),
            on(SessionStalled, closer(ports)),
        ]

    stage = Stage(cast)
    events = await stage.play(query_received())

    assert events[2] == SessionStalled(
        waiting_for=(
            "coordinator: query_closed, since seq 1",
            "synthesizer: briefing_prepared of c1, since seq 2",
        )
    )


async def test_a_session_that_nothing_helps_is_ended_as_failed() -> None:
    stage = Stage(lambda _: [on(QueryReceived, ignore)])
    events = await stage.play(query_received())

    assert stage.kinds() == ["QueryReceived", *["SessionStalled"] * 3, "QueryClosed"]
    assert events[-1] == QueryClosed(status="failed")


async def test_recoveries_that_only_lead_to_the_next_stall_are_ended() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        return [
            on(QueryReceived, ignore),
            on(SessionStalled, lambda _: ports.publish(ROUND)),
            on(RoundOpened, ignore),
        ]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stage.kinds()[-1] == "QueryClosed"
    assert stage.kinds().count("SessionStalled") == 12


async def test_running_work_is_waited_for_and_a_timer_is_not() -> None:
    def cast(ports: Ports) -> Sequence[Subscription]:
        async def work() -> None:
            for _ in range(20):
                await asyncio.sleep(0)
            ports.publish(tool_succeeded())

        def on_query(recorded: Recorded[QueryReceived]) -> None:
            ports.spawn(work())
            ports.spawn(asyncio.sleep(3600), background=True)

        return [
            on(QueryReceived, on_query),
            on(ToolSucceeded, ignore),
            *audience(ports),
        ]

    stage = Stage(cast)
    await stage.play(query_received())

    assert stage.kinds() == [
        "QueryReceived",
        "ToolSucceeded",
        "SessionStalled",
        "QueryClosed",
    ]


def two_steps(ports: Ports) -> Sequence[Subscription]:
    """A query of four events, each stored by itself, since work stands between them."""

    async def say(event: Event) -> None:
        ports.publish(event)

    return [
        on(QueryReceived, starter(ports, lambda: say(ROUND))),
        on(RoundOpened, starter(ports, lambda: say(tool_succeeded()))),
        on(ToolSucceeded, starter(ports, lambda: say(CLOSED))),
        on(RecordingFailed, ignore),
    ]


async def test_events_that_the_store_refused_are_stored_with_the_next_ones() -> None:
    stage = Stage(
        two_steps,
        MemoryTraceStore(refusals=[None, TraceError("locked"), TraceError("locked")]),
    )
    await stage.play(query_received())

    assert stage.kinds() == [
        "QueryReceived",
        "RoundOpened",
        "RecordingFailed",
        "ToolSucceeded",
        "QueryClosed",
    ]
    assert stage.store.appends == [[1], [2, 3, 4, 5]]


async def test_events_that_are_left_at_the_end_are_tried_a_few_times_more() -> None:
    clock = HastyClock()
    stage = Stage(
        two_steps, MemoryTraceStore(refusals=[TraceError("locked")] * 6), clock
    )
    await stage.play(query_received())

    assert stage.store.appends == [[1, 2, 3, 4, 5]]
    assert clock.slept == [0.25, 0.5, 1.0]


async def test_a_store_that_never_takes_anything_does_not_stop_the_query() -> None:
    stage = Stage(two_steps, MemoryTraceStore(refusals=[TraceError("full")] * 99))
    seen = stage.session.follow()
    await stage.play(query_received())

    told = [told.event async for told in seen if isinstance(told, Recorded)]
    assert told[-1] == CLOSED
    assert [event for event in told if isinstance(event, RecordingFailed)] == [
        RecordingFailed(detail="TraceError: full")
    ]


async def test_a_trace_that_another_writer_owns_is_left_to_it() -> None:
    store = MemoryTraceStore(refusals=[None, SequenceError("q1", 1, 5)])
    stage = Stage(two_steps, store)
    seen = stage.session.follow()
    await stage.play(query_received())

    told = [told.event async for told in seen if isinstance(told, Recorded)]
    assert stage.kinds() == ["QueryReceived"]
    assert sum(isinstance(event, RecordingFailed) for event in told) == 1
    assert told[-1] == CLOSED


async def test_a_session_whose_trace_another_process_has_taken_over_ends_and_tells_nobody() -> (
    None
):
    superseded = SupersededError("q1", 1, 2)
    stage = Stage(two_steps, MemoryTraceStore(refusals=[None, superseded]))
    seen = stage.session.follow()
    await stage.play(query_received())

    told = [type(item.event) async for item in seen if isinstance(item, Recorded)]
    assert stage.kinds() == ["QueryReceived"]
    assert told == [QueryReceived]
    assert stage.session.superseded is superseded
    assert not stage.session.recorded


async def test_work_that_would_not_stop_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antiphon.bus.work._CANCEL_WAIT_S", 0.01)
    release = asyncio.Event()

    def cast(ports: Ports) -> Sequence[Subscription]:
        async def stubborn() -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        async def answer() -> None:
            ports.publish(CLOSED)

        def on_query(recorded: Recorded[QueryReceived]) -> None:
            ports.spawn(stubborn())
            ports.spawn(answer())

        return [on(QueryReceived, on_query)]

    stage = Stage(cast)
    await stage.play(query_received())

    assert not stage.bus.sessions
    release.set()


# A slow append is not a lost one.


class SlowStore(MemoryTraceStore):
    """Holds every append up until it is let through."""

    def __init__(self) -> None:
        super().__init__()
        self.open = asyncio.Event()

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        await self.open.wait()
        await super().append(query_id, expected_seq, events)


async def test_a_slow_append_is_waited_for_once_and_everything_is_stored_in_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antiphon.bus.recorder.APPEND_S", 0.01)
    store = SlowStore()
    stage = Stage(two_steps, store)
    running = asyncio.create_task(stage.play(query_received()))
    await stage.session.closed()

    recorded_at_the_end = stage.session.recorded
    store.open.set()
    await stage.session.stopped(10.0)
    await running

    assert not recorded_at_the_end
    assert stage.session.recorded
    assert stage.kinds() == [
        "QueryReceived",
        "RecordingFailed",
        "RoundOpened",
        "ToolSucceeded",
        "QueryClosed",
    ]
    assert [seqs[0] for seqs in store.appends] == [1, 2]


async def test_an_append_that_never_ends_is_given_up_with_the_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("antiphon.bus.recorder.APPEND_S", 0.01)
    monkeypatch.setattr("antiphon.bus.recorder.GIVE_UP_S", 0.01)
    monkeypatch.setattr("antiphon.bus.recorder._LAST_TRIES_AFTER_S", (0.01,))
    stage = Stage(two_steps, SlowStore())
    await stage.play(query_received())

    assert not stage.session.recorded
    left = [task for task in asyncio.all_tasks() if task.get_name() == "append"]
    assert all(task.cancelling() for task in left)
