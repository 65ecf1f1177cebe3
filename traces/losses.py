"""Losses of stored events: noticed when the store is opened, and reported until somebody acknowledges them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import structlog

from antiphon.traces.dead_log import dead_log
from antiphon.vocabulary.private_files import make_private_file

_log = structlog.get_logger(__name__)

_ENDING = "-lost.txt"


def note_losses(database: Path) -> None:
    """Looks for damage in the log of a process that died, before SQLite skips it; logs it, and notes it in a file."""
    try:
        found = dead_log(database)
        if not found.lost:
            return
        at = datetime.now(UTC).isoformat(" ", "seconds")
        lost = (
            f"{found.lost} of the {found.committed} pages that were last written to the trace store could not be read "
            f"when it was opened ({at}): the log beside it is damaged, cut off or gone, and traces that were stored "
            "shortly before are missing."
        )
        _log.error("trace_store_lost_events", path=str(database), found=lost)
        note = _note_of(database)
        make_private_file(note)
        with note.open("a", encoding="utf-8") as file:
            file.write(f"{lost}\n")
    # A failure to look or to note must not stop the service: opening the store reports what is wrong.
    except OSError as error:
        _log.warning("trace_losses_not_looked_for", error=str(error))


def noted_losses(database: Path) -> Sequence[str]:
    """Returns the noted losses, each with a remedy."""
    note = _note_of(database)
    try:
        lines = note.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return ()
    remedy = f"Restore a backup, or delete {note.name} in the data folder to take note of it."
    return tuple([f"{line} {remedy}" for line in lines])


def _note_of(database: Path) -> Path:
    return database.with_name(f"{database.name}{_ENDING}")
