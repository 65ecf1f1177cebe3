"""The served service, killed under load, and with a store in trouble.

`python -m tests.faults.kills` does it at length.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.conftest import data_dir, shell
from tests.faults.kills import kill_often
from tests.faults.troubles import TROUBLES, Found

__all__ = ["data_dir", "shell"]


def test_after_a_kill_the_store_holds_everything_acknowledged_and_lists_unfinished_queries_as_such(
    data_dir: Path,
) -> None:
    tally = kill_often(2, data_dir, seed=3)

    assert tally.wrong == []
    assert tally.queries > 0
    assert tally.accepted > 0


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda each: each.__name__)
def test_with_its_store_in_trouble_the_service_replies_in_time_and_loses_nothing_acknowledged(
    data_dir: Path, tmp_path: Path, trouble: Callable[[Path, Path, int], Found]
) -> None:
    found = trouble(data_dir, tmp_path, 9)

    assert found.wrong == []
    assert found.said
