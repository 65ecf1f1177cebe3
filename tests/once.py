"""Makes slow, read-only test data once for all processes of a test run, in a folder that they share."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """Returns a folder that `make` fills for the first caller while others wait. Nobody may change its content."""
    base = factory.getbasetemp()
    # Under xdist each process has its own folder within that of the run: use the run's.
    if base.name.startswith("popen-"):
        base = base.parent
    folder = base / f"once-{name}"
    with (base / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            making = base / f"{folder.name}-making"
            making.mkdir()
            make(making)
            making.rename(folder)
    return folder
