"""For the suites of those who use Antiphon: name it in `pytest_plugins`, and mark a test with the faults that it meets.

pytest_plugins = ["faults.pytest_plugin"]

@pytest.mark.faults("tool.my_tool", "hang", tools="my_package:my_tool")
def test_a_slow_tool_is_survived(faulted):
    assert faulted.broken == []
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from dispatcher import load_tools
from faults.judge import Judge
from faults.plan import Plan
from faults.reading import plan_of
from faults.running import Run
from faults.world import World


class Faulted(NamedTuple):
    """What came of the test's faults: the run, and each promise that it breaks, in a sentence."""

    run: Run
    broken: list[str]


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known."""
    config.addinivalue_line(
        "markers", "faults(point, kind, when='any', tools='', times=1): a fault that the `faulted` query meets"
    )


@pytest.fixture
def faulted(request: pytest.FixtureRequest, tmp_path: Path) -> Faulted:
    """A query run with the faults of the test's marks."""
    marks = list(request.node.iter_markers("faults"))
    tools = ",".join(str(mark.kwargs["tools"]) for mark in marks if mark.kwargs.get("tools"))
    world = World(tmp_path, load_tools(tools))
    return Faulted(*Judge(world).judge(_plan(marks)))


def _plan(marks: list[pytest.Mark]) -> Plan:
    faults = [
        {"point": mark.args[0], "kind": mark.args[1]} | {k: v for k, v in mark.kwargs.items() if k != "tools"}
        for mark in marks
    ]
    return plan_of({"faults": faults})
