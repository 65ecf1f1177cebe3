"""Which files and folders the SQLite store refuses to open, and what it says."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from antiphon.traces import SqliteTraceStore
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.errors import ConfigurationError

NOBODY = 65534


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"This is a letter, no database. " * 100)

    with pytest.raises(ConfigurationError, match="no trace store; move it away"):
        SqliteTraceStore.open(tmp_path)

    assert (tmp_path / FILE_NAME).read_bytes().startswith(b"This is a letter")


def test_the_database_of_another_program_is_refused_and_left_alone(
    tmp_path: Path,
) -> None:
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other:
        other.execute("CREATE TABLE letters (text TEXT)")
    before = (tmp_path / FILE_NAME).read_bytes()

    with pytest.raises(ConfigurationError, match="another program"):
        SqliteTraceStore.open(tmp_path)

    assert (tmp_path / FILE_NAME).read_bytes() == before


async def test_a_store_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    await SqliteTraceStore.open(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / FILE_NAME)) as other:
        other.execute("PRAGMA user_version = 99")

    with pytest.raises(
        ConfigurationError,
        match="format 99, from a newer Antiphon; this one reads format 6",
    ):
        SqliteTraceStore.open(tmp_path)


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("not a folder")

    with pytest.raises(ConfigurationError, match="name a folder"):
        SqliteTraceStore.open(tmp_path / "data")


def test_a_folder_that_may_not_be_written_is_refused_with_what_to_do() -> None:
    with tempfile.TemporaryDirectory() as name, _unprivileged(Path(name)) as folder:
        with pytest.raises(
            ConfigurationError, match="right to read and write the data folder"
        ):
            SqliteTraceStore.open(folder)
        with pytest.raises(ConfigurationError, match="name a folder"):
            SqliteTraceStore.open(folder / "missing")


async def test_a_store_that_may_not_be_written_is_refused_with_what_to_do() -> None:
    with tempfile.TemporaryDirectory() as name:
        await SqliteTraceStore.open(Path(name)).close()
        # Its owner let others read it.
        (Path(name) / FILE_NAME).chmod(0o644)
        with (
            _unprivileged(Path(name)) as folder,
            pytest.raises(ConfigurationError, match="right to write"),
        ):
            SqliteTraceStore.open(folder)


@contextmanager
def _unprivileged(folder: Path) -> Iterator[Path]:
    """`folder`, read-only; root, whom no mode stops, becomes nobody for a while."""
    folder.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield folder
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
