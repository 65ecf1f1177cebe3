"""What a reply acknowledges is stored before the reply is sent; what cannot be stored is refused, and not begun."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from antiphon.api import beginning, create_app
from antiphon.service import Settings
from antiphon.traces import STORE_FILE, SqliteTraceStore, trace_file
from tests.small_service import House, house
from tests.story import answered, placed

SCRIPT = {"replies": [{"text": "Logs grow at their ends."}], "then": "last"}
QUESTION = {"query": "How do logs grow?"}
JSON_LINES = {"Content-Type": "application/x-ndjson"}
KEYED = {"Idempotency-Key": "one"}
Mend = Callable[[], object]


def _full(at: House) -> Mend:
    connection = at.store._writer._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")
    return lambda: connection.execute("PRAGMA max_page_count = 1000000")


def _read_only(at: House) -> Mend:
    connection = at.store._writer._connection
    connection.execute("PRAGMA query_only = ON")
    return lambda: connection.execute("PRAGMA query_only = OFF")


def _locked(at: House) -> Mend:
    other = sqlite3.connect(at.folder / STORE_FILE, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    return other.close


TROUBLES = pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_full, "the disk is full; free some space"),
        (_read_only, "it may not be written"),
        (_locked, "another process"),
    ],
)


def _caller(at: House) -> httpx2.AsyncClient:
    app = create_app(Settings.model_construct(allowed_hosts="*"))
    app.state.service = at.service
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url="http://localhost"
    )


async def _post(
    caller: httpx2.AsyncClient, path: str, headers: dict[str, str]
) -> httpx2.Response:
    """Asks as a caller who retries after a 503: the store forgets a lock some tenths of a second after its end."""
    reply = await caller.post(path, json=QUESTION, headers=headers)
    async with asyncio.timeout(30):
        while reply.status_code == 503:
            await asyncio.sleep(0.05)
            reply = await caller.post(path, json=QUESTION, headers=headers)
    return reply


async def test_a_question_is_stored_when_its_202_comes(tmp_path: Path) -> None:
    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        begun = await caller.post("/api/queries", json=QUESTION)
        # As another process, or the same one after its death, would find it at this moment.
        with sqlite3.connect(tmp_path / STORE_FILE) as other:
            found = other.execute(
                "SELECT count(*) FROM events WHERE query_id = ?",
                (begun.json()["query_id"],),
            ).fetchone()

    assert begun.status_code == 202
    assert found == (1,)


@TROUBLES
@pytest.mark.parametrize(
    ("path", "headers"),
    [("/api/queries", {}), ("/api/queries", KEYED), ("/api/query", KEYED)],
    ids=["later", "later with a key", "waited for with a key"],
)
async def test_the_service_refuses_what_it_cannot_store_and_neither_begins_it_nor_leaves_any_of_it(
    tmp_path: Path,
    spoil: Callable[[House], Mend],
    why: str,
    path: str,
    headers: dict[str, str],
) -> None:
    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        mend = spoil(at)

        refused = await caller.post(path, json=QUESTION, headers=headers)
        asked = len(at.double.requests)
        running = at.service.running()
        mend()
        left = await at.store.list()
        again = await _post(caller, path, headers)
        query_id = again.json()["query_id"]
        answer = await caller.get(f"/api/traces/{query_id}/answer")

    error = refused.json()["error"]
    assert (refused.status_code, error["code"]) == (503, "trace")
    assert why in error["message"]
    assert "ask again" in error["message"]
    assert int(refused.headers["retry-after"]) > 0
    assert (asked, running, left) == (0, {}, [])
    assert again.status_code in (200, 202)
    assert answer.json()["answer"] == "Logs grow at their ends."


@TROUBLES
async def test_the_service_answers_a_caller_who_waits_without_a_key_though_it_can_store_nothing(
    tmp_path: Path, spoil: Callable[[House], Mend], why: str
) -> None:
    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        mend = spoil(at)

        answer = await caller.post("/api/query", json=QUESTION)
        ready = await caller.get("/readyz")
        mend()

    doubts = [each["kind"] for each in answer.json()["uncertainty"]["indicators"]]
    assert answer.status_code == 200
    assert "trace_incomplete" in doubts
    assert ready.status_code == 503
    assert why in " ".join(ready.json()["problems"])


@pytest.mark.parametrize(
    ("spoil", "why"),
    [(_read_only, "it may not be written"), (_locked, "another process")],
)
async def test_the_service_refuses_a_change_to_traces_that_it_cannot_store_and_says_when_to_retry(
    tmp_path: Path, spoil: Callable[[House], Mend], why: str
) -> None:
    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        await at.store.add(placed("old", answered("When?", "Then.")))
        await at.store.open_conversation("s1")
        file = placed("imported", answered("Where?", "Here."))
        mend = spoil(at)

        refused = [
            await caller.delete("/api/traces/old"),
            await caller.delete("/api/conversations/s1"),
            await caller.post("/api/clear-session", json={"session_id": "s1"}),
            await caller.post(
                "/api/traces/import", content=trace_file(file), headers=JSON_LINES
            ),
        ]
        mend()
        kept = await caller.get("/api/traces/old")

    assert kept.status_code == 200
    for reply in refused:
        assert reply.status_code == 503, reply.text
        assert why in reply.json()["error"]["message"]
        assert int(reply.headers["retry-after"]) > 0


async def test_a_caller_whose_answer_the_store_holds_up_gets_a_refusal_soon_after_the_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(beginning, "LATE_S", 0.1)
    held = asyncio.Event()

    async def hold(*_: object) -> list[str]:
        await held.wait()
        return []

    async with house(tmp_path, SCRIPT) as at, _caller(at) as caller:
        monkeypatch.setattr(SqliteTraceStore, "ids", hold)

        refused = await caller.post(
            "/api/query", json=QUESTION | {"deadline_s": 1.0}, headers=KEYED
        )
        held.set()

    assert refused.status_code == 503
    assert "within the deadline of 1 s" in refused.json()["error"]["message"]
    assert refused.headers["retry-after"] == "5"
