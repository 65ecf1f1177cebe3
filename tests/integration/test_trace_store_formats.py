"""Stores of format 3, in which each event had a row of its own, and of today, in which a row holds an append."""

from __future__ import annotations

import gzip
from pathlib import Path

from msgspec.structs import replace

from antiphon.service import replay
from antiphon.traces import SqliteTraceStore
from antiphon.traces.sqlite_store import FILE_NAME
from tests.integration.test_trace_store_sqlite import ask
from tests.story import answered, placed

SENTENCE = "BM25 ranks documents by term frequency, document length and rarity."
ANSWER = " ".join([SENTENCE] * 6)
OF_FORMAT_3 = Path(__file__).parents[1] / "data" / "store-format-3.sqlite.gz"


async def test_a_store_whose_events_have_a_row_each_is_read_and_continued(
    tmp_path: Path,
) -> None:
    (tmp_path / FILE_NAME).write_bytes(gzip.decompress(OF_FORMAT_3.read_bytes()))
    assert ask(tmp_path, "PRAGMA user_version") == [(3,)]
    store = SqliteTraceStore.open(tmp_path)

    whole, begun = await store.read("old1"), await store.read("old2")
    assert [said.seq for said in whole] == list(range(1, 38))
    assert whole[20:] == await store.read("old1", after=20)
    replayed = replay(whole, await store.forms("old1"))
    assert replayed.divergence is None or replayed.divergence.difference == "code"
    assert await store.unfinished() == ["old2"]

    further = [replace(said, query_id="old2") for said in whole[len(begun) :]]
    await store.append("old2", len(begun), further)
    assert [said.event for said in await store.read("old2", after=20)] == [
        said.event for said in whole[20:]
    ]
    assert [said.events for said in await store.list()] == [37, 37]
    answers = [said.answer for said in await store.exchanges("bench", 5)]
    assert answers == [ANSWER] * 2
    assert await store.delete(["old1", "old2"]) == 2
    assert ask(tmp_path, "SELECT count(*) FROM events") == [(0,)]
    await store.close()


async def test_what_follows_an_event_within_an_append_is_read_alone(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", answered("What is recall?", "A share."))
    await store.append("q1", 0, events)

    assert ask(tmp_path, "SELECT count(*) FROM events") == [(1,)]
    for after in range(len(events) + 1):
        assert await store.read("q1", after=after) == events[after:]
    await store.close()


async def test_sql_finds_every_event_by_its_kind_in_rows_of_both_forms(
    tmp_path: Path,
) -> None:
    (tmp_path / FILE_NAME).write_bytes(gzip.decompress(OF_FORMAT_3.read_bytes()))
    store = SqliteTraceStore.open(tmp_path)
    events = placed("q1", answered("What is recall?", "A share."))
    await store.append("q1", 0, events[:2])
    await store.append("q1", 2, events[2:])

    found = ask(
        tmp_path,
        "SELECT query_id, seq, cause, at, kind FROM each_event ORDER BY query_id, seq",
    )

    stored = [
        each for name in ("old1", "old2", "q1") for each in await store.read(name)
    ]
    assert found == [
        (each.query_id, each.seq, each.cause, each.at, each.event.kind_name())
        for each in stored
    ]
    asked = ask(
        tmp_path,
        "SELECT json_extract(body, '$.query') FROM each_event "
        "WHERE query_id = 'q1' AND kind = 'query_received'",
    )
    assert asked == [("What is recall?",)]
    await store.close()
