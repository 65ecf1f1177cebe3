"""Defects that the harness once found, and must find again if they come back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from antiphon.faults import Fault, Plan, World, run_plan
from antiphon.faults.checks.promises import broken_promises
from antiphon.faults.checks.traces import errors_are_recorded, moves_by_itself
from antiphon.faults.runs import query
from antiphon.service import silence_logging
from antiphon.vocabulary.events import QueryCancelled, Recorded, SessionStalled
from tests.virtual_time import run as run_in_virtual_time

STALL = SessionStalled(waiting_for=("coordinator: query_closed",))


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    silence_logging()
    yield World(tmp_path)
    structlog.reset_defaults()


def test_a_caller_gets_the_answer_though_its_trace_is_stored_under_another_id(
    world: World,
) -> None:
    disowned = Fault(point="store.append", kind="wrong_id", when="final")

    run = run_plan(world, Plan(faults=(disowned,)))

    assert broken_promises(run) == []
    assert run.outcome is not None
    assert run.outcome.response.citations


def test_an_answer_from_facts_after_a_lost_reply_says_that_it_is_partial(
    world: World,
) -> None:
    unheard = Fault(
        point="deliver.reasoning_completed.ResponseAssembler",
        kind="raise",
        when="final",
    )
    broken_off = Fault(point="model.stream.before_end", kind="drop", when="final")

    run = run_plan(world, Plan(faults=(unheard, broken_off)))

    assert broken_promises(run) == []
    assert run.outcome is not None
    assert "partial_evidence" in {
        doubt.kind for doubt in run.outcome.response.indicators
    }


@pytest.mark.parametrize("takes_s", [6.0, 9.9, 400.0])
def test_a_session_whose_store_is_slow_ends_once_its_events_are_stored_or_given_up(
    world: World, takes_s: float
) -> None:
    slow = Fault(point="store.append", kind="slow", times=0, for_s=takes_s)

    run = run_plan(world, Plan(faults=(slow,)))

    assert broken_promises(run) == []
    assert run.outcome is not None


@pytest.mark.parametrize(
    ("point", "breaks"),
    [
        ("deliver.answer_requested.ResponseAssembler", True),
        ("deliver.query_closed.Coordinator", False),
        ("deliver.handler_failed.Coordinator", False),
    ],
)
def test_an_unrecorded_error_breaks_a_promise_unless_no_event_can_record_it(
    world: World, point: str, breaks: bool
) -> None:
    run = run_plan(world, Plan())
    run.injected.raised.append(point)

    assert bool(list(errors_are_recorded(run))) is breaks


def test_a_query_that_stalls_without_a_lost_event_breaks_a_promise(
    world: World,
) -> None:
    run = run_plan(world, Plan())
    assert list(moves_by_itself(run)) == []
    last = run.trace[-1]

    run.trace.insert(
        -1,
        Recorded(
            query_id=last.query_id,
            seq=last.seq,
            cause=last.cause,
            at=last.at,
            event=STALL,
        ),
    )

    assert list(moves_by_itself(run)) == [
        "it stood still, waiting for coordinator: query_closed"
    ]


def test_a_stall_after_a_lost_event_is_the_recovery_itself(world: World) -> None:
    lost = Fault(point="deliver.answer_requested.ResponseAssembler", kind="drop")

    run = run_plan(world, Plan(faults=(lost,)))

    assert any(isinstance(said.event, SessionStalled) for said in run.trace)
    assert list(moves_by_itself(run)) == []


def test_the_harness_reports_a_query_that_hangs_and_ends_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A call that hangs runs into this limit at once.
    monkeypatch.setattr(query, "PATIENCE", 0.1)
    hangs = Fault(point="model.request", kind="hang")

    run = run_plan(world, Plan(faults=(hangs,)))

    stored = run_in_virtual_time(world.store.read(run.trace[0].query_id))
    ended = [each.event for each in stored if isinstance(each.event, QueryCancelled)]
    assert run.error.startswith("no answer within")
    assert [each.why for each in ended] == ["nobody waits any longer"]
