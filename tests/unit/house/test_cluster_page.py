"""docs/cluster.md promises nothing that no test shows."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "cluster.md").read_text()
TABLE = PAGE.split("## What is promised")[1].split("\n## ")[0]
ROWS = [line for line in TABLE.splitlines() if line.startswith("| ")][1:]


def test_every_failure_of_the_page_names_a_test_that_there_is() -> None:
    sources = [file.read_text() for file in (ROOT / "tests").rglob("test_*.py")]
    names = set(re.findall(r"^(?:async )?def (test_\w+)", "\n".join(sources), re.M))

    assert len(ROWS) > 10
    for row in ROWS:
        named = set(re.findall(r"`(test_\w+)`", row))
        # The loss of all machines' power is the servers' own promise.
        assert named or "NATS's own documentation" in row
        assert named <= names
