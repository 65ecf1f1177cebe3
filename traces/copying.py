"""A copy of the store's file while others write to it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from antiphon.traces.connections import OPEN_TIMEOUT_S, why_unusable
from antiphon.traces.encryption import connector, database_errors
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.private_files import make_private_file


def copy_store(path: Path, target: Path, key: str | None = None) -> None:
    """Copies the store as it is at one moment, without holding up its writers.

    Args:
        target: Created, or overwritten.
        key: The key of the file, and of the copy.

    Raises:
        TraceError: It cannot be read, or the copy is damaged.
    """
    connect = connector(key)
    make_private_file(target)
    # Opened read-only, so that a missing store is not created.
    uri = f"{path.absolute().as_uri()}?mode=ro"
    try:
        with (
            closing(connect(uri, uri=True, timeout=OPEN_TIMEOUT_S)) as source,
            closing(connect(str(target))) as copy,
        ):
            # In one step, which reads one snapshot; a copy in several steps would restart after each append of a
            # service: https://www.sqlite.org/backup.html#concurrent_usage_of_database_connections.
            source.backup(copy)
            _check(copy)
    except database_errors() as error:
        why = why_unusable(path, key, error)
        raise TraceError(f"the trace store {path} cannot be copied: {why}") from error


def _check(copy: sqlite3.Connection) -> None:
    found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise TraceError(
            f"the copy of the trace store is not sound ({found}): the store is damaged"
        )
