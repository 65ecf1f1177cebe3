"""Bugs in components, stores that refuse, and sessions that stand still: recorded, and never the end of the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from antiphon.vocabulary.errors import (
    ContainedError,
    SupersededError,
    TraceError,
)
from antiphon.vocabulary.events import (
    Event,
    HandlerFailed,
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
from tests.unit.bus.stage import CLOSED, Stage, closer, ignore, starter

ROUND = RoundOpened(round=1, call_id="c1", final=False, rounds_left=1)


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


async def test_events_that_are_left_at_the_end_are_tried_a_few_times_more() -> None:
    clock = HastyClock()
    stage = Stage(
        two_steps, MemoryTraceStore(refusals=[TraceError("locked")] * 6), clock
    )
    await stage.play(query_received())

    assert stage.store.appends == [[1, 2, 3, 4, 5]]
    assert clock.slept == [0.25, 0.5, 1.0]


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
