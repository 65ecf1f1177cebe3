"""Inspects the store's file from outside: which traces hold a text, and whether a deleted text is left."""

from __future__ import annotations

import json
import mmap
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from antiphon.traces.connections import OPEN_TIMEOUT_S, reason
from antiphon.traces.encryption import connector, database_errors
from antiphon.vocabulary.errors import TraceError

_HOLDING = "SELECT DISTINCT query_id FROM events WHERE instr(body, ?) > 0"
_TEXTS_HOLDING = "SELECT lower(hex(key)) FROM kept WHERE instr(text, ?) > 0"
_LINES_HOLDING = """
    SELECT query_id FROM queries LEFT JOIN conversations USING (session_id)
    WHERE instr(query, :text) > 0 OR query_id = :text OR session_id = :text OR instr(feedback_note, :text) > 0
        OR instr(title, :text) > 0
"""


def traces_holding(path: Path, text: str, key: str | None = None) -> set[str]:
    """Returns the ids of the traces that hold a text anywhere, character for character.

    Raises:
        TraceError: The store cannot be read.
    """
    with _reading(path, key) as connection:
        return _holding(connection, text)


def damage_in(connection: sqlite3.Connection) -> str | None:
    """Reads the whole file, and returns SQLite's findings with a remedy; None if there are none."""
    found = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found == "ok":
        return None
    return f"The trace store is damaged ({found}): restore a backup, or move it away, and a new one is begun."


def empty_log(path: Path, key: str | None = None) -> bool:
    """Moves the log into the file and empties it, because it holds deleted bytes too; False if others use it."""
    uri = f"{path.absolute().as_uri()}?mode=rw"
    connect = connector(key)
    try:
        with closing(
            connect(uri, uri=True, timeout=OPEN_TIMEOUT_S, isolation_level=None)
        ) as connection:
            row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except database_errors() as error:
        raise TraceError(f"the trace store cannot be read: {reason(error)}") from error
    return int(row[0]) == 0


def files_holding(folder: Path, texts: Sequence[str]) -> dict[Path, int]:
    """Searches every byte of a folder's files; returns how many of the texts each file holds, if any."""
    found: dict[Path, int] = {}
    forms = list(map(_forms_of, texts))
    for path in sorted(folder.rglob("*")):
        # An empty file cannot be mapped.
        if not path.is_file() or not path.stat().st_size:
            continue
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            count = 0
            for each in forms:
                count += any(data.find(form) >= 0 for form in each)
            if count:
                found[path] = count
    return found


def _holding(connection: sqlite3.Connection, text: str) -> set[str]:
    found: set[str] = set()
    for form in _forms_of(text):
        found.update(row[0] for row in connection.execute(_HOLDING, (form,)))
    # Long texts are stored once; events only refer to them.
    for (key,) in connection.execute(_TEXTS_HOLDING, (text,)).fetchall():
        reference = f'"kept":"{key}"'.encode()
        found.update(row[0] for row in connection.execute(_HOLDING, (reference,)))
    rows = connection.execute(_LINES_HOLDING, {"text": text})
    found.update(row[0] for row in rows)
    return found


def _forms_of(text: str) -> set[bytes]:
    """Returns the forms of a text in files: plain, and as JSON by msgspec and by other encoders."""
    plain = text.encode(errors="replace")
    in_json = json.dumps(text, ensure_ascii=False)[1:-1].encode(errors="replace")
    return {plain, in_json, json.dumps(text)[1:-1].encode()}


@contextmanager
def _reading(path: Path, key: str | None) -> Iterator[sqlite3.Connection]:
    uri = f"{path.absolute().as_uri()}?mode=ro"
    connect = connector(key)
    try:
        with closing(connect(uri, uri=True, timeout=OPEN_TIMEOUT_S)) as connection:
            yield connection
    except database_errors() as error:
        raise TraceError(f"the trace store cannot be read: {reason(error)}") from error
