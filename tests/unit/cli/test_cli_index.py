"""`antiphon index` beside a service."""

from __future__ import annotations

import subprocess
import sys

RUN = """
import os
from antiphon.cli.index import let_others_go_first
os.setpriority(os.PRIO_PROCESS, 0, {before})
let_others_go_first()
let_others_go_first()
print(os.getpriority(os.PRIO_PROCESS, 0))
"""


def test_a_service_on_the_same_machine_goes_first() -> None:
    priorities = []
    for before in (0, 12):
        # In a process of its own: a priority that was lowered cannot be raised again.
        ran = subprocess.run(
            [sys.executable, "-c", RUN.format(before=before)],
            capture_output=True,
            check=True,
            text=True,
        )
        priorities.append(int(ran.stdout))

    assert priorities == [5, 12]
