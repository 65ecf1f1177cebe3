"""The served service, killed under load: `make faults-kill` does it fifty times."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.conftest import data_dir, shell
from tests.faults.kills import kill_often

__all__ = ["data_dir", "shell"]


def test_after_a_kill_no_acknowledged_event_is_missing_and_what_is_unfinished_is_listed_so(
    data_dir: Path,
) -> None:
    tally = kill_often(1, data_dir, seed=3)

    assert tally.wrong == []
    assert tally.queries > 0
