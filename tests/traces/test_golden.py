"""Traces that older programs recorded still replay: what was decided then is decided now.

A change of a rule that is meant makes them differ. Then look at each difference (`antiphon traces replay FILE`), and
record them anew only where it is the one that was meant. A newer system prompt is no such change.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.service import replay_lines
from antiphon.traces import read_trace_file, trace_lines

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.jsonl"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_golden_trace_replays_to_the_same_events(path: Path) -> None:
    data = path.read_bytes()

    result = replay_lines(trace_lines(data)[1])

    assert result.divergence is None or result.divergence.difference == "settings", (
        result.divergence
    )
    assert result.events == len(read_trace_file(data))


def test_there_are_golden_traces() -> None:
    assert len(GOLDEN) >= 6
