"""The index gets a query when it is over, no matter which process ends it; until then its question finds it."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.errors import TraceError
from antiphon.vocabulary.events import Event, QueryClosed, ToolSucceeded
from antiphon.vocabulary.ports import TraceFilter, WholeTraceStore
from antiphon.vocabulary.values import Passage, StoredText
from tests.integration.test_trace_store_sqlite import ask, changed_file
from tests.story import placed, query_received, response_assembled
from tests.trace_stores import KINDS, nats_url, opened

__all__ = ["nats_url"]

PASSAGE = Passage(
    id="1", source="Ranking", text=StoredText("Rare words."), course="Retrieval"
)
STORY: tuple[Event, ...] = (
    query_received(),
    ToolSucceeded(
        tool_call_id="t1",
        name="search",
        output=StoredText("found"),
        passages=(PASSAGE,),
        duration_ms=1.0,
    ),
    response_assembled(),
    QueryClosed(status="answered"),
)
EVENTS = placed("q1", STORY)


async def _found(store: WholeTraceStore, where: TraceFilter) -> list[str]:
    return [line.query_id for line in await store.list(where=where)]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_query_under_way_is_found_by_its_question_and_one_that_is_over_by_everything(
    tmp_path: Path, nats_url: str, kind: str
) -> None:
    async with opened(kind, tmp_path, nats_url) as store:
        await store.append("q1", 0, EVENTS[:3])

        assert await _found(store, TraceFilter(text="RECALL what")) == ["q1"]
        assert await _found(store, TraceFilter(text="recall nowhere")) == []
        assert await _found(store, TraceFilter(course="Retrieval")) == []

        await store.append("q1", 3, EVENTS[3:])

        assert await _found(store, TraceFilter(text="RECALL what")) == ["q1"]
        assert await _found(store, TraceFilter(text="share")) == ["q1"]
        assert await _found(store, TraceFilter(course="Retrieval")) == ["q1"]


@pytest.mark.parametrize("kind", KINDS)
async def test_a_query_that_another_process_ended_is_found_by_what_the_first_one_stored(
    tmp_path: Path, nats_url: str, kind: str
) -> None:
    async with opened(kind, tmp_path, nats_url, prefix="ended") as first:
        await first.append("q1", 0, EVENTS[:3])

    async with opened(kind, tmp_path, nats_url, prefix="ended") as second:
        await second.append("q1", 3, EVENTS[3:])

        assert await _found(second, TraceFilter(course="Retrieval")) == ["q1"]
        assert await _found(second, TraceFilter(text="share")) == ["q1"]


async def test_an_end_that_was_refused_and_stored_later_is_found_once(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append("q1", 0, EVENTS[:3])
    with changed_file(tmp_path) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(TraceError):
            await store.append("q1", 3, EVENTS[3:])
        other.execute("ROLLBACK")

    async with asyncio.timeout(5):
        while await store.read("q1") == EVENTS[:3]:
            with suppress(TraceError):
                await store.append("q1", 3, EVENTS[3:])

    assert await _found(store, TraceFilter(text="recall")) == ["q1"]
    assert await _found(store, TraceFilter(course="Retrieval")) == ["q1"]
    await store.close()


async def test_queries_that_ended_a_moment_ago_are_found_by_another_process(
    tmp_path: Path,
) -> None:
    store, other = SqliteTraceStore.open(tmp_path), SqliteTraceStore.open(tmp_path)
    await store.append("q1", 0, EVENTS)

    assert await _found(other, TraceFilter(course="Retrieval")) == ["q1"]
    await store.append("q2", 0, placed("q2", STORY))
    assert await _found(store, TraceFilter(text="share")) == ["q2", "q1"]
    assert await _found(other, TraceFilter(text="share")) == ["q2", "q1"]

    await store.close()
    await other.close()


async def test_queries_of_a_process_that_died_are_found(tmp_path: Path) -> None:
    (tmp_path / "dies").mkdir()
    dies = SqliteTraceStore.open(tmp_path / "dies")
    for number in range(5):
        query_id = f"q{number}"
        await dies.append(query_id, 0, placed(query_id, STORY))
    # Its file as it is while the process lives: nothing was closed.
    for file in (tmp_path / "dies").glob("traces.sqlite*"):
        shutil.copy(file, tmp_path)

    store = SqliteTraceStore.open(tmp_path)

    assert len(await _found(store, TraceFilter(course="Retrieval", text="share"))) == 5
    assert ask(tmp_path, "SELECT count(*) FROM unindexed") == [(0,)]
    await store.close()
    await dies.close()


async def test_hundreds_of_queries_are_in_the_index_but_for_the_last_few(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    ids = [f"q{number:03}" for number in range(100)]
    for query_id in ids:
        await store.append(query_id, 0, placed(query_id, STORY[:3]))
    for query_id in ids:
        await store.append(query_id, 3, placed(query_id, STORY)[3:])

    ((waiting,),) = ask(tmp_path, "SELECT count(*) FROM unindexed")
    assert isinstance(waiting, int)
    assert waiting < 16
    found = [
        line.query_id
        for line in await store.list(200, where=TraceFilter(course="Retrieval"))
    ]
    assert sorted(found) == ids
    await store.close()


async def test_a_query_that_was_deleted_before_it_was_in_the_index_never_gets_there(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append("q1", 0, EVENTS)
    assert await store.delete(["q1"]) == 1

    await store.append("q1", 0, placed("q1", STORY[:1]))

    assert await _found(store, TraceFilter(course="Retrieval")) == []
    await store.append("q1", 1, placed("q1", STORY[2:], after=1))
    assert await _found(store, TraceFilter(course="Retrieval")) == []
    assert await _found(store, TraceFilter(text="share")) == ["q1"]
    await store.close()


async def test_a_closed_store_has_everything_in_the_index(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append("q1", 0, EVENTS)
    await store.close()

    assert ask(tmp_path, "SELECT count(*) FROM unindexed") == [(0,)]
    assert ask(tmp_path, "SELECT value FROM marks") == [("Retrieval",)]
