"""Feedback on answers and conversations that the service keeps, over real HTTP and SQLite, with two tenants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec.structs import replace

from antiphon.traces import files_holding
from tests.story import NOON, answered, placed
from tests.tenants import QUESTION, Site, site

NOTE = {"rating": "down", "note": "It names the wrong lesson."}


async def asked(client: httpx2.AsyncClient, **more: object) -> dict[str, Any]:
    reply = await client.post("/api/query", json=QUESTION | more)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


async def got(client: httpx2.AsyncClient, path: str) -> Any:
    reply = await client.get(path)
    assert reply.status_code == 200, reply.text
    return reply.json()


async def stored(at: Site, tenant: str, count: int, session_id: str) -> None:
    """Stores a conversation of so many answered questions."""
    store = at.house.store.seen_by(tenant)
    for number in range(count):
        query_id = f"{session_id}-q{number}"
        first, *rest = answered(f"Question {number}?", f"Answer {number}.")
        events = [replace(first, session_id=session_id), *rest]
        await store.append(query_id, 0, placed(query_id, events, at=NOON + number))


async def rated(client: httpx2.AsyncClient, rating: str) -> list[str]:
    found = await got(client, f"/api/traces?feedback={rating}")
    return [each["query_id"] for each in found["traces"]]


async def test_an_answer_is_judged_with_a_key_that_may_only_ask(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        reader, debugger = at.tenant("acme", "ask"), at.tenant("acme")
        query_id = (await asked(reader))["query_id"]
        path = f"/api/traces/{query_id}/feedback"

        given = await reader.put(path, json=NOTE)

        feedback = given.json()["feedback"]
        assert (feedback["rating"], feedback["note"]) == ("down", NOTE["note"])
        assert (await got(debugger, f"/api/traces/{query_id}"))["feedback"] == feedback
        line = (await got(debugger, "/api/traces?feedback=down"))["traces"][0]
        assert (line["query_id"], line["feedback"]) == (query_id, feedback)
        changed = await reader.put(path, json={"rating": "up"})
        assert changed.json()["feedback"]["note"] is None
        withdrawn = await reader.delete(path)
        assert withdrawn.json() == {"query_id": query_id, "feedback": None}
        assert await rated(debugger, "any") == []
        assert await rated(debugger, "none") == [query_id]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"rating": "best"}, 422),
        ({"note": "Why?"}, 422),
        ({"rating": "up", "note": "x" * 2_001}, 422),
        ({"rating": "up", "note": "x" * 2_000}, 200),
        ({"rating": "up", "note": "  "}, 200),
        ({"rating": "up", "notes": "x"}, 422),
        ({"rating": "up", "note": 5}, 422),
    ],
)
async def test_feedback_is_bounded_and_refused_with_what_is_wrong(
    tmp_path: Path, body: dict[str, object], status: int
) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme")
        query_id = (await asked(acme))["query_id"]

        reply = await acme.put(f"/api/traces/{query_id}/feedback", json=body)

        assert reply.status_code == status, reply.text
        assert (await acme.get("/api/traces?feedback=good")).status_code == 422
        assert await rated(acme, "any") == ([query_id] if status == 200 else [])


async def test_feedback_and_titles_outlive_a_restart_and_not_their_deletion(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme")
        answer = await asked(acme)
        query_id, session_id = answer["query_id"], answer["session_id"]
        await acme.put(f"/api/traces/{query_id}/feedback", json=NOTE)
        await acme.patch(f"/api/conversations/{session_id}", json={"title": "Ranking"})

    async with site(tmp_path) as at:
        acme = at.tenant("acme")
        assert await rated(acme, "down") == [query_id]
        (line,) = (await got(acme, "/api/conversations"))["conversations"]
        assert (line["title"], line["exchanges"]) == ("Ranking", 1)
        await acme.delete(f"/api/conversations/{session_id}")

        assert await rated(acme, "any") == []
        assert (await got(acme, "/api/conversations"))["conversations"] == []
        again = await acme.put(f"/api/traces/{query_id}/feedback", json=NOTE)
        assert again.status_code == 404
    assert files_holding(tmp_path, ["wrong lesson", "Ranking"]) == {}


async def test_feedback_leaves_with_its_trace_and_comes_back_with_it(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        query_id = (await asked(acme))["query_id"]
        path = f"/api/traces/{query_id}"
        plain = (await acme.get(f"{path}/export")).content
        await acme.put(f"{path}/feedback", json=NOTE)
        file = (await acme.get(f"{path}/export")).content
        forms = {"content-type": "application/x-ndjson"}

        taken = await other.post("/api/traces/import", content=file, headers=forms)
        changed = file.replace(b"wrong", b"right")
        refused = await other.post("/api/traces/import", content=changed, headers=forms)

        found = await got(other, f"/api/traces/{taken.json()['query_id']}")
        assert found["feedback"]["note"] == NOTE["note"]
        assert refused.status_code == 422
        assert b"feedback" not in plain.partition(b"\n")[0]
        assert (await acme.post(f"{path}/replay")).json()["divergence"] is None


async def test_no_key_is_stored_in_a_note_or_a_title(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        key = at.key("acme")
        acme = at.client(key)
        answer = await asked(acme)
        query_id, session_id = answer["query_id"], answer["session_id"]

        note = await acme.put(
            f"/api/traces/{query_id}/feedback",
            json={"rating": "up", "note": f"My key is {key} today"},
        )
        title = await acme.patch(
            f"/api/conversations/{session_id}", json={"title": f"Mine: {key}"}
        )

        for reply in (note, title):
            assert reply.status_code == 200
            assert key not in reply.text
            assert "█" in reply.text
        listed = await acme.get("/api/conversations")
        shown = await acme.get("/api/traces")
        assert key not in listed.text + shown.text
    assert files_holding(tmp_path, [key]) == {}


async def test_conversations_are_paged_searched_and_named(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme", "ask"), at.tenant("other", "ask")
        for name in ("one", "two", "three"):
            await stored(at, "acme", 2, name)
        await stored(at, "other", 1, "theirs")
        reply = await acme.patch("/api/conversations/two", json={"title": " New  one "})
        assert reply.json() == {"session_id": "two", "title": "New one"}
        for path, refusal in (("two", {"title": " "}), ("theirs", {"title": "x"})):
            refused = await acme.patch(f"/api/conversations/{path}", json=refusal)
            assert refused.status_code in (422, 404)

        first = await got(acme, "/api/conversations?limit=2")
        rest = await got(acme, f"/api/conversations?limit=2&before={first['next']}")

        listed = first["conversations"] + rest["conversations"]
        assert [(each["session_id"], each["title"]) for each in listed] == [
            ("three", "Question 0?"),
            ("two", "New one"),
            ("one", "Question 0?"),
        ]
        assert rest["next"] is None
        assert [each["exchanges"] for each in listed] == [2, 2, 2]
        for q, found in (("new", ["two"]), ("question 1", ["three", "two", "one"])):
            lines = (await got(acme, f"/api/conversations?q={q}"))["conversations"]
            assert [each["session_id"] for each in lines] == found
        (line,) = (await got(other, "/api/conversations?q=question"))["conversations"]
        assert line["session_id"] == "theirs"


async def test_a_long_conversation_is_read_back_to_its_beginning(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme", "ask")
        await stored(at, "acme", 230, "long")

        answers: list[str] = []
        before = ""
        pages = 0
        while pages == 0 or before:
            page = await got(acme, f"/api/conversations/long{before}")
            ids = [each["query_id"] for each in page["exchanges"]]
            assert ids[::-1] == [each["query_id"] for each in page["traces"]]
            assert page["title"] == "Question 0?"
            answers = [each["answer"] for each in page["exchanges"]] + answers
            before = f"?before={page['next']}" if page["next"] else ""
            pages += 1

        assert pages == 3
        assert answers == [f"Answer {number}." for number in range(230)]


async def test_a_list_of_traces_says_what_each_answer_was_and_took(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme")
        answer = await asked(acme)

        (line,) = (await got(acme, "/api/traces"))["traces"]

        usage = answer["usage"]
        assert line["answer"] == answer["answer"][:200]
        assert (line["rounds"], line["reasoner"]) == (
            answer["rounds"],
            answer["reasoner"],
        )
        assert line["output_tokens"] == usage["output_tokens"]
        assert line["input_tokens"] == (
            usage["input_tokens"]
            + usage["cache_read_tokens"]
            + usage["cache_write_tokens"]
        )
        assert line["cost_usd"] == usage["cost_usd"]


async def test_no_reply_of_the_api_is_compressed(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        acme = at.tenant("acme")
        await stored(at, "acme", 50, "long")

        for path in ("/api/traces", "/api/conversations/long", "/api/search?q=long"):
            reply = await acme.get(path, headers={"accept-encoding": "gzip, br"})
            assert "content-encoding" not in reply.headers
        page = await acme.get("/", headers={"accept-encoding": "gzip, br"})
        # The files of the pages hold no secret that their length could reveal (docs/security.md).
        assert page.headers["content-encoding"] == "gzip"


async def test_a_tenants_judged_answers_are_summed_up_for_it_alone_by_the_filters_of_the_list(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        query_id = (await asked(acme))["query_id"]
        await asked(acme)
        await acme.put(f"/api/traces/{query_id}/feedback", json=NOTE)

        judged = (await got(acme, "/api/trends?feedback=down"))["periods"]
        every = (await got(acme, "/api/trends?utc_offset_s=-18000"))["periods"]
        nothing = (await got(other, "/api/trends"))["periods"]
        line = (await got(acme, "/api/traces?feedback=down"))["traces"][0]
        unknown = await acme.get("/api/trends?feedback=sideways")
        too_far = await acme.get("/api/trends?utc_offset_s=1e9")

        assert [each["down"] for each in judged] == [1]
        assert judged[0]["p50_ms"] == pytest.approx(line["duration_ms"])
        assert judged[0]["input_tokens"] == line["input_tokens"]
        assert sum(each["traces"] for each in every) == 2
        assert nothing == []
        assert unknown.status_code == 422
        assert too_far.status_code == 422
