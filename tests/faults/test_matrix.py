"""Every single fault, at every door, in every part of a query: none breaks a promise, and every one fires."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from antiphon.faults import (
    Checker,
    Chosen,
    Fault,
    Plan,
    World,
    all_points,
    as_html,
    counts,
    parse_plan,
    run_pairs,
    run_singles,
)
from antiphon.faults.plan_files import read_plan, write_plan
from antiphon.faults.ports.injection import RAISED
from antiphon.service import silence_logging
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import ToolFailed

CELLS = 2_304
"""The number of cells the matrix has had: losing any must be noticed."""
PAIRS = 60


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    silence_logging()
    yield World(tmp_path)
    structlog.reset_defaults()


def test_no_single_fault_breaks_a_promise_and_every_fault_fires(world: World) -> None:
    report = run_singles(world)

    assert [(v.command, v.result, v.broken) for v in report.failures] == []
    assert counts(report)["fired"] == counts(report)["run"] >= CELLS


def test_no_pair_of_faults_chosen_by_chance_breaks_a_promise(world: World) -> None:
    verdicts = run_pairs(world, seed=1, most=PAIRS)

    assert [verdict for verdict in verdicts if verdict.result != "kept"] == []


def test_a_fault_at_a_door_that_no_query_passes_never_fires(
    world: World,
) -> None:
    run, _ = Checker(world).run(
        Plan(faults=(Fault(point="tool.no_such_tool", kind="raise"),))
    )

    assert run.fired == []


def test_the_points_come_from_the_wiring_table_and_the_ports(world: World) -> None:
    points = all_points(world)

    assert {
        "deliver.tool_failed.ResponseAssembler",
        "publish.round_opened",
        "clock.sleep",
        "store.append",
    } <= set(points)
    assert len(points) == len(set(points))


def test_a_hung_tool_takes_its_time_limit_and_no_more_on_virtual_time(
    world: World,
) -> None:
    run, broken = Checker(world).run(
        Plan(faults=(Fault(point="tool.search_course_content", kind="hang"),))
    )

    assert not broken
    assert run.took_s == pytest.approx(10.0)


def test_a_kind_that_nothing_implements_fails_its_cell(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(RAISED, "exit")

    report = run_singles(world, chosen=Chosen(points=["tool"], kinds=["exit"]))

    assert {verdict.result for verdict in report.verdicts} == {"broken"}
    assert "nothing implements exit at tool." in report.verdicts[0].broken[0]


def test_a_blocked_loop_takes_its_time_from_every_query_and_the_tool_still_answers(
    world: World,
) -> None:
    run, broken = Checker(world).run(
        Plan(faults=(Fault(point="tool.search_course_content", kind="block"),))
    )

    assert not broken
    assert run.took_s == pytest.approx(2.0)


def test_a_thread_that_never_returns_costs_its_call_the_time_limit(
    world: World,
) -> None:
    run, broken = Checker(world).run(
        Plan(faults=(Fault(point="tool.search_course_content", kind="stuck"),))
    )

    assert not broken
    assert [failed.failure for failed in run.events(ToolFailed)] == ["timeout"]


def test_a_plan_survives_writing_and_reading_unchanged(tmp_path: Path) -> None:
    plan = Plan(
        faults=(Fault(point="model.request", kind="hang", when="final", for_s=3.0),),
        seed=4,
    )
    (tmp_path / "plan.yaml").write_text(write_plan(plan))

    assert read_plan(tmp_path / "plan.yaml") == plan


def test_the_refusal_of_an_invalid_plan_names_the_wrong_field() -> None:
    with pytest.raises(BadInputError, match="no fault plan"):
        parse_plan({"faults": [{"point": "clock.now", "kind": "melt"}]})


def test_the_report_names_the_command_that_tries_a_cell_alone(world: World) -> None:
    report = run_singles(world, chosen=Chosen(points=["client"]))

    assert (
        report.verdicts[0].command
        == "antiphon faults run --points client --kinds cancel --when round_1"
    )
    assert "<table>" in as_html(report)


@pytest.mark.skipif(
    not hasattr(os, "fork") or not hasattr(signal, "SIGKILL"),
    reason="needs fork and SIGKILL",
)
def test_a_process_killed_after_any_event_leaves_a_trace_without_gaps(
    world: World,
) -> None:
    report = run_singles(world, chosen=Chosen(points=["process"]))

    assert report.failures == []
    # Each event of the query has its own run, with a kill right after it.
    assert report.verdicts[0].runs > 15
