"""A request that the documented API would refuse breaks a promise, even though the query recovers."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.engine import request
from antiphon.engine.thinking import Thinking
from antiphon.faults.checks.promises import broken_promises
from antiphon.faults.plan import Plan
from antiphon.faults.runs.service import run_plan
from antiphon.faults.runs.world import World


def test_a_refused_mode_of_thinking_is_reported_with_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request, "thinking_of", lambda *_, **__: Thinking("disabled"))
    world = World(tmp_path)

    run = run_plan(world, Plan(scenario="plain"))
    world.close()

    broken = broken_promises(run)
    assert run.outcome is not None
    assert all(promise.startswith("legal requests: ") for promise in broken)
    assert "thinking.type.disabled" in broken[0]
    assert "https://platform.claude.com/docs/en/" in broken[0]
