"""Every recorded event can be turned into a fault that strikes at that point when the query runs again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
import structlog

from antiphon.faults import Fault, Injector, Kind, fault_at, leave_as_planned
from antiphon.service import diff, replay
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import (
    Event,
    FailureKind,
    HandlerFailed,
    QueryCancelled,
    QueryClosed,
    QueryReceived,
    ReasoningFailed,
    ReasoningRetried,
    Recorded,
    RecordingFailed,
    ResponseAssembled,
    RoundOpened,
    SessionStalled,
    ToolFailed,
    ToolFailureKind,
    ToolSucceeded,
)
from antiphon.vocabulary.values import QuerySettings
from tests.traces.stage import Stage

RAISED = HandlerFailed(
    handler="ContextSynthesizer.on_round_opened", error="", event_seq=2
)


def retried(why: FailureKind) -> ReasoningRetried:
    return ReasoningRetried(call_id="c", attempt=1, wait_s=1.0, why=why, detail="")


def failed(why: FailureKind) -> ReasoningFailed:
    return ReasoningFailed(call_id="c", failure=why, detail="")


def tool_failed(why: ToolFailureKind) -> ToolFailed:
    return ToolFailed(tool_call_id="a", name="search", failure=why, detail="")


@pytest_asyncio.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    made = Stage(tmp_path)
    yield made
    await made.store.close()


async def struck(
    stage: Stage, seq: int, kind: str | None = None
) -> tuple[Injector, list[Recorded[Event]]]:
    """Runs the query again with event `seq` broken."""
    found = fault_at(await stage.store.read("q1"), seq, kind)
    injector = Injector(found.plan.faults)
    running = await stage.history.fork("q1", found.at, [], "recorded", injector)
    await running.outcome()
    return injector, list(await stage.store.read(running.query_id))


async def test_the_fault_of_any_event_fires_once_and_there_is_an_answer_all_the_same(
    stage: Stage,
) -> None:
    before = list(await stage.ask(settings=QuerySettings(compression="model")))

    with structlog.testing.capture_logs():
        for said in before:
            injector, forked = await struck(stage, said.seq)

            assert len(injector.injected.fired) == 1, said
            assert (
                sum(isinstance(each.event, ResponseAssembled) for each in forked) == 1
            ), said
            assert isinstance(forked[-1].event, QueryClosed)
            if not injector.injected.lost and not injector.injected.undelivered:
                assert replay(forked).divergence is None, said
    assert list(await stage.store.read("q1")) == before


async def test_only_what_follows_the_fault_differs(stage: Stage) -> None:
    before = list(await stage.ask())
    last = max(said.seq for said in before if isinstance(said.event, ToolSucceeded))

    _, forked = await struck(stage, last)

    assert [said.event for said in forked[1 : last - 1]] == [
        said.event for said in before[1 : last - 1]
    ]
    lost = [said.event for said in forked if isinstance(said.event, ToolFailed)]
    assert [each.failure for each in lost] == ["error"]
    succeeded = before[last - 1].event
    assert isinstance(succeeded, ToolSucceeded)
    assert lost[0].tool_call_id == succeeded.tool_call_id
    assert any(each.kind == "tool_failed" for each in diff(before, forked).differences)
    first = forked[0].event
    assert isinstance(first, QueryReceived)
    assert (first.parent, first.parent_seq, first.change) == (
        "q1",
        last - 1,
        "fault raise at tool.search_course_content",
    )


@pytest.mark.parametrize("kind", ["raise", "duplicate", "reorder", "late"])
async def test_the_named_kind_of_fault_strikes_at_the_event(
    stage: Stage, kind: Kind
) -> None:
    before = await stage.ask()
    assembled = next(
        said.seq for said in before if isinstance(said.event, ResponseAssembled)
    )

    with structlog.testing.capture_logs():
        injector, forked = await struck(stage, assembled, kind)

    assert [(each.point, each.kind) for each in injector.injected.fired] == [
        ("publish.response_assembled", kind)
    ]
    assert any(isinstance(said.event, QueryClosed) for said in forked)


@pytest.mark.parametrize(
    ("event", "point", "kind", "at"),
    [
        (retried("rate_limit"), "model.request", "rate_limit", 3),
        (failed("overloaded"), "model.request", "overload", 3),
        (failed("truncated_stream"), "model.stream.before_end", "truncate", 3),
        (failed("authentication"), "model.request", "raise", 3),
        (RAISED, "deliver.round_opened.ContextSynthesizer", "raise", 2),
        (SessionStalled(waiting_for=()), "publish.briefing_prepared", "drop", 3),
        (RecordingFailed(detail="disk full"), "store.append", "locked", 3),
        (QueryCancelled(why="gone"), "client", "cancel", 2),
        # No tool ran, so only the failure event itself can be broken.
        (tool_failed("invalid_arguments"), "publish.tool_failed", "drop", 3),
        (tool_failed("timeout"), "publish.tool_failed", "drop", 3),
    ],
)
async def test_a_failure_in_a_trace_becomes_the_fault_that_makes_it_again(
    stage: Stage, event: Event, point: str, kind: str, at: int
) -> None:
    before = list((await stage.ask())[:2])
    last = Recorded[Event](query_id="q1", seq=3, cause=2, at=before[1].at, event=event)

    found = fault_at([*before, last], 3)

    assert [(fault.point, fault.kind) for fault in found.plan.faults] == [(point, kind)]
    assert found.at == at


async def test_the_refusal_of_an_impossible_fault_names_the_possible_ones(
    stage: Stage,
) -> None:
    events = await stage.ask()

    with pytest.raises(
        BadInputError,
        match=r"'rate_limit' cannot happen at event 2 \(round_opened\).*publish.round_op",
    ):
        fault_at(events, 2, "rate_limit")
    with pytest.raises(BadInputError, match="There is no event 0"):
        fault_at(events, 0)
    with pytest.raises(BadInputError, match="There is no event 999"):
        fault_at(events, 999)


async def test_under_a_fault_without_an_event_the_whole_query_runs_again(
    stage: Stage,
) -> None:
    before = await stage.ask()
    injector = Injector(fault_at(before, 1).plan.faults)

    with structlog.testing.capture_logs():
        running = await stage.history.fork("q1", None, [], "recorded", injector)
        await running.outcome()

    forked = await stage.store.read(running.query_id)
    assert len(injector.injected.fired) == 1
    assert forked[0].event.parent_seq == 0  # type: ignore[attr-defined]  # a question, as every first event is
    assert len(forked) > len(before) / 2


@pytest.mark.parametrize(
    ("at", "nth", "rounds"), [(1, 1, [1]), (1, 3, [1, 2, 3]), (19, 1, [1, 2, 3])]
)
async def test_a_planned_cancellation_strikes_at_the_opening_of_a_new_round(
    stage: Stage, at: int, nth: int, rounds: list[int]
) -> None:
    await stage.ask()
    injector = Injector([Fault(point="client", kind="cancel", nth=nth)])
    running = await stage.history.fork("q1", at, [], "recorded", injector)

    leaving = leave_as_planned(running, injector.injected, at - 1)
    await asyncio.gather(leaving, running.outcome())

    forked = [said.event for said in await stage.store.read(running.query_id)]
    [cancelled] = [said for said in forked if isinstance(said, QueryCancelled)]
    before = forked[: forked.index(cancelled)]
    assert [said.round for said in before if isinstance(said, RoundOpened)] == rounds
