"""Keys that callers write into texts: no door lets one through to a file, a reply, a log or the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from structlog.testing import capture_logs

from antiphon.traces import file_of_lines
from antiphon.vocabulary.access import without_keys
from tests.tenants import Site, site

SSE = {"accept": "text/event-stream"}
BOTH = {"accept": "application/json, text/event-stream"}


async def look(what: str) -> str:
    """Finds something.

    Args:
        what: What to look for.
    """
    return f"{what} is good where exact words matter."


SCRIPT = {
    "replies": [
        {"text": "", "calls": [{"name": "look", "input": {"what": "it"}}]},
        {"text": "It is good."},
    ],
    "then": "last",
}


def _seen(at: Site) -> str:
    """Returns everything that is stored in the folder, and all requests to the model."""
    files = [path for path in at.house.folder.rglob("*") if path.is_file()]
    stored = b"".join(path.read_bytes() for path in files)
    return stored.decode(errors="replace") + at.house.sent()


async def _listed(client: httpx2.AsyncClient, session_id: str) -> list[str]:
    """Returns everything that a caller can read of the traces."""
    texts = [
        (await client.get("/api/traces")).text,
        (await client.get("/api/question-sets")).text,
        (await client.get("/api/queries")).text,
        (await client.get(f"/api/conversations/{session_id}")).text,
    ]
    for trace in (await client.get("/api/traces")).json()["traces"]:
        for part in ("", "/export", "/lineage", "/briefings", "/answer", "/events"):
            reply = await client.get(f"/api/traces/{trace['query_id']}{part}")
            texts.append(reply.text)
    return texts


async def _imported(
    client: httpx2.AsyncClient, exported: bytes, old: str, new: str
) -> httpx2.Response:
    """Imports a trace with a text or a name replaced."""
    changed = exported.decode().replace(old, new)
    assert old in exported.decode()
    head, *lines = changed.encode().splitlines()
    return await client.post(
        "/api/traces/import",
        content=file_of_lines(json.loads(head)["query_id"], lines),
        headers={"content-type": "application/x-ndjson"},
    )


async def _saved(client: httpx2.AsyncClient, written: str) -> list[httpx2.Response]:
    """Saves sets of questions with keys in every field."""
    question = {"question": written, "earlier": [written], "note": written}
    both = {written[:100]: written[:200]}
    asked_with = {"of": "s1", "left": both, "right": both}
    bodies: list[dict[str, object]] = [
        {"questions": [question | {"id": written[:100]}], "comparison": asked_with},
        {"questions": [question | {"left": written}]},
        {"questions": [question | {"right": written}]},
        {"questions": [question], "comparison": asked_with | {"of": written[:64]}},
    ]
    replies: list[httpx2.Response] = []
    for body in bodies:
        body["name"] = written[:70]
        replies.append(await client.put("/api/question-sets/s1", json=body))
    assert [reply.status_code for reply in replies] == [200, 422, 422, 422]
    return replies


async def _by_the_door(
    client: httpx2.AsyncClient, written: str
) -> list[httpx2.Response]:
    """Asks as clients of OpenAI's API do, with an earlier conversation and for a title; and calls tools over MCP."""
    said = {"role": "assistant", "content": written}
    asked = {"role": "user", "content": written}
    title = (
        f'### Task:\n{{"title": ""}}<chat_history>\nUSER: {" ".join(written.split())}'
    )
    replies: list[httpx2.Response] = []
    for messages in ([asked, said, asked], [{"role": "user", "content": title}]):
        body = {"model": "antiphon", "messages": messages}
        replies.append(await client.post("/v1/chat/completions", json=body))
    body = {"model": "antiphon", "input": written}
    replies.append(await client.post("/v1/responses", json=body))
    for tool, sent in (("ask", "question"), ("fetch", "id"), (written, "")):
        params = {"name": tool, "arguments": {sent: written}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        replies.append(await client.post("/mcp", json=call, headers=BOTH))
    assert {reply.status_code for reply in replies} == {200}
    return replies


def _wrapped(key: str) -> str:
    """Returns a key as a mail program wraps it."""
    return f"{key[:9]}\r\n{key[9:40]}\n  {key[40:]}"


SPELLINGS: list[Callable[[str], str]] = [str, str.upper, str.title, _wrapped]


@pytest.mark.parametrize("spelled", SPELLINGS)
async def test_a_key_in_a_text_is_neither_stored_shown_logged_nor_sent_to_the_model(
    tmp_path: Path, spelled: Callable[[str], str]
) -> None:
    async with site(tmp_path, look, script=SCRIPT, doors="openai,mcp") as at:
        own, others = at.key("acme"), at.key("other")
        client = at.client(own)
        written = f"{spelled(own)} or {spelled(others)}"
        question = {"query": f"What opens {written}, and what is BM25?"}
        plan = {"faults": [{"point": f"tool.{own}", "kind": "raise"}], "scenario": own}
        with capture_logs() as lines:
            first = await client.post("/api/query", json=question)
            answer = first.json()
            follow = question | {"session_id": answer["session_id"]}
            replies = [
                first,
                await client.post("/api/query", json=follow, headers=SSE),
                await client.post("/api/query", json=question | {"session_id": own}),
                await client.post("/api/clear-session", json={"session_id": own}),
                await client.post("/api/query", json={own: 1, "query": "What?"}),
                await client.post(
                    "/api/query", json=question, headers={"idempotency-key": own}
                ),
                await client.post("/api/queries", json=question),
                await client.post("/api/query", json=question | {"faults": plan}),
            ]
            fork = f"/api/traces/{answer['query_id']}/fork"
            for change in (
                {"kind": "set", "name": "query", "value": f"Is {written} a key?"},
                {"kind": "reply", "name": "", "value": f"Ask {written}."},
                {"kind": "setting", "name": own, "value": written},
                {"kind": "drop", "name": own, "value": ""},
            ):
                for event in (1, 2):
                    body = {"at": event, "change": change}
                    replies.append(await client.post(fork, json=body))
                    replies.append(await client.post(f"{fork}/plan", json=body))
            replies += [
                *await _saved(client, written),
                *await _by_the_door(client, written),
                await client.post("/api/formulas", json={"text": f"${written}$"}),
            ]
            query_id = answer["query_id"]
            exported = (await client.get(f"/api/traces/{query_id}/export")).content
            replies += [
                await _imported(client, exported, old, new)
                for old, new in (
                    ("exact words", json.dumps(written)[1:-1]),
                    (query_id, own),
                    (answer["session_id"], own),
                    ('"look"', f'"{own}"'),
                )
            ]
            listed = await _listed(client, answer["session_id"])
        seen = _seen(at)

    shown = seen + "".join(listed) + str(lines)
    shown += "".join(reply.text for reply in replies)
    assert first.status_code == 200
    # The service redacts a key in a text, and refuses one as a name.
    assert [reply.status_code for reply in replies[-4:]] == [201, 422, 422, 422]
    for key in (own, others):
        # A piece of the key would appear in any leak, even in one with other line breaks.
        for piece in (key[20:32], key[44:56]):
            assert piece.lower() not in shown.lower()


async def test_words_around_a_key_stay_as_they_are(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        key = at.key("acme")
        asked = {"query": f"The key {key} is mine, and what is BM25?"}
        client = at.client(key)
        await client.post("/api/query", json=asked)
        [trace] = (await client.get("/api/traces")).json()["traces"]

    assert trace["query"] == f"The key {'█' * len(key)} is mine, and what is BM25?"


async def test_redaction_takes_a_key_even_before_the_service_has_made_any(
    tmp_path: Path,
) -> None:
    # It may be the key of another such service.
    key = "ant_0123456789ab_" + "xY3-" * 10 + "xyz"
    async with site(tmp_path) as at:
        await at.client().post("/api/query", json={"query": f"What is {key}?"})
        seen = _seen(at)

    assert key[17:] not in seen


def test_a_text_that_only_looks_like_the_beginning_of_a_key_stays() -> None:
    for text in (
        "an ant_hill",
        "relevant_0123456789ab is a name",
        "Do keys begin with ant_0123456789ab_?",
    ):
        assert without_keys(text) == text
