"""`antiphon` with an eye on its inside: at SIGUSR1 it writes its tasks and objects to the file that it is told."""

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
    """Writes what the process holds now, as a whole file: whoever reads it finds all of it or the one before."""
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
