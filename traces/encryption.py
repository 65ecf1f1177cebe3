"""Connections to the store's file: SQLite's own, or SQLCipher's if the file is encrypted.

SQLCipher (https://www.zetetic.net/sqlcipher/) encrypts each page, including those of the log and of the index of words,
with AES-256 and an authentication code. Encryption by field would leave the words of questions readable in the search
index.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from antiphon.vocabulary.errors import ConfigurationError

KEY_FORM = re.compile(r"[0-9a-fA-F]{64}")
"""256 bits in hex. Deriving a key from a passphrase would take a quarter of a second for each connection."""

_PLAIN_HEADER = b"SQLite format 3\x00"

Connect = Callable[..., sqlite3.Connection]
"""Opens a connection; takes what `sqlite3.connect` does."""


def connector(key: str | None = None) -> Connect:
    """Returns the function that opens the store's file.

    Args:
        key: 64 hex digits; None: the file is not encrypted.

    Raises:
        ConfigurationError: The key has another form, or SQLCipher is not installed.
    """
    if key is None:
        return sqlite3.connect
    # The message never holds the key, because it may be logged.
    if KEY_FORM.fullmatch(key) is None:
        raise ConfigurationError(
            "ANTIPHON_TRACE_KEY has the wrong form: wanted 64 hex digits, as `openssl rand -hex 32` prints them."
        )
    try:
        driver: Any = import_module("sqlcipher3.dbapi2")
    except ImportError as error:
        raise ConfigurationError(
            "ANTIPHON_TRACE_KEY is set, and SQLCipher is not installed: install antiphon[encryption]."
        ) from error
    _ERRORS.add(driver.Error)

    def connect(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection = driver.connect(*arguments, **options)
        # This must be the first statement; SQLCipher checks the key only when it reads a page.
        connection.execute(f"PRAGMA key = \"x'{key}'\"")
        # The driver is a copy of Python's own module over another SQLite.
        return cast(sqlite3.Connection, connection)

    return connect


_ERRORS: set[type[Exception]] = {sqlite3.Error}


def database_errors() -> tuple[type[Exception], ...]:
    """Returns the errors of the drivers in use, for `except`: each has classes of its own."""
    return tuple(_ERRORS)


def why_unreadable(path: Path, key: str | None) -> str:
    """Says why SQLite may not read a file with this key; empty if the key is not the reason."""
    try:
        with path.open("rb") as file:
            header = file.read(len(_PLAIN_HEADER))
    except OSError:
        return ""
    if key is None and header and header != _PLAIN_HEADER:
        return (
            "it is no trace store; move it away, and a new one is begun. "
            "If it is encrypted, set ANTIPHON_TRACE_KEY"
        )
    if key is not None and header == _PLAIN_HEADER:
        return (
            "it is not encrypted, and ANTIPHON_TRACE_KEY is set: encrypt it with `antiphon traces encrypt`, or unset "
            "the key"
        )
    if key is not None:
        return "it was encrypted with another key than ANTIPHON_TRACE_KEY, or it is damaged"
    return ""


def encrypt_file(path: Path, target: Path, key: str) -> None:
    """Writes an encrypted copy of a store that is not in use; `target` must not exist.

    Raises:
        ConfigurationError: The key has another form, or SQLCipher is not installed.
    """
    connector(key)
    driver: Any = import_module("sqlcipher3.dbapi2")
    connection = driver.connect(str(path), isolation_level=None)
    try:
        # SQLite fixes how free pages are given back with the first write, so this pragma comes before the other marks.
        marks = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("auto_vacuum", "user_version", "application_id")
        }
        connection.execute(
            f"ATTACH DATABASE ? AS encrypted KEY \"x'{key}'\"", (str(target),)
        )
        for name, value in marks.items():
            connection.execute(f"PRAGMA encrypted.{name} = {int(value)}")
        connection.execute("SELECT sqlcipher_export('encrypted')").fetchall()
        connection.execute("DETACH DATABASE encrypted")
    finally:
        connection.close()
