"""Traces are deleted one by one, by conversation, by age and by size, and nothing of them is left in the file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from antiphon.service import load_settings
from antiphon.service.upkeep import keep_traces
from antiphon.traces import SqliteTraceStore
from antiphon.traces.connections import CHECKPOINT_BYTES
from antiphon.traces.schema import open_writer
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.errors import NotFoundError, TraceError
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.ports import TraceListing
from tests.fakes import FixedClock
from tests.integration.test_trace_store_sqlite import ask, changed_file
from tests.story import NOON, answered, placed, query_received, tool_succeeded

DAY_S = 86_400.0


def long_text(name: str) -> str:
    """A text of a passage's length with a word that is nowhere else."""
    return f"unique{name} " + f"The passage {name} says something of some length. " * 40


def whole(name: str, *more: str, session_id: str = "s1") -> list[Event]:
    """A query that found a passage of its own, and those given."""
    question, answer, closed = answered(f"word{name}", f"answer{name}", session_id)
    return [question, tool_succeeded(long_text(name), *more), answer, closed]


async def filled(folder: Path, count: int, *more: str) -> SqliteTraceStore:
    """A store with traces q0 … of one day each, the oldest first."""
    store = SqliteTraceStore.open(folder)
    for number in range(count):
        await store.append(
            f"q{number}",
            0,
            placed(f"q{number}", whole(str(number), *more), at=NOON + number * DAY_S),
        )
    return store


async def left(store: TraceListing) -> Sequence[str]:
    return await store.ids("", 1_000)


async def test_a_deleted_trace_leaves_no_byte_and_the_others_stay_whole(
    tmp_path: Path,
) -> None:
    store = await filled(tmp_path, 3, "shared passage " * 30)

    assert await store.delete(["q1", "q1", "nowhere"]) == 1

    with pytest.raises(NotFoundError):
        await store.read("q1")
    assert await left(store) == ["q0", "q2"]
    assert (await store.read("q2"))[1].event == tool_succeeded(
        long_text("2"), "shared passage " * 30
    )
    await store.close()
    data = (tmp_path / FILE_NAME).read_bytes()
    assert b"unique1" not in data
    assert b"word1" not in data
    assert b"unique2" in data
    assert ask(tmp_path, "SELECT count(*) FROM kept") == [(3,)]


async def test_a_trace_of_thousands_of_events_is_deleted(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append(
        "q1", 0, placed("q1", [query_received(), *[tool_succeeded("x")] * 3_000])
    )

    assert await store.delete(["q1"]) == 1

    assert ask(tmp_path, "SELECT count(*) FROM events") == [(0,)]
    await store.close()


async def test_pruning_by_size_takes_the_oldest_until_the_file_is_small_enough(
    tmp_path: Path,
) -> None:
    store = await filled(tmp_path, 400)
    await store.close()
    store, before = (
        SqliteTraceStore.open(tmp_path),
        (tmp_path / FILE_NAME).stat().st_size,
    )

    deleted = await store.prune(most_bytes=before // 2)

    assert await left(store) == sorted(f"q{number}" for number in range(deleted, 400))
    assert 150 < deleted < 300
    await store.close()
    assert (tmp_path / FILE_NAME).stat().st_size <= before // 2


async def test_pruning_forgets_conversations_of_which_no_trace_is_left(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    for number, session_id in enumerate(["gone", "both", "both", "young"]):
        events = whole(str(number), session_id=session_id)
        at = NOON + number * DAY_S
        await store.append(f"q{number}", 0, placed(f"q{number}", events, at=at))
    # Opened, and nothing asked in it yet.
    await store.open_conversation("opened")

    assert await store.prune(older_than=NOON + 2 * DAY_S) == 2

    with pytest.raises(NotFoundError, match="no conversation 'gone'"):
        await store.exchanges("gone", 2)
    assert len(await store.exchanges("both", 2)) == 1
    assert len(await store.exchanges("young", 2)) == 1
    assert await store.exchanges("opened", 2) == []
    await store.close()


async def test_the_log_stays_short_however_much_is_deleted(tmp_path: Path) -> None:
    await (await filled(tmp_path, 500)).close()
    store = SqliteTraceStore.open(tmp_path)

    await store.prune(older_than=NOON + 1_000 * DAY_S)

    assert (tmp_path / f"{FILE_NAME}-wal").stat().st_size < 5 * CHECKPOINT_BYTES
    await store.close()


async def test_a_store_that_is_closed_meanwhile_goes_on_where_it_was_broken_off(
    tmp_path: Path,
) -> None:
    store = await filled(tmp_path, 40)
    pruning = asyncio.create_task(store.prune(older_than=NOON + 100 * DAY_S))
    while len(await left(store)) == 40:
        pass
    await store.close()
    with pytest.raises(TraceError, match="rest goes next time"):
        await pruning
    store = SqliteTraceStore.open(tmp_path)
    assert 0 < len(await left(store)) < 40

    await store.prune(older_than=NOON + 100 * DAY_S)

    assert (
        ask(tmp_path, "SELECT count(*) FROM events")
        == ask(tmp_path, "SELECT count(*) FROM kept")
        == [(0,)]
    )
    await store.close()


async def test_a_lock_of_another_process_holds_deleting_up_and_does_not_end_it(
    tmp_path: Path,
) -> None:
    store = await filled(tmp_path, 3)

    with changed_file(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        deleting = asyncio.create_task(store.delete(["q0", "q1"]))
        await asyncio.sleep(0)  # the first bit meets the lock
        other.execute("ROLLBACK")

    assert await deleting == 2
    await store.close()


async def test_the_service_deletes_at_its_start_and_every_hour(tmp_path: Path) -> None:
    store = await filled(tmp_path, 4)
    clock = FixedClock(NOON + 3.5 * DAY_S)
    keeping = asyncio.create_task(
        keep_traces(store, load_settings(keep_days=2.0), clock)
    )

    await clock.slept_on()
    at_start = await left(store)
    clock.advance(DAY_S)
    await clock.slept_on()
    a_day_later = await left(store)

    assert at_start == ["q2", "q3"]
    assert a_day_later == ["q3"]
    keeping.cancel()
    await asyncio.gather(keeping, return_exceptions=True)
    await store.close()


@pytest.mark.parametrize(("durability", "synchronous"), [("process", 1), ("power", 2)])
async def test_the_durability_is_in_force_on_the_connection_that_writes(
    tmp_path: Path, durability: str, synchronous: int
) -> None:
    settings = load_settings(durability=durability, data_dir=tmp_path)
    store = SqliteTraceStore.open(settings.data_dir, settings.durability)
    await store.append("q1", 0, placed("q1", whole("1")))
    await store.delete(["q1"])

    with store._writer.transaction() as connection:
        assert connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    await store.close()


def test_a_connection_of_the_store_waits_for_the_disk_only_if_the_setting_says_so(
    tmp_path: Path,
) -> None:
    for durability, synchronous in (("process", 1), ("power", 2)):
        connection = open_writer(tmp_path / FILE_NAME, durability)  # type: ignore[arg-type]  # one of the two
        assert connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
        connection.close()
