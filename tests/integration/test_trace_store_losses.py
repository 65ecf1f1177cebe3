"""A store whose log was damaged while nobody had it open says what it lost, and says nothing if nothing was lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from antiphon.traces import SqliteTraceStore
from antiphon.traces.sqlite_store import FILE_NAME
from tests.integration.test_trace_store_sqlite import WRITER, changed_file, start
from tests.story import placed, query_received

KEY = "0123456789abcdef" * 4
CHECKPOINTED = """
import os, sqlite3, sys
from pathlib import Path
connection = sqlite3.connect(Path(sys.argv[1]) / "traces.sqlite")
connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
print("moved", flush=True)
os.kill(os.getpid(), 9)
"""
Damage = Callable[[Path], object]


def killed(folder: Path, script: str = WRITER, appends: int = 20) -> Path:
    """Has a process write to the store and kills it; returns the log that it left."""
    with start(script, folder) as writer:
        assert writer.stdout is not None
        for _ in range(appends):
            writer.stdout.readline()
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    return folder / f"{FILE_NAME}-wal"


def _change(at: float) -> Damage:
    def change(log: Path) -> None:
        with log.open("r+b") as file:
            file.seek(int(log.stat().st_size * at))
            file.write(os.urandom(16))

    return change


def _cut_off(log: Path) -> None:
    os.truncate(log, log.stat().st_size // 2)


@pytest.mark.parametrize(
    "damage",
    [_change(0.0), _change(0.3), _cut_off, Path.unlink],
    ids=["head", "middle", "cut off", "gone"],
)
@pytest.mark.parametrize("key", [None, KEY], ids=["plain", "encrypted"])
async def test_the_store_says_at_each_opening_what_a_damaged_log_lost_until_somebody_takes_note(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    damage: Damage,
    key: str | None,
) -> None:
    script = WRITER.replace("(Path(sys.argv[1]))", f"(Path(sys.argv[1]), key={key!r})")
    damage(killed(tmp_path, script))

    store = SqliteTraceStore.open(tmp_path, key=key)
    said = store.losses
    logged = capsys.readouterr().out
    await store.append("q2", 0, placed("q2", [query_received()]))
    await store.close()
    again = SqliteTraceStore.open(tmp_path, key=key)
    said_again = again.losses
    (tmp_path / f"{FILE_NAME}-lost.txt").unlink()
    noted = again.losses
    await again.close()

    assert len(said) == 1
    assert "traces that were stored shortly before are missing" in said[0]
    assert "Restore a backup, or delete traces.sqlite-lost.txt" in said[0]
    assert "trace_store_lost_events" in logged
    assert said_again == said
    assert noted == ()


async def test_a_process_that_was_killed_lost_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(3):
        killed(tmp_path)
        store = SqliteTraceStore.open(tmp_path)
        assert store.losses == ()
        with changed_file(tmp_path) as file:
            file.execute("DELETE FROM events")
            file.execute("DELETE FROM queries")
        await store.close()

    assert "trace_store_lost_events" not in capsys.readouterr().out


async def test_a_log_that_was_moved_into_the_database_is_not_missed(
    tmp_path: Path,
) -> None:
    killed(tmp_path)
    log = killed(tmp_path, CHECKPOINTED, appends=1)
    log.unlink()

    store = SqliteTraceStore.open(tmp_path)

    assert store.losses == ()
    assert len(await store.read("q1")) > 20
    await store.close()


async def test_a_store_that_another_process_or_this_one_has_open_is_left_alone(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append("q1", 0, placed("q1", [query_received()]))
    other = SqliteTraceStore.open(tmp_path)
    with start(WRITER.replace("q1", "q2"), tmp_path) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        third = SqliteTraceStore.open(tmp_path)
        writer.kill()

    assert store.losses == other.losses == third.losses == ()
    for each in (third, other, store):
        await each.close()


async def test_a_damaged_file_is_found_by_reading_all_of_it(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    for number in range(50):
        query_id = f"q{number}"
        await store.append(query_id, 0, placed(query_id, [query_received("z" * 4_000)]))
    sound = await store.damage()
    await store.close()
    size = (tmp_path / FILE_NAME).stat().st_size
    with (tmp_path / FILE_NAME).open("r+b") as file:
        file.seek(size // 2)
        file.write(os.urandom(size // 4))

    spoilt = SqliteTraceStore.open(tmp_path)

    assert sound is None
    assert "damaged" in str(await spoilt.damage())
    await spoilt.close()
