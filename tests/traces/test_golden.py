"""Traces that older programs recorded still replay: today's program makes the same decisions and requests.

An intended change of a rule makes them differ. Then look at each difference (`antiphon traces replay FILE`), and only
if it is the intended one record the traces again (`python -m tests.traces.record_golden`). A newer system prompt needs
no new traces.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.service import ReplayResult, replay_lines
from antiphon.traces import read_trace_file, trace_lines
from tests.traces.plants import ACTING, DECIDING, Plant

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))
OF_RULES_1 = sorted((Path(__file__).parent / "golden-rules-1").glob("*.jsonl"))
"""Traces from when briefings began with the question and requests were built differently."""


def replayed(path: Path) -> ReplayResult:
    return replay_lines(trace_lines(path.read_bytes())[1])


def is_newer_prompt(said: str) -> bool:
    """True for the one thing that may differ today: no decision depends on it, so the replay goes on."""
    return said.startswith("today's system prompt")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_trace_replays_to_the_same_events(path: Path) -> None:
    result = replayed(path)

    assert result.divergence is None
    assert all(map(is_newer_prompt, result.skipped))
    assert result.events == len(read_trace_file(path.read_bytes()))


@pytest.mark.parametrize("path", OF_RULES_1, ids=lambda path: path.stem)
def test_a_replay_decides_a_trace_of_older_rules_as_those_rules_did(path: Path) -> None:
    result = replayed(path)

    assert result.divergence is None
    assert result.events == len(read_trace_file(path.read_bytes()))
    for said in result.skipped:
        assert said.startswith("the requests: they are built otherwise today")


@pytest.mark.parametrize(
    "plant", [*DECIDING, *ACTING], ids=lambda plant: plant.__name__
)
def test_the_golden_traces_reveal_a_planted_change(
    plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)

    found = [result.divergence for result in map(replayed, GOLDEN) if result.divergence]

    assert {divergence.difference for divergence in found} & {"code", "order"}


def test_the_golden_traces_show_what_can_happen_to_a_query() -> None:
    results = [replayed(path) for path in GOLDEN]

    assert len(results) >= 12
    assert sum(result.compared for result in results) > 150
    assert sum(result.verified for result in results) > 50
