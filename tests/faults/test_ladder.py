"""The ladder's steps, each as the trace and the answer show it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from antiphon.coordinator import ProviderCircuit
from antiphon.dispatcher import ToolCircuits
from antiphon.faults import Fault, Plan, Run, World, run_plan
from antiphon.service import silence_logging
from antiphon.vocabulary import events as e
from tests.faults.sources import run_without_each_source


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    silence_logging()
    yield World(tmp_path)
    structlog.reset_defaults()


def levels(run: Run) -> list[str]:
    return [
        said.event.level
        for said in run.trace
        if isinstance(said.event, e.RecoveryStarted)
    ]


def doubts(run: Run) -> set[str]:
    assert run.outcome is not None
    return {doubt.kind for doubt in run.outcome.response.indicators}


def test_the_circuit_opens_after_repeated_failures_and_lets_one_probe_through_after_its_rest() -> (
    None
):
    circuit = ProviderCircuit(failures=2, rest_s=30)
    circuit.failed(0.0)
    circuit.failed(1.0)

    # The call at 31.0, after the rest, is the probe; at 32.0 the circuit still waits for the probe's result.
    assert [circuit.keeps_out(at) for at in (2.0, 31.0, 32.0)] == [True, False, True]
    circuit.succeeded()
    assert not circuit.keeps_out(33.0)


def test_a_failed_probe_keeps_the_circuit_open_for_another_rest() -> None:
    circuit = ProviderCircuit(failures=1, rest_s=30)
    circuit.failed(0.0)
    assert not circuit.keeps_out(30.0)

    circuit.failed(31.0)

    assert circuit.keeps_out(60.0)


def test_a_tools_circuit_is_its_own() -> None:
    circuits = ToolCircuits(failures=1, rest_s=30)

    circuits.failed("search", 0.0)

    assert (circuits.keeps_out("search", 1.0), circuits.keeps_out("outline", 1.0)) == (
        True,
        False,
    )


def test_without_model_and_facts_the_service_searches_itself_and_cites_extracts(
    world: World,
) -> None:
    run = run_plan(world, Plan(scenario="no_model"))

    assert run.outcome is not None
    assert run.outcome.response.citations
    assert doubts(run) == {"reasoning_retried", "partial_evidence"}


def test_with_nothing_at_all_the_answer_says_what_failed_with_low_confidence(
    world: World,
) -> None:
    run = run_plan(world, Plan(scenario="nothing_works"))

    assert run.outcome is not None
    assert run.outcome.response.confidence == "low"
    assert "could not be answered" in run.outcome.response.answer


def test_a_request_refused_as_too_long_is_made_again_with_half_the_briefing(
    world: World,
) -> None:
    run = run_plan(world, Plan(scenario="too_long"))

    assert levels(run) == ["round"]
    assert any(
        isinstance(said.event, e.RoundOpened) and said.event.briefing_tokens
        for said in run.trace
    )


def test_several_failed_rounds_end_in_one_call_from_the_facts_in_hand(
    world: World,
) -> None:
    run = run_plan(world, Plan(scenario="round_two_fails"))

    assert levels(run) == ["response", "session"]
    assert "degraded_single_round" in doubts(run)


def test_a_tool_that_fails_in_the_second_round_leaves_the_first_rounds_findings_and_its_error(
    world: World,
) -> None:
    run = run_plan(
        world,
        Plan(faults=(Fault(point="library.*", kind="raise", when="round_2", times=0),)),
    )

    assert run.outcome is not None
    assert run.outcome.response.citations
    assert "tool_failed" in doubts(run)


def test_a_store_that_hangs_delays_no_answer_and_the_answer_says_so(
    world: World,
) -> None:
    run = run_plan(
        world, Plan(faults=(Fault(point="store.append", kind="hang", times=0),))
    )

    assert run.took_s < 2.0
    assert "trace_incomplete" in doubts(run)


def test_a_query_without_one_of_its_sources_finds_another_way_and_reports_the_loss(
    world: World,
) -> None:
    cuts = run_without_each_source(world)

    assert len(cuts) == 4
    assert [cut.broken for cut in cuts] == [()] * 4
    assert all(cut.other_way and cut.doubts for cut in cuts)


def test_the_other_configured_model_answers_when_the_first_fails(
    world: World,
) -> None:
    run = run_plan(world, Plan(scenario="other_model"))

    models = [
        said.event.model
        for said in run.trace
        if isinstance(said.event, e.ReasoningRequested)
    ]
    assert models == ["claude-sonnet-5-5", "another", "another", "another"]
    assert levels(run) == ["round"]
    assert doubts(run) == {"reasoning_retried"}


def test_a_tool_result_that_comes_after_its_round_is_recorded_and_not_used(
    world: World,
) -> None:
    run = run_plan(world, Plan(scenario="tool_is_stubborn"))

    events = [(said.seq, said.event) for said in run.trace]
    ((at, late),) = [
        (seq, event) for seq, event in events if isinstance(event, e.ToolAnsweredLate)
    ]
    settled = next(seq for seq, event in events if isinstance(event, e.ToolsSettled))
    rounds = [event for _, event in events if isinstance(event, e.ContextSynthesized)]
    assert at > settled
    assert late.passages > 0
    assert [
        event.tool_call_id for _, event in events if isinstance(event, e.ToolFailed)
    ] == [late.tool_call_id]
    assert late.tool_call_id not in {
        fact.tool_call_id for each in rounds for fact in each.facts
    }
