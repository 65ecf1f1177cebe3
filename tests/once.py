"""What takes long to make and is only read is made once for all processes of a run of tests, in a folder they share."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from pathlib import Path

import pytest


def made_once(
    factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]
) -> Path:
    """A folder that `make` has filled for who asks first, while others wait. Nobody may change what is in it."""
    base = factory.getbasetemp()
    # With several processes each has a folder of its own in that of the run (xdist).
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
