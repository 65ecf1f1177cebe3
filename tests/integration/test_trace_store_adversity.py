"""Old files, full disks, damage and locks: a clear sentence, and the service goes on answering."""

from __future__ import annotations

import asyncio
import gzip
import os
import shutil
import signal
import sqlite3
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import NamedTuple

import httpx2
import msgspec
import pytest

from antiphon.api import create_app
from antiphon.service import Question, Settings, replay
from antiphon.traces import SqliteTraceStore
from antiphon.traces.sqlite_store import FILE_NAME
from antiphon.vocabulary.errors import (
    DecodeError,
    NotFoundError,
    TraceError,
    TraceStateError,
)
from antiphon.vocabulary.events import (
    QueryClosed,
    RecordingFailed,
    ResponseAssembled,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import TraceFilter
from tests.integration.test_trace_store_sqlite import (
    WRITER,
    ask,
    changed_file,
    file_size_limit,
    start,
)
from tests.small_service import House, house
from tests.stored_rows import part_rows
from tests.story import answered, placed, query_received, tool_succeeded

OLD = Path(__file__).parents[1] / "data" / "store-format-1.sqlite.gz"
SCRIPT = {"replies": [{"text": "Logs grow at their ends."}], "then": "last"}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A folder with a store that a program of format 1 wrote: two queries, and one that its process died over."""
    (tmp_path / FILE_NAME).write_bytes(gzip.decompress(OLD.read_bytes()))
    return tmp_path


async def test_a_store_of_an_earlier_format_is_brought_up_to_this_one_and_nothing_is_lost(
    old: Path,
) -> None:
    assert ask(old, "PRAGMA user_version") == [(1,)]
    store = SqliteTraceStore.open(old)

    assert [line.query_id for line in await store.list()] == ["old2", "old3", "old1"]
    for where, found in (
        (TraceFilter(text="falcons lesson"), ["old1"]),
        (TraceFilter(text="pears"), ["old2"]),
        (TraceFilter(tool="search_course_content"), ["old1"]),
        (TraceFilter(status="open"), ["old3"]),
        (TraceFilter(indicator="general_knowledge"), ["old2"]),
    ):
        assert [line.query_id for line in await store.list(where=where)] == found
    lines = {line.query_id: line for line in await store.list()}
    for query_id in ("old1", "old2", "old3"):
        events = await store.read(query_id)
        said = [x.event for x in events if isinstance(x.event, ResponseAssembled)]
        listed = [] if lines[query_id].answer is None else [lines[query_id]]
        assert [(each.answer, each.rounds) for each in listed] == [
            (each.answer[:200], each.rounds) for each in said
        ]
        assert [said.seq for said in events] == list(range(1, len(events) + 1))
    assert await store.unfinished() == ["old3"]
    await store.append("new", 0, placed("new", answered("What is new?", "This.")))
    await store.close()
    assert ask(old, "PRAGMA user_version") == [(6,)]
    again = SqliteTraceStore.open(old)
    assert len(await again.list()) == 4
    await again.close()


async def test_a_trace_that_an_earlier_program_wrote_still_replays_or_says_why_not(
    old: Path,
) -> None:
    store = SqliteTraceStore.open(old)

    for query_id in ("old1", "old2"):
        replayed = replay(await store.read(query_id), await store.forms(query_id))
        assert replayed.divergence is None or replayed.divergence.difference in (
            "schema",
            "settings",
            "code",
        )
    await store.close()


async def test_an_event_that_nobody_can_read_keeps_no_store_from_being_brought_up_to_date(
    old: Path,
) -> None:
    with changed_file(old) as file:
        file.execute(
            "UPDATE events SET body = x'00' WHERE query_id = 'old1' AND kind = 'query_received'"
        )

    store = SqliteTraceStore.open(old)

    assert [
        line.query_id for line in await store.list(where=TraceFilter(text="pears"))
    ] == ["old2"]
    with pytest.raises(DecodeError, match="trace old1, seq 1"):
        await store.read("old1")
    await store.close()


async def test_a_number_that_json_could_not_say_is_read_as_nothing(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.append(
        "q1",
        0,
        placed(
            "q1",
            [query_received(), tool_succeeded("a passage"), *answered("a", "b")[1:]],
        ),
    )
    with changed_file(tmp_path) as file:
        part_rows(file)
        (body,) = file.execute("SELECT body FROM events WHERE seq = 2").fetchone()
        event = msgspec.json.decode(body) | {"duration_ms": None}
        event["passages"][0]["score"] = None
        file.execute(
            "UPDATE events SET body = ? WHERE seq = 2", (msgspec.json.encode(event),)
        )

    found = (await store.read("q1"))[1].event

    assert isinstance(found, ToolSucceeded)
    assert (found.passages[0].score, found.duration_ms) == (0.0, 0.0)
    await store.close()


async def test_a_query_that_another_process_works_on_is_refused_no_matter_what_holds_the_lock(
    tmp_path: Path,
) -> None:
    store, other = SqliteTraceStore.open(tmp_path), SqliteTraceStore.open(tmp_path)
    await other.append("q1", 0, placed("q1", [query_received()]))

    with changed_file(tmp_path) as locking:
        locking.execute("BEGIN IMMEDIATE")
        with pytest.raises(TraceStateError, match="worked on by another process"):
            await store.take_over("q1")
        with pytest.raises(NotFoundError):
            await store.take_over("nowhere")

    await store.close()
    await other.close()


@pytest.mark.parametrize(
    "write",
    [
        lambda store: store.take_over("q1"),
        lambda store: store.open_conversation("s2"),
        lambda store: store.clear_conversation("s1"),
        lambda store: store.delete_conversation("s1"),
    ],
    ids=["take over", "open", "clear", "delete"],
)
async def test_every_write_waits_for_a_lock_that_is_held_for_a_moment(
    tmp_path: Path, write: Callable[[SqliteTraceStore], Awaitable[object]]
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    await store.open_conversation("s1")
    await store.append("q1", 0, placed("q1", [query_received()]))

    with changed_file(tmp_path) as locking:
        locking.execute("BEGIN IMMEDIATE")
        writing = asyncio.ensure_future(write(store))
        done, _ = await asyncio.wait([writing], timeout=0.1)
        locking.execute("ROLLBACK")
        await writing

    assert not done
    await store.close()


async def test_a_query_belongs_to_the_process_that_works_on_it_until_that_dies(
    tmp_path: Path,
) -> None:
    store, third = SqliteTraceStore.open(tmp_path), SqliteTraceStore.open(tmp_path)
    with start(WRITER, tmp_path) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        assert await store.unfinished() == []
        with pytest.raises(TraceError, match="worked on by another process"):
            await store.take_over("q1")
        writer.send_signal(signal.SIGKILL)
        writer.wait()

    assert await store.unfinished() == await third.unfinished() == ["q1"]
    await store.take_over("q1")
    assert await third.unfinished() == []
    with pytest.raises(TraceError, match="worked on by another process"):
        await third.take_over("q1")
    seq = len(await store.read("q1"))
    await store.append(
        "q1", seq, placed("q1", [QueryClosed(status="answered")], after=seq, at=4e9)
    )
    with pytest.raises(TraceError, match="over \\(answered\\)"):
        await third.take_over("q1")
    with pytest.raises(NotFoundError):
        await third.take_over("nowhere")
    await store.close()
    await third.close()
    assert os.listdir(tmp_path) == [FILE_NAME]


def _full(at: House) -> Callable[[], object]:
    connection = at.store._writer._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    return lambda: connection.execute("PRAGMA max_page_count = 1000000")


def _read_only(at: House) -> Callable[[], object]:
    connection = at.store._writer._connection
    connection.execute("PRAGMA query_only = ON")
    return lambda: connection.execute("PRAGMA query_only = OFF")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_full, "the disk is full; free some space"),
        (_read_only, "it may not be written"),
    ],
)
async def test_the_answer_says_that_the_store_takes_no_more_and_later_queries_are_stored_again(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[House], Callable[[], object]],
    why: str,
) -> None:
    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        before = await _ask(caller)
        mend = spoil(at)

        during = await _ask(caller)
        listed = await caller.get("/api/traces")
        unstored = await caller.get(f"/api/traces/{during.query_id}")
        assert f"the trace store cannot be written: {why}" in capsys.readouterr().out
        mend()
        after = await _ask(caller)

        assert [answer.text for answer in (before, during, after)] == [
            "Logs grow at their ends."
        ] * 3
        assert "trace_incomplete" in during.doubts
        assert "trace_incomplete" not in before.doubts + after.doubts
        assert before.query_id in [line["query_id"] for line in listed.json()["traces"]]
        assert unstored.status_code in (
            200,
            404,
        )  # its first events may have found room
        stored = await at.store.read(after.query_id)
        assert replay(stored).divergence is None
        assert not any(isinstance(said.event, RecordingFailed) for said in stored)


async def test_a_file_that_may_not_grow_is_like_a_full_disk(tmp_path: Path) -> None:
    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        await at.store.append(
            "big", 0, placed("big", [query_received(), tool_succeeded("y" * 1_000_000)])
        )

        with file_size_limit(200_000):
            during = await _ask(caller)
        after = await _ask(caller)

        assert "trace_incomplete" in during.doubts
        assert "trace_incomplete" not in after.doubts
        assert replay(await at.store.read(after.query_id)).divergence is None


async def test_a_file_that_is_damaged_under_the_service_is_named_and_questions_are_still_answered(
    tmp_path: Path,
) -> None:
    store = SqliteTraceStore.open(tmp_path)
    for number in range(50):
        await store.append(
            f"q{number}",
            0,
            placed(f"q{number}", [query_received(), tool_succeeded("z" * 5_000)]),
        )
    await store.close()
    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        size = (tmp_path / FILE_NAME).stat().st_size
        with (tmp_path / FILE_NAME).open("r+b") as file:
            file.seek(4_096)
            file.write(os.urandom(size - 4_096))

        answer = await _ask(caller)
        listed = await caller.get("/api/traces")
        read = await caller.get("/api/traces/q7")

        assert answer.text == "Logs grow at their ends."
        assert "trace_incomplete" in answer.doubts
        for refused in (listed, read):
            assert refused.status_code == 503
            assert "damaged" in refused.json()["error"]["message"]
            assert str(tmp_path) not in refused.text


def _caller(at: House) -> httpx2.AsyncClient:
    """A caller of the REST API over the service."""

    app = create_app(Settings.model_construct(allowed_hosts="*"))
    app.state.service = at.service
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url="http://localhost"
    )


class Answer(NamedTuple):
    """What a caller got."""

    query_id: str
    text: str
    doubts: list[str]


async def _ask(caller: httpx2.AsyncClient) -> Answer:
    replied = await caller.post("/api/query", json={"query": "How do logs grow?"})
    assert replied.status_code == 200, replied.text
    body = replied.json()
    return Answer(
        body["query_id"],
        body["answer"],
        [doubt["kind"] for doubt in body["uncertainty"]["indicators"]],
    )


def _delete_folder(folder: Path) -> None:
    shutil.rmtree(folder)


def _delete_file(folder: Path) -> None:
    for path in folder.glob(f"{FILE_NAME}*"):
        path.unlink()


def _move_folder(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


def _begin_another(folder: Path) -> None:
    _delete_file(folder)
    sqlite3.connect(folder / FILE_NAME).close()


@pytest.mark.parametrize(
    "lose", [_delete_folder, _delete_file, _move_folder, _begin_another]
)
async def test_a_service_notices_at_once_that_its_store_was_taken_away(
    tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    folder = tmp_path / "data"
    store = SqliteTraceStore.open(folder)
    await store.append("q1", 0, placed("q1", answered("a", "b")))

    lose(folder)

    for use in (
        store.append("q2", 0, placed("q2", answered("a", "b"))),
        store.read("q1"),
        store.list(),
        store.open_conversation("s2"),
        store.delete(["q1"]),
    ):
        with pytest.raises(
            TraceError, match="was deleted or moved while it was in use"
        ):
            await use
    await store.close()
    left = [path.stat().st_size for path in folder.glob(f"{FILE_NAME}*")]
    assert sum(left) == 0


async def test_an_answer_says_that_its_trace_goes_nowhere(tmp_path: Path) -> None:
    async with house(tmp_path / "data", SCRIPT) as small:
        before = await small.service.ask(Question(query="How do logs grow?"))
        shutil.rmtree(tmp_path / "data")

        after = await small.service.ask(Question(query="How do logs grow?"))

    kinds = [indicator.kind for indicator in after.response.indicators]
    assert "trace_incomplete" in kinds
    assert "trace_incomplete" not in [
        indicator.kind for indicator in before.response.indicators
    ]
