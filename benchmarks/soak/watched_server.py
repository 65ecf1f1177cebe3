"""`antiphon` that reveals its internals: on SIGUSR1 it writes the numbers of its tasks and objects to a given file."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import sys
import threading
from pathlib import Path

from antiphon.cli import main


def write_counts(file: Path) -> None:
    """Writes the present counts of the process, replacing the file at once: a reader never sees half of one."""
    gc.collect()
    counts = {
        "tasks": len(asyncio.all_tasks()),
        "threads": threading.active_count(),
        "objects": len(gc.get_objects()),
    }
    written = file.with_suffix(".new")
    written.write_text(json.dumps(counts))
    os.replace(written, file)


if __name__ == "__main__":
    _, told, *arguments = sys.argv
    signal.signal(signal.SIGUSR1, lambda *_: write_counts(Path(told)))
    sys.argv = ["antiphon", *arguments]
    main()
