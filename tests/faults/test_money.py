"""Nothing is billed that is not counted, whatever callers, servers and kills do.

`python -m tests.faults.money` does it a thousand times.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNS = 30


def test_of_thirty_random_runs_none_is_billed_more_than_is_counted() -> None:
    # As a process of its own: it forks others, and this one has threads.
    seed = random.randrange(10**6)
    command = [sys.executable, "-m", "tests.faults.money", str(RUNS), str(seed)]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )

    assert run.returncode == 0, f"seed {seed}:\n{run.stdout}\n{run.stderr[-2_000:]}"
