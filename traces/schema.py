"""The store's file: its tables, how it is opened, and which files are refused."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Literal

from antiphon.traces.answer_lines import add_answers
from antiphon.traces.connections import OPEN_TIMEOUT_S, is_locked, why_unusable
from antiphon.traces.encryption import (
    Connect,
    connector,
    database_errors,
)
from antiphon.traces.question_sets import TABLE as _QUESTION_SETS
from antiphon.traces.search_index import index_everything
from antiphon.vocabulary.access import LOCAL_TENANT
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.private_files import make_private_file, make_private_folder

FORMAT = 6
"""Version of the tables, in `PRAGMA user_version`."""
_FOUND_SINCE = 2
_ANSWERS_SINCE = 5

Durability = Literal["process", "power"]
"""The failures that a commit survives: the death of the process, or the loss of the machine's power too."""

_SWITCH_AGAIN_S = 0.01

_SYNCHRONOUS = {"process": "NORMAL", "power": "FULL"}
"""In WAL mode FULL flushes the log to the disk with each commit, NORMAL only before a checkpoint:
https://www.sqlite.org/pragma.html#pragma_synchronous."""

_APPLICATION_ID = 0x416E7469
"""Marks the file as ours ("Anti"): https://www.sqlite.org/fileformat.html#application_id."""

_MOST_LOG_BYTES = 24_000_000
"""Length to which a log that grew beyond it in a rush is cut when it starts over."""

_WRITE_TIMEOUT_MS = 20
"""Milliseconds that a write may wait for another process; few, because it blocks the event loop."""

