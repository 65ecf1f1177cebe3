"""A resumed query, whose process died, meets a fault in its second half too: the promises still hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from antiphon.faults import Checker, Fault, Plan, World, all_points, run_plan
from antiphon.faults.plan import point_type
from antiphon.history.replaying import replay
from antiphon.service import silence_logging
from antiphon.vocabulary import events as e

CORE = ("model.", "tool.", "store.append", "spawn.")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    silence_logging()
    yield World(tmp_path)
    structlog.reset_defaults()


def plans(world: World) -> Iterator[Plan]:
    """Every fault of model, tools, work and trace in the resumed half, and each delivery dropped."""
    seen = run_plan(world, Plan(scenario="resumed")).injected.traversed
    for point in all_points(world):
        kinds = (
            point_type(point).kinds
            if point.startswith(CORE)
            else ("drop",)
            if point.startswith("deliver.")
            else ()
        )
        for when in ("round_1", "round_2", "final"):
            if (point, when) in seen:
                for kind in kinds:
                    # Passages before the death count too, and could use up a single strike: 0 strikes every time.
                    times = 0 if point.startswith(CORE) else 1
                    fault = Fault(point=point, kind=kind, when=when, times=times)
                    yield Plan(scenario="resumed", faults=(fault,))


def test_a_resumed_query_that_is_broken_again_keeps_every_promise(world: World) -> None:
    checker = Checker(world)
    fired = 0

    for plan in plans(world):
        run, broken = checker.run(plan)
        fired += bool(run.fired)
        assert broken == [], plan

    assert fired > 150


def test_a_resumed_query_ends_with_the_answer_of_an_uninterrupted_one(
    world: World,
) -> None:
    whole, resumed = (
        run_plan(world, Plan(scenario=name)) for name in ("plain", "resumed")
    )

    assert whole.outcome is not None
    assert resumed.outcome is not None
    assert resumed.outcome.response == whole.outcome.response
    assert any(isinstance(said.event, e.QueryResumed) for said in resumed.trace)
    assert replay(resumed.trace).divergence is None
