"""Versions of a question: each follows what the first one followed, over real HTTP, in each kind of store."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from antiphon.vocabulary.errors import NotFoundError
from antiphon.vocabulary.events import Event, QueryReceived
from antiphon.vocabulary.ports import WholeTraceStore
from tests.story import answered, placed, query_received
from tests.tenants import site
from tests.trace_stores import kind, nats_url, store

__all__ = ["kind", "nats_url", "store"]


async def ask(client: httpx2.AsyncClient, query: str, **more: object) -> dict[str, Any]:
    reply = await client.post("/api/query", json={"query": query} | more)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


async def read(client: httpx2.AsyncClient, session_id: str, more: str = "") -> Any:
    reply = await client.get(f"/api/conversations/{session_id}{more}")
    assert reply.status_code == 200, reply.text
    return reply.json()


async def told(client: httpx2.AsyncClient, query_id: str) -> list[str]:
    """The questions that a query got as its conversation."""
    trace = (await client.get(f"/api/traces/{query_id}")).json()
    return [each["question"] for each in trace["events"][0]["event"]["history"]]


def questions(conversation: Any) -> list[str]:
    return [each["query"] for each in reversed(conversation["traces"])]


async def test_a_version_streams_takes_its_place_and_is_what_the_next_question_follows(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme, reader = at.tenant("acme"), at.tenant("acme", "ask")
        first = await ask(reader, "What is recall?")
        session = {"session_id": first["session_id"]}
        second = await ask(reader, "And precision?", **session)

        body = {"query": "And accuracy?", "follows": first["query_id"]} | session
        stream = await reader.post(
            "/api/query", json=body, headers={"accept": "text/event-stream"}
        )

        events = stream.text.split("\n\n")
        assert events[0].startswith("event: query_received")
        version = json.loads(events[-2].partition("data: ")[2])
        assert version["session_id"] == first["session_id"]
        assert await told(acme, version["query_id"]) == ["What is recall?"]
        assert (await acme.post(f"/api/traces/{version['query_id']}/replay")).json()[
            "divergence"
        ] is None

        conversation = await read(reader, first["session_id"])
        assert questions(conversation) == ["What is recall?", "And accuracy?"]
        newest = conversation["traces"][0]
        assert newest["versions"] == [second["query_id"], version["query_id"]]
        assert newest["follows"] == first["query_id"]

        third = await ask(reader, "Why?", **session)
        assert await told(acme, third["query_id"]) == [
            "What is recall?",
            "And accuracy?",
        ]
        other = await ask(reader, "How?", follows=second["query_id"], **session)
        assert await told(acme, other["query_id"]) == [
            "What is recall?",
            "And precision?",
        ]
        for through, shown in (
            ("", ["What is recall?", "And precision?", "How?"]),
            (version["query_id"], ["What is recall?", "And accuracy?", "Why?"]),
        ):
            more = f"?through={through}" if through else ""
            read_back = await read(reader, first["session_id"], more)
            assert questions(read_back) == shown
            said = [each["question"] for each in read_back["exchanges"]]
            assert said == shown


async def test_a_version_of_the_first_question_starts_the_conversation_over(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme")
        first = await ask(acme, "What is recall?")
        session = {"session_id": first["session_id"]}
        await ask(acme, "And precision?", **session)

        version = await ask(acme, "What is BM25?", follows="", **session)

        assert await told(acme, version["query_id"]) == []
        conversation = await read(acme, first["session_id"])
        assert questions(conversation) == ["What is BM25?"]
        assert conversation["traces"][0]["follows"] is None
        path = f"/api/conversations/{first['session_id']}"
        assert (await acme.delete(path)).json() == {"deleted": 3}
        assert (await acme.get("/api/traces")).json()["traces"] == []


async def test_a_question_follows_only_what_is_in_the_conversation(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        mine = await ask(acme, "What is recall?")
        elsewhere = await ask(acme, "What is BM25?")
        theirs = await ask(other, "What is secret?")
        session = {"session_id": mine["session_id"]}

        for follows in (elsewhere["query_id"], theirs["query_id"], "q-unknown"):
            body = {"query": "Why?", "follows": follows} | session
            reply = await acme.post("/api/query", json=body)
            assert reply.status_code == 404, reply.text
            path = f"/api/conversations/{mine['session_id']}?through={follows}"
            assert (await acme.get(path)).status_code == 404
        alone = {"query": "Why?", "follows": mine["query_id"]}
        reply = await acme.post("/api/query", json=alone)

        assert reply.status_code == 422
        assert "session_id" in reply.text
        assert questions(await read(acme, mine["session_id"])) == ["What is recall?"]


async def test_versions_are_counted_like_any_question(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme", requests=2)
        first = await ask(acme, "What is recall?")
        session = {"session_id": first["session_id"], "follows": ""}
        await ask(acme, "What is precision?", **session)

        refused = await acme.post("/api/query", json={"query": "And?"} | session)

        assert refused.status_code == 429


def version(query: str, answer: str, follows: str) -> list[Event]:
    first, *rest = answered(query, answer)
    assert isinstance(first, QueryReceived)
    return [replace(first, follows=follows), *rest]


async def test_each_store_lists_the_exchanges_on_the_way_to_a_question(
    store: WholeTraceStore,
) -> None:
    await store.append("q1", 0, placed("q1", answered("one", "1")))
    await store.append("q2", 0, placed("q2", answered("two", "2")))
    await store.append("q2b", 0, placed("q2b", version("two", "other", "q1")))
    await store.append("q3", 0, placed("q3", [query_received("three")]))

    for follows, told_of in (
        (None, ["1", "other"]),
        ("q3", ["1", "other"]),
        ("q2", ["1", "2"]),
        ("q1", ["1"]),
        ("", []),
    ):
        found = await store.exchanges("s1", 9, follows)
        assert [each.answer for each in found] == told_of
    assert [each.answer for each in await store.exchanges("s1", 1, "q2")] == ["2"]
    with pytest.raises(NotFoundError):
        await store.exchanges("s1", 9, "q9")

    await store.delete(["q1"])
    path = await store.path("s1", "q2")
    assert [each.query_id for each in path] == ["q2", "q2b", "q3"]
    await store.clear_conversation("s1")
    await store.append("q4", 0, placed("q4", answered("four", "4")))
    assert [each.answer for each in await store.exchanges("s1", 9)] == ["4"]


async def test_the_duration_of_a_fork_is_the_same_in_every_reply(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme")
        parent = (await ask(acme, "What is recall?"))["query_id"]
        path = f"/api/traces/{parent}"

        change = {"kind": "set", "name": "query", "value": "What is precision?"}
        fork = await acme.post(f"{path}/fork", json={"at": 1, "change": change})

        query_id = fork.json()["query_id"]
        said = fork.json()["answer"]["duration_ms"]
        again = (await acme.get(f"/api/traces/{query_id}/answer")).json()
        [line, _] = (await acme.get("/api/traces")).json()["traces"]
        diff = (await acme.get(f"{path}/diff/{query_id}")).json()
    assert again["duration_ms"] == said
    assert round(line["duration_ms"], 1) == said
    assert round(diff["right"]["duration_ms"], 1) == said