# Rows of `events` go to the table's end, no matter which query they belong to; that is cheaper to write than a table
# WITHOUT ROWID, ordered by query (49 against 66 µs CPU a commit), and as fast to read.
_TABLES = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS events (
    query_id TEXT NOT NULL, seq INTEGER NOT NULL, cause INTEGER NOT NULL, at REAL NOT NULL,
    kind TEXT NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL,
    PRIMARY KEY (query_id, seq)
);
CREATE TABLE IF NOT EXISTS kept (key BLOB NOT NULL PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS queries (
    number INTEGER PRIMARY KEY, query_id TEXT NOT NULL UNIQUE, session_id TEXT NOT NULL, query TEXT NOT NULL,
    started_at REAL NOT NULL, status TEXT NOT NULL DEFAULT 'open', duration_ms REAL, confidence TEXT,
    reasoner TEXT, answer_seq INTEGER, owner TEXT NOT NULL DEFAULT '', parent TEXT,
    tenant TEXT NOT NULL DEFAULT '{LOCAL_TENANT}', answer TEXT, rounds INTEGER, input_tokens INTEGER,
    output_tokens INTEGER, cost_usd REAL, feedback TEXT, feedback_note TEXT, feedback_at REAL,
    follows TEXT
);
CREATE INDEX IF NOT EXISTS queries_by_start ON queries (started_at, number);
CREATE INDEX IF NOT EXISTS queries_by_conversation ON queries (session_id, number);
CREATE TABLE IF NOT EXISTS conversations (
    session_id TEXT NOT NULL PRIMARY KEY, cleared_after INTEGER NOT NULL DEFAULT 0,
    tenant TEXT NOT NULL DEFAULT '{LOCAL_TENANT}', title TEXT
) WITHOUT ROWID;
PRAGMA application_id = {_APPLICATION_ID};
COMMIT;
"""

_TENANT = {"tenant": f"TEXT NOT NULL DEFAULT '{LOCAL_TENANT}'"}
_ADDED = {
    "queries": {"owner": "TEXT NOT NULL DEFAULT ''", "parent": "TEXT"}
    | _TENANT
    | {
        "answer": "TEXT",
        "rounds": "INTEGER",
        "input_tokens": "INTEGER",
        "output_tokens": "INTEGER",
        "cost_usd": "REAL",
        "feedback": "TEXT",
        "feedback_note": "TEXT",
        "feedback_at": "REAL",
        "follows": "TEXT",
    },
    "conversations": _TENANT | {"title": "TEXT"},
}
"""Columns that the tables of older formats lack: by the format that added them: owner and parent (2), tenant (3), the
summary of the answer, feedback and titles (5), and the predecessor of a question (6)."""

# Partial, because on one's own machine everything belongs to one tenant, and each row of the index would cost an append
# a page.
_OF_TENANTS = f"""
CREATE INDEX IF NOT EXISTS queries_of_tenants ON queries (tenant, started_at, number)
    WHERE tenant <> '{LOCAL_TENANT}'
"""

# Partial too: few answers are judged, and few conversations renamed.
_ANNOTATED = (
    "CREATE INDEX IF NOT EXISTS queries_by_feedback ON queries (feedback, started_at, number) "
    "WHERE feedback IS NOT NULL",
    "CREATE INDEX IF NOT EXISTS conversations_by_title ON conversations (session_id) WHERE title IS NOT NULL",
)

# The search index. Marks hold the time too, so that a walk of the index yields the newest queries with a mark in order.
_FINDING = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS marks (
    kind TEXT NOT NULL, value TEXT NOT NULL, started_at REAL NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (kind, value, started_at, number)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS marks_by_query ON marks (number);
CREATE INDEX IF NOT EXISTS queries_by_status ON queries (status, started_at, number);
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text);
CREATE TABLE IF NOT EXISTS unindexed (number INTEGER PRIMARY KEY);
COMMIT;
"""

# For people who read the file with SQL: a row of `events` holds the events of one append, a line each.
_VIEW = """
CREATE VIEW IF NOT EXISTS each_event AS
SELECT events.query_id, events.seq - json_array_length(lines) + 1 + line.key AS seq,
    json_extract(lines, '$[0][' || (line.key - 1) || '][0]') AS cause,
    json_extract(lines, '$[0][' || (line.key - 1) || '][1]') AS at,
    json_extract(line.value, '$.kind') AS kind, line.value AS body
FROM (
    SELECT *, '[' || replace(rtrim(CAST(body AS TEXT), char(10)), char(10), ',') || ']' AS lines
    FROM events WHERE kind = ''
) AS events, json_each(lines) AS line
WHERE line.key > 0
UNION ALL
SELECT query_id, seq, cause, at, kind, CAST(body AS TEXT) FROM events WHERE kind <> ''
"""


def open_writer(
    path: Path, durability: Durability = "process", key: str | None = None
) -> sqlite3.Connection:
    """Opens the writing connection; creates the file if there is none.

    Args:
        key: The file's key; None: it is not encrypted.

    Raises:
        ConfigurationError: The folder or the file cannot be used, or the file is a newer program's.
    """
    try:
        make_private_folder(path.parent)
        # Created before SQLite does it, because the log beside it inherits the database's permissions.
        make_private_file(path)
        return _opened(path, durability, connector(key))
    except database_errors() as error:
        why = why_unusable(path, key, error)
        raise ConfigurationError(
            f"the trace store {path} cannot be used: {why}"
        ) from error
    except OSError as error:
        raise ConfigurationError(
            f"the trace store {path} cannot be made: {error.strerror}; name a folder that this user can write to"
        ) from error


def _opened(path: Path, durability: Durability, connect: Connect) -> sqlite3.Connection:
    connection = connect(
        path, timeout=OPEN_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        _check_owner(path, connection)
        _prepare(path, connection)
        connection.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
    except BaseException:
        connection.close()
        raise
    return connection


def _check_owner(path: Path, connection: sqlite3.Connection) -> None:
    # In this order, because a process that creates the file at this moment commits both at once.
    tables = _number(connection, "SELECT count(*) FROM sqlite_master")
    owner = _number(connection, "PRAGMA application_id")
    if tables and owner != _APPLICATION_ID:
        raise ConfigurationError(
            f"{path} is a database of another program; name another data folder"
        )
    found = _number(connection, "PRAGMA user_version")
    if found > FORMAT:
        raise ConfigurationError(
            f"the trace store {path} has format {found}, from a newer Antiphon; this one reads format {FORMAT}: "
            "update it, or name another data folder"
        )


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    # Takes effect only in a file without tables, whose free pages can then be given back in steps (traces/deleting.py).
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    mode = _switched_to_wal(connection)
    if mode != "wal":
        raise ConfigurationError(
            f"the trace store {path} lies on a file system without SQLite's WAL mode (it offers {mode!r}); "
            "name a data folder on a local disk"
        )
    connection.execute("PRAGMA wal_autocheckpoint = 0")
    connection.execute(f"PRAGMA journal_size_limit = {_MOST_LOG_BYTES}")
    connection.execute("PRAGMA secure_delete = ON")  # overwrites deleted content
    found = _number(connection, "PRAGMA user_version")
    if found < FORMAT:
        connection.executescript(_TABLES)
        _add_columns(connection)
        connection.execute(_OF_TENANTS)
        for statement in _ANNOTATED:
            connection.execute(statement)
        connection.executescript(_FINDING)
        # The search index has been the same since format 2.
        if found < _FOUND_SINCE:
            index_everything(connection)
        if found < _ANSWERS_SINCE:
            add_answers(connection)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    connection.execute(_VIEW)
    # Only our own code for question sets reads this table, so it does not change the format for older programs.
    connection.execute(_QUESTION_SETS)
    connection.execute(f"PRAGMA busy_timeout = {_WRITE_TIMEOUT_MS}")


def _switched_to_wal(connection: sqlite3.Connection) -> str:
    """Switches a file to WAL mode if necessary; returns the mode that it is in afterwards."""
    until = time.monotonic() + OPEN_TIMEOUT_S
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        # Unlike elsewhere, SQLite does not always wait here for a process that opens the same file at this moment.
        except database_errors() as error:
            if not is_locked(error) or time.monotonic() > until:
                raise
            time.sleep(_SWITCH_AGAIN_S)


def _add_columns(connection: sqlite3.Connection) -> None:
    """Adds to the tables of older formats the columns of this one."""
    for table, columns in _ADDED.items():
        there = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for name, kind in columns.items():
            if name not in there:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind}")


def _number(connection: sqlite3.Connection, query: str) -> int:
    return int(connection.execute(query).fetchone()[0])
