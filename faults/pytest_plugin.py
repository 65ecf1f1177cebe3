"""A pytest plugin for users' test suites: mark a test with the faults of its query.

pytest_plugins = ["antiphon.faults.pytest_plugin"]

@pytest.mark.faults("tool.my_tool", "hang", tools="my_package:my_tool")
def test_a_slow_tool_is_survived(faulted):
    assert faulted.broken == []

Without a point the tools are called without faults: `@pytest.mark.faults(tools="my_package:my_tool")`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
import structlog

from antiphon.dispatcher import load_tools
from antiphon.faults.plan import Experiment, Plan
from antiphon.faults.plan_files import parse_plan
from antiphon.faults.results import Run
from antiphon.faults.runs.cells import unknown_points
from antiphon.faults.runs.checking import Checker
from antiphon.faults.runs.matrix import unsound
from antiphon.faults.runs.world import World
from antiphon.service import silence_logging
from antiphon.vocabulary.errors import ServiceError

USAGE = (
    "faults(point, kind, when='any', nth=1, times=1, for_s=0, tools=''): a fault that the query of `faulted` meets; "
    "without point and kind the tools are tried by themselves"
)


class Faulted(NamedTuple):
    """The result of a test's faults: the run, and a sentence for each promise that it breaks.

    These include each fault that never fired, because then nothing was tested.
    """

    run: Run
    broken: list[str]


def pytest_configure(config: pytest.Config) -> None:
    """Registers the marker."""
    config.addinivalue_line("markers", USAGE)


@pytest.fixture
def faulted(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Faulted]:
    """Runs a query with the faults of the test's marks; for marks without a point, runs it with their tools only."""
    marks = list(request.node.iter_markers("faults"))
    tools = ",".join(_tools(marks))
    # A thousand failures are intended; afterwards the suite gets its own logging back.
    silence_logging()
    try:
        plan = _plan(marks)
        world = World(tmp_path, load_tools(tools), tools)
        for point in unknown_points(world, Experiment.of(plan)):
            pytest.fail(
                f"There is no point {point!r}: `antiphon faults list` names them.",
                pytrace=False,
            )
        run, broken = Checker(world).run(plan)
    except ServiceError as error:
        pytest.fail(str(error), pytrace=False)
    finally:
        structlog.reset_defaults()
    if not plan.faults:
        for name in world.own:
            broken += unsound(run, f"tool.{name}")
    # A test of a fault that never fired tests nothing.
    for fault in run.idle:
        broken.append(f"{fault.kind} at {fault.point} never fired")
    yield Faulted(run, broken)
    world.close()


def _tools(marks: Sequence[pytest.Mark]) -> list[str]:
    tools: list[str] = []
    for mark in marks:
        named = mark.kwargs.get("tools")
        if named:
            tools.append(str(named))
    return tools


def _plan(marks: Sequence[pytest.Mark]) -> Plan:
    """Makes a plan from the marks that name a point and a kind."""
    faults: list[dict[str, object]] = []
    for mark in marks:
        if mark.args:
            fields: dict[str, object] = dict(
                zip(("point", "kind"), mark.args, strict=False)
            )
            fields |= mark.kwargs
            fields.pop("tools", None)
            faults.append(fields)
    return parse_plan({"faults": faults})
