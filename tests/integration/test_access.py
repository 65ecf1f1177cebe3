"""Keys over real HTTP: whom the service lets in, by what, and until when; and that it never reveals a key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi import FastAPI
from structlog.testing import capture_logs

from antiphon.api.door import GuardedRoute, guarded_routes
from antiphon.vocabulary.access import without_keys
from tests.tenants import QUESTION, Site, site

COURSES = "/api/courses"


async def _status(at: Site, key: str | None) -> int:
    return (await at.client(key).get(COURSES)).status_code


async def test_without_any_key_everybody_on_this_machine_may_do_everything(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        answer = await at.client().post("/api/query", json=QUESTION)
        listed = await at.client().get("/api/traces")
        schema = await at.client().get("/openapi.json")

    assert answer.status_code == 200
    assert len(listed.json()["traces"]) == 1
    assert "security" not in schema.text
    assert not (tmp_path / "access.sqlite").exists()


async def test_the_first_key_closes_a_running_service_to_those_without_one(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        before = await _status(at, None)
        key = at.key("acme", "ask")
        after = await at.client().get(COURSES)
        let_in = await _status(at, key)
        healthy = await at.client().get("/healthz")
        page = await at.client().get("/")

    assert (before, after.status_code, let_in) == (200, 401, 200)
    assert after.headers["www-authenticate"].startswith("Bearer")
    assert "antiphon keys add" in after.json()["error"]["message"]
    assert (healthy.status_code, page.status_code) == (200, 200)


async def test_the_service_takes_a_key_from_either_header_and_from_nowhere_else(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        key, other = at.key("acme"), at.key("acme")
        secret = key.split("_", 2)[2]
        sent = {
            "bearer": {"authorization": f"bearer {key}"},
            "plain": {"x-api-key": key},
            "both": {"authorization": f"Bearer {key}", "x-api-key": key},
            "two": {"authorization": f"Bearer {key}", "x-api-key": "another"},
            "two, the first wrong": {"authorization": "Bearer x", "x-api-key": key},
            "basic": {"authorization": f"Basic {key}"},
            "bare": {"authorization": key},
            "cookie": {"cookie": f"key={key}"},
            "cut": {"x-api-key": key[:-1]},
            "longer": {"x-api-key": f"{key}a"},
            "secret": {"x-api-key": secret},
            "other id": {"x-api-key": f"{other[:16]}_{secret}"},
            "nothing": {"x-api-key": "ant__"},
            "injection": {"x-api-key": "ant_' OR 1=1 --_x"},
            "bytes": {"x-api-key": "ant_\xff_\xff"},
        }
        found = {}
        for name, headers in sent.items():
            raw = [(k.encode(), v.encode("latin-1")) for k, v in headers.items()]
            reply = await at.client().get(COURSES, headers=raw)
            found[name] = reply.status_code

    good = ("bearer", "plain", "both", "two")
    assert found == {name: 200 if name in good else 401 for name in sent}


async def test_a_running_service_refuses_expired_revoked_and_rotated_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with site(tmp_path) as at:
        short = at.key("acme", expires_s=3_600.0)
        gone = at.key("acme")
        kept, info = at.keys.add("kept", "acme", ["ask"])
        at_once, swapped = at.keys.add("swapped", "acme", ["ask"])
        before = [await _status(at, each) for each in (short, gone, kept, at_once)]

        at.keys.revoke(gone.split("_")[1])
        in_time, _ = at.keys.rotate(info.key_id, old_for_s=3_600.0)
        instead, _ = at.keys.rotate(swapped.key_id)
        between = [await _status(at, each) for each in (gone, kept, in_time, at_once)]
        # An hour passes.
        with at.file.transaction() as connection:
            connection.execute(
                "UPDATE keys SET expires_at = expires_at - 3600, old_until = old_until - 3600"
            )
        after = {
            name: (await at.client(key).get(COURSES))
            for name, key in (
                ("expired", short),
                ("rotated", kept),
                ("revoked", gone),
                ("new", in_time),
                ("instead", instead),
            )
        }

    assert before == [200, 200, 200, 200]
    assert between == [401, 200, 200, 401]
    assert {name: reply.status_code for name, reply in after.items()} == {
        "expired": 401,
        "rotated": 401,
        "revoked": 401,
        "new": 200,
        "instead": 200,
    }
    for word in ("expired", "rotated", "revoked"):
        assert word in after[word].json()["error"]["message"]


async def test_revoking_the_last_key_closes_the_service_and_does_not_open_it(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        key = at.key("acme")
        at.keys.revoke(key.split("_")[1])

        assert await _status(at, None) == 401
        assert await _status(at, key) == 401


async def test_the_service_checks_the_key_before_it_reads_any_of_the_body(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        at.key("acme")
        malformed = await at.client().post(
            "/api/query", content=b"{", headers={"content-type": "application/json"}
        )
        file = await at.client().post(
            "/api/documents", files={"files": ("a.txt", b"x" * 2_000_000)}
        )

    assert (malformed.status_code, file.status_code) == (401, 401)
    assert not (tmp_path / ".incoming").exists()


@pytest.mark.parametrize("asks_for_keys", [True, False])
async def test_a_key_in_the_address_is_refused_and_not_repeated(
    tmp_path: Path, asks_for_keys: bool
) -> None:
    async with site(tmp_path) as at:
        key = "ant_0123456789ab_" + "x" * 43
        if asks_for_keys:
            key = at.key("acme")
        with capture_logs() as lines:
            replies = [
                await at.client().get(f"{COURSES}?api_key={key}"),
                await at.client().get(f"{COURSES}?api_key={key.replace('_', '%5F')}"),
                await at.client(None).get(f"/api/traces/{key}"),
            ]

    assert [each.status_code for each in replies] == [400, 400, 400]
    assert replies[0].json()["error"]["code"] == "key_in_address"
    assert key not in str(lines)
    assert all(key not in reply.text for reply in replies)


async def test_no_log_answer_trace_or_file_contains_a_key(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        key = at.key("acme")
        client = at.client(key)
        with capture_logs() as lines:
            asked = await client.post("/api/query", json=QUESTION)
            texts = [asked.text]
            query_id = asked.json()["query_id"]
            for path in (
                f"/api/traces/{query_id}",
                f"/api/traces/{query_id}/export",
                "/api/traces",
                "/api/usage",
                "/api/nothing",
                "/openapi.json",
            ):
                texts.append((await client.get(path)).text)
            refused = await client.post("/api/query", json={"query": ""})
            texts.append(refused.text)
        files = at.house.stored()

    secret = key.split("_", 2)[2]
    assert {line.get("key_id") for line in lines if line["event"] == "request"} >= {
        key.split("_")[1]
    }
    assert secret not in json.dumps(lines, default=str)
    assert all(secret not in text for text in texts)
    assert secret.encode() not in files


def test_every_line_of_the_log_redacts_keys() -> None:
    key = "ant_0123456789ab_" + "aZ-_" * 10

    assert without_keys(f"GET /x?k={key}&y=1") == "GET /x?k=ant_…&y=1"
    assert without_keys("an ant_hill") == "an ant_hill"


async def test_a_refusal_names_the_scope_that_the_operation_takes(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        asking = at.tenant("acme", "ask")
        listed = await asking.get("/api/traces")
        answer = (await asking.post("/api/query", json=QUESTION)).json()
        debugging = at.tenant("acme", "debug")
        fork = {"at": 1, "mode": "live"}
        forked = await debugging.post(
            f"/api/traces/{answer['query_id']}/fork", json=fork
        )
        planned = await debugging.post(
            f"/api/traces/{answer['query_id']}/fork/plan", json=fork
        )
        broken = await asking.post("/api/query", json=QUESTION | {"faults": {}})

    assert listed.status_code == 403
    assert "`debug`" in listed.json()["error"]["message"]
    assert [each.status_code for each in (forked, planned)] == [403, 403]
    assert "`live`" in forked.json()["error"]["message"]
    assert broken.status_code == 403
    assert "`faults`" in broken.json()["error"]["message"]


async def test_the_schema_says_which_operations_need_a_key(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        at.key("acme")
    # It is made when the service starts.
    async with site(tmp_path) as at:
        schema = (await at.client().get("/openapi.json")).json()

    assert set(schema["components"]["securitySchemes"]) == {"bearer", "x-api-key"}
    assert "security" not in schema["paths"]["/healthz"]["get"]
    assert schema["paths"]["/api/query"]["post"]["security"] == [
        {"bearer": ["ask"]},
        {"x-api-key": ["ask"]},
    ]


async def test_callers_without_keys_may_do_what_the_settings_say_and_no_more(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, anybody_may="ask") as at:
        asked = await at.client().post("/api/query", json=QUESTION)
        read = await at.client().get("/api/traces")

    assert (asked.status_code, read.status_code) == (200, 403)
    assert "`debug`" in read.json()["error"]["message"]


def test_a_route_that_does_not_say_what_its_callers_need_cannot_be_added() -> None:
    async def nothing() -> None: ...

    app = FastAPI()
    app.get("/open")(nothing)

    with pytest.raises(TypeError, match="does not say what its callers need"):
        GuardedRoute("/api/x", nothing)
    with pytest.raises(TypeError, match="/open is not behind the door"):
        guarded_routes(app)
