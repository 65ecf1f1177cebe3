"""The random mode: the same seed gives the same experiments; it finds a planted bug and shrinks its plan."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import structlog

from antiphon.dispatcher import Tool, tool_from_function
from antiphon.faults import (
    Experiment,
    Fault,
    Plan,
    Run,
    Step,
    World,
    parse_experiment,
    read_experiment,
    run_experiment,
    write_experiment,
)
from antiphon.faults.runs.checking import fresh_world, smaller_than, smallest
from antiphon.faults.runs.random_runs import run_random
from antiphon.faults.runs.service import ServiceUnderTest
from antiphon.service import silence_logging
from antiphon.vocabulary.errors import BadInputError

A = Fault(point="tool.search_course_content", kind="raise", when="round_1")
B = Fault(point="store.append", kind="locked", nth=2)
C = Fault(point="model.request", kind="hang", for_s=12.0)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    silence_logging()
    yield
    structlog.reset_defaults()


def remember_until(most: int) -> Tool:
    """A tool with a bug that takes several queries to appear: after `most` calls, each one leaves a task behind."""
    calls = count(1)

    async def remember(term: str) -> str:
        """Keeps a term in mind."""
        if next(calls) > most:
            asyncio.get_running_loop().create_task(
                asyncio.sleep(10_000), name="left by remember"
            )
        return term

    return tool_from_function(remember)


def test_random_experiments_keep_every_promise_and_the_same_seed_gives_the_same_ones() -> (
    None
):
    first, second = (run_random(World, 4, examples=2) for _ in range(2))

    assert (first.failing, first.broken) == (None, [])
    assert first == second
    assert first.fired > 0


def test_a_bug_that_needs_several_queries_is_found_and_shrunk_to_those_it_needs() -> (
    None
):
    def open_world(folder: Path) -> World:
        return World(folder, [remember_until(5)])

    found = run_random(open_world, 1, examples=40)

    assert found.failing is not None
    assert found.reproduced
    assert "left by remember" in found.broken[0]
    plans = [plan for step in found.failing.steps for plan in step.at_once]
    assert len(plans) > 1
    assert all(plan == Plan() for plan in plans)
    assert not any(
        run_experiment(open_world, less)[1] for less in smaller_than(found.failing)
    )


def test_a_failing_story_is_shrunk_to_the_two_faults_that_it_needs() -> None:
    experiment = Experiment(
        steps=(
            Step(
                at_once=(
                    Plan(faults=(C,)),
                    Plan(faults=(C, A), scenario="tight", seed=3),
                )
            ),
            Step(at_once=(Plan(scenario="greedy"),), after_s=31.0),
            Step(at_once=(Plan(faults=(C, B, C)), Plan(faults=(A,)))),
        )
    )

    def fails(experiment: Experiment) -> bool:
        points = [
            [fault.point for plan in step.at_once for fault in plan.faults]
            for step in experiment.steps
        ]
        return any(
            A.point in early and B.point in late
            for early in points
            for late in points[points.index(early) + 1 :]
        )

    plain_a, plain_b = (Fault(point=fault.point, kind=fault.kind) for fault in (A, B))
    assert smallest(experiment, fails) == Experiment(
        steps=(
            Step(at_once=(Plan(faults=(plain_a,)),)),
            Step(at_once=(Plan(faults=(plain_b,)),)),
        )
    )


def test_a_story_survives_writing_and_reading_unchanged(tmp_path: Path) -> None:
    experiment = Experiment(
        steps=(
            Step(at_once=(Plan(faults=(A, B)), Plan(scenario="tight"))),
            Step(at_once=(Plan(),), after_s=31.0),
        )
    )
    (tmp_path / "experiment.yaml").write_text(write_experiment(experiment))

    assert read_experiment(tmp_path / "experiment.yaml") == experiment


def test_a_story_of_one_query_is_written_as_a_plan() -> None:
    experiment = Experiment(steps=(Step(at_once=(Plan(faults=(A,)),)),))

    assert "steps" not in write_experiment(experiment)


@pytest.mark.parametrize(
    "data",
    [
        {"steps": []},
        {"steps": [{"at_once": []}]},
        {"steps": [{"at_once": [{"scenario": "no such"}]}]},
        {"steps": [{"at_once": [{}], "after_s": -1}]},
        {"steps": [{"at_once": [{"faults": [{"point": "client", "kind": "hang"}]}]}]},
        {"faults": [{"point": "client", "kind": "cancel", "nth": 0}]},
        {"faults": [{"point": "model.request", "kind": "hang", "for_s": float("nan")}]},
    ],
)
def test_an_invalid_story_is_refused(data: object) -> None:
    with pytest.raises(BadInputError):
        parse_experiment(data)


def test_a_circuit_that_one_query_opened_is_open_for_the_next_and_rests_with_time() -> (
    None
):
    away = Plan(scenario="model_away")

    # Five failures open the circuit, which then rests for thirty seconds.
    with fresh_world(World) as world, ServiceUnderTest(world) as service:
        for _ in range(5):
            service.run(Step(at_once=(away,)))
        (soon,) = service.run(Step(at_once=(Plan(),)))
        (later,) = service.run(Step(at_once=(Plan(),), after_s=31.0))

    assert [doubts(run) for run in (soon, later)] == [
        {"fallback_reasoner", "loose_fit"},
        set(),
    ]


def doubts(run: Run) -> set[str]:
    assert run.outcome is not None
    return {doubt.kind for doubt in run.outcome.response.indicators}
