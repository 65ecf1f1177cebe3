"""The service counts everything that is billed, even under random callers, broken servers and kills.

`python -m tests.faults.money` does it a thousand times.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUNS = 30


def test_in_thirty_random_runs_the_service_counts_all_that_the_api_bills() -> None:
    # In its own process: it forks others, and forking this one, which has threads, is unsafe.
    seed = random.randrange(10**6)
    command = [sys.executable, "-m", "tests.faults.money", str(RUNS), str(seed)]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )

    assert run.returncode == 0, f"seed {seed}:\n{run.stdout}\n{run.stderr[-2_000:]}"
