"""SQLite's refusals are told as what they mean and what to do."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from antiphon.traces.connections import is_locked, reason


def test_a_full_disk_is_told_as_such() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(sqlite3.OperationalError) as refused:
            connection.execute("CREATE TABLE letters (text TEXT)")

    assert reason(refused.value) == "the disk is full; free some space"
    assert not is_locked(refused.value)


def test_what_is_not_in_the_table_is_told_in_sqlite_s_words() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(sqlite3.OperationalError) as refused,
    ):
        connection.execute("SELECT * FROM nowhere")

    assert reason(refused.value) == "SQLite says: no such table: nowhere"


def test_an_error_of_python_s_own_is_told_too() -> None:
    connection = sqlite3.connect(":memory:")
    connection.close()

    with pytest.raises(sqlite3.ProgrammingError) as refused:
        connection.execute("SELECT 1")

    assert "closed database" in reason(refused.value)
