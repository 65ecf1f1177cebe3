"""What else belongs to a tenant: traces that it imports, and the right to tools that change something outside."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2

from antiphon.dispatcher import tool_from_function
from tests.tenants import QUESTION, site


async def _asked(client: httpx2.AsyncClient) -> dict[str, Any]:
    reply = await client.post("/api/query", json=QUESTION)
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


async def test_an_imported_trace_belongs_to_its_importer_and_reveals_nothing_of_another_tenant(
    tmp_path: Path,
) -> None:
    lines = {"content-type": "application/x-ndjson"}
    async with site(tmp_path) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        asked = await _asked(acme)
        file = (await acme.get(f"/api/traces/{asked['query_id']}/export")).content
        stored = await other.post("/api/traces/import", content=file, headers=lines)
        again = await other.post("/api/traces/import", content=file, headers=lines)
        copy = stored.json()["query_id"]
        read = await other.get(f"/api/traces/{copy}")
        replayed = await other.post(f"/api/traces/{copy}/replay")
        hidden = await acme.get(f"/api/traces/{copy}")
        deleted = await other.delete(f"/api/traces/{copy}")
        still = await acme.get(f"/api/traces/{asked['query_id']}")

    assert (stored.status_code, again.status_code) == (201, 409)
    assert copy != asked["query_id"]
    assert {each["query_id"] for each in read.json()["events"]} == {copy}
    assert replayed.json()["divergence"] is None
    assert hidden.status_code == 404
    assert deleted.json()["deleted"] == 1
    assert still.status_code == 200


async def test_a_tool_with_effects_is_offered_and_run_only_with_its_scope(
    tmp_path: Path,
) -> None:
    enrolled: list[str] = []

    async def enrol(who: str) -> str:
        """Enrols a student.

        Args:
            who: The student.
        """
        enrolled.append(who)
        return f"{who} is enrolled."

    calling = {
        "text": "I do.",
        "calls": [{"name": "enrol", "input": {"who": "Eve"}}],
    }
    script = {"replies": [calling, {"text": "Done."}] * 2, "then": "last"}
    tool = tool_from_function(enrol, has_effects=True)
    async with site(tmp_path, tool, script=script) as at:
        without = await _asked(at.tenant("acme", "ask"))
        offered = str([sent.get("tools") for sent in at.house.double.requests])
        before = list(enrolled)
        await _asked(at.tenant("acme", "ask", "effects"))

    assert before == []
    assert "enrol" not in offered
    assert without["answer"]
    assert enrolled == ["Eve"]


async def test_a_tenant_that_holds_many_streams_open_leaves_the_others_theirs(
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
        return what

    calling = {"text": "", "calls": [{"name": "look", "input": {"what": "x"}}]}
    script = {"replies": [calling, {"text": "Good."}], "then": "last"}
    async with site(tmp_path, look, script=script, most_streams=2) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        asking = asyncio.create_task(_asked(acme))
        await began.wait()
        [query] = (await acme.get("/api/queries")).json()["queries"]
        path = f"/api/traces/{query['query_id']}/events"
        async with acme.stream("GET", path) as one, acme.stream("GET", path) as two:
            third = await acme.get(path)
            elsewhere = await other.get(path)
            open_ones = [one.status_code, two.status_code]
            go_on.set()
            await asking
            for stream in (one, two):
                async for _ in stream.aiter_lines():
                    pass
        after = await acme.get(path)

    assert open_ones == [200, 200]
    assert (third.status_code, third.headers["retry-after"]) == (429, "5")
    assert "2 event streams" in third.json()["error"]["message"]
    assert elsewhere.status_code == 404
    assert after.status_code == 200
