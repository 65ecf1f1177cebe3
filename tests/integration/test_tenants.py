"""Two tenants over real HTTP: neither sees, changes or even learns of what is the other's."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.api import create_app
from antiphon.api.door import guarded_routes
from antiphon.service import load_settings
from antiphon.vocabulary.errors import TraceError
from tests.tenants import QUESTION, interrupted, site
from tests.unit.api.calling import events_in

ABSENT = "f" * 32
BODIES: dict[str, Any] = {
    "/api/traces/{query_id}/fork": {"at": 1, "mode": "live"},
    "/api/traces/{query_id}/fork/plan": {"at": 1},
    "/api/clear-session": {"session_id": "{session_id}"},
    "/api/traces/{query_id}/feedback": {"rating": "down"},
    "/api/conversations/{session_id}": {"title": "Mine"},
}
QUERIES = {
    "/api/traces/{query_id}/event": "?at=1",
    "/api/traces/{query_id}/fault": "?at=1",
}
ROUTES = [
    (method, path)
    for method, path, _ in guarded_routes(create_app(load_settings()))
    if "query_id" in path or "session_id" in path
    if not path.startswith("/api/faults")
]


async def _asked(client: httpx2.AsyncClient, **more: object) -> dict[str, Any]:
    reply = await client.post("/api/query", json=QUESTION | more)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


async def _called(
    client: httpx2.AsyncClient, method: str, path: str, ids: dict[str, str]
) -> tuple[int, str]:
    """The answer to a call, with the ids that it names left out of it."""
    at = path.format(**ids) + QUERIES.get(path, "")
    body = None
    if path in BODIES and method in ("POST", "PUT", "PATCH"):
        body = json.loads(
            json.dumps(BODIES[path]).replace("{session_id}", ids["session_id"])
        )
    reply = await client.request(method, at, json=body)
    text = reply.text
    for each in sorted(set(ids.values()), key=len, reverse=True):
        text = text.replace(each, "ID")
    return reply.status_code, text


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_another_tenants_data_gets_the_same_reply_as_data_that_does_not_exist(
    tmp_path: Path, method: str, path: str
) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        theirs = await _asked(acme)
        mine = await _asked(other)
        ids = {"query_id": theirs["query_id"], "session_id": theirs["session_id"]}
        absent = {"query_id": ABSENT, "session_id": ABSENT}
        short = {"query_id": theirs["query_id"][:14], "session_id": "-"}
        own = mine["query_id"]

        foreign = await _called(other, method, path, ids | {"other_id": own})
        nothing = await _called(other, method, path, absent | {"other_id": own})
        begun = await _called(other, method, path, short | {"other_id": own})
        cut = {"query_id": ABSENT[:14], "session_id": "-"}
        begun_nothing = await _called(other, method, path, cut | {"other_id": own})
        still = await acme.get(f"/api/traces/{theirs['query_id']}")

    # To the last word: a reply that differed would reveal that the id exists.
    assert foreign == nothing
    assert foreign[0] == 404
    assert begun == begun_nothing
    assert still.status_code == 200


async def test_no_listing_names_another_tenants_data(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        first = await _asked(acme)
        second = await _asked(acme, session_id=first["session_id"])
        own = await _asked(other)
        ids = (first["query_id"], second["query_id"])
        paths = [
            "/api/traces",
            "/api/traces?text=BM25",
            "/api/traces?status=answered&confidence=low",
            f"/api/traces?session_id={first['session_id']}",
            "/api/traces?indicator=general_knowledge",
            "/api/queries",
            "/api/usage",
            "/metrics",
        ]
        texts = [(await other.get(path)).text for path in paths]
        page = await other.get(f"/api/traces?after_id={first['query_id']}")
        forks = await other.get(f"/api/traces?parent={first['query_id']}")
        listed = (await acme.get("/api/traces")).json()["traces"]

    for text in texts:
        assert not any(each in text or each[:12] in text for each in ids)
        assert first["session_id"] not in text
    assert own["query_id"] in texts[0]
    assert (page.status_code, forks.status_code) == (404, 404)
    assert {each["query_id"] for each in listed} == set(ids)


async def test_two_keys_of_a_tenant_share_its_data(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        asked = await _asked(at.tenant("acme", "ask"))
        read = await at.tenant("acme", "debug").get(f"/api/traces/{asked['query_id']}")

    assert read.status_code == 200


async def test_only_its_tenant_continues_a_conversation(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        first = await _asked(acme)
        named = {"session_id": first["session_id"]}
        joined = await other.post("/api/query", json=QUESTION | named)
        guessed = await other.post("/api/query", json=QUESTION | {"session_id": "x"})
        cleared = await other.post("/api/clear-session", json=named)
        read = await acme.get(f"/api/conversations/{first['session_id']}")

    assert joined.status_code == 404
    assert joined.text.replace(first["session_id"], "x") == guessed.text
    assert cleared.status_code == 404
    assert len(read.json()["exchanges"]) == 1


async def test_a_question_cannot_slip_into_anothers_conversation_while_the_store_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        first = await _asked(acme)
        named = {"session_id": first["session_id"]}

        async def away(*_: object) -> Any:
            raise TraceError("the store is away")

        with monkeypatch.context() as broken:
            broken.setattr(type(at.house.store), "exchanges", away)
            slipped = await other.post("/api/query", json=QUESTION | named)
        read = await acme.get(f"/api/conversations/{first['session_id']}")
        deleted = await acme.delete(f"/api/conversations/{first['session_id']}")
        kept = await other.get(f"/api/traces/{slipped.json()['query_id']}")

    assert slipped.status_code == 200
    assert len(read.json()["exchanges"]) == 1
    assert len(read.json()["traces"]) == 1
    assert deleted.json()["deleted"] == 1
    assert kept.status_code == 200


async def test_the_same_idempotency_key_is_another_for_each_tenant(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        name = {"idempotency-key": "same"}
        first = await acme.post("/api/query", json=QUESTION, headers=name)
        again = await acme.post("/api/query", json=QUESTION, headers=name)
        foreign = await other.post("/api/query", json=QUESTION, headers=name)
        changed = await other.post(
            "/api/query", json={"query": "What is TF?"}, headers=name
        )

    assert again.json()["query_id"] == first.json()["query_id"]
    assert foreign.json()["query_id"] != first.json()["query_id"]
    assert foreign.json()["session_id"] != first.json()["session_id"]
    assert changed.status_code == 409


async def test_only_its_tenant_sees_follows_and_cancels_a_query_under_way(
    tmp_path: Path,
) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def look(what: str) -> str:
        """Finds a passage.

        Args:
            what: What to look for.
        """
        began.set()
        await go_on.wait()
        return f"{what} is good."

    script = {
        "replies": [
            {"text": "I look.", "calls": [{"name": "look", "input": {"what": "x"}}]},
            {"text": "It is good."},
        ],
        "then": "last",
    }
    async with site(tmp_path, look, script=script) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        asking = asyncio.create_task(_asked(acme))
        await began.wait()
        [running] = (await acme.get("/api/queries")).json()["queries"]
        query_id = running["query_id"]
        seen = (await other.get("/api/queries")).json()["queries"]
        hidden = [
            await other.get(f"/api/traces/{query_id}/events"),
            await other.post(f"/api/queries/{query_id}/cancel"),
            await other.post(f"/api/queries/{query_id[:14]}/cancel"),
            await other.get(f"/api/traces/{query_id}/answer"),
        ]
        go_on.set()
        answer = await asking
        events = await acme.get(f"/api/traces/{query_id}/events")

    assert seen == []
    assert [each.status_code for each in hidden] == [404] * 4
    assert "query_received" not in "".join(each.text for each in hidden)
    assert answer["answer"] == "It is good."
    assert events_in(events.content)


async def test_a_fork_belongs_to_its_tenant(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        asked = await _asked(acme)
        at_event = {"at": 1, "mode": "live"}
        forked = await acme.post(f"/api/traces/{asked['query_id']}/fork", json=at_event)
        fork = forked.json()["query_id"]
        compared = f"/api/traces/{asked['query_id']}/diff/{fork}"
        own = [await acme.get(f"/api/traces/{fork}"), await acme.get(compared)]
        foreign = [await other.get(f"/api/traces/{fork}"), await other.get(compared)]

    assert [each.status_code for each in own] == [200, 200]
    assert [each.status_code for each in foreign] == [404, 404]


async def test_an_interrupted_query_goes_on_for_its_tenant(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        at.key("acme")
        await interrupted(at, "acme", "lost")
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        answer = await acme.get("/api/traces/lost/answer")
        hidden = await other.get("/api/traces/lost/answer")

    assert (answer.status_code, hidden.status_code) == (200, 404)


async def test_only_a_user_of_the_machine_sees_the_traces_of_all_tenants(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        await _asked(at.tenant("acme"))
        await _asked(at.tenant("local"))
        everything = await at.house.store.list()
        own = await at.tenant("local").get("/api/traces")

    assert len(everything) == 2
    assert len(own.json()["traces"]) == 1
