"""Circuits, with two tenants over real HTTP: what fails for one keeps the other from nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2

from tests.tenants import QUESTION, site

FAILURES = 5
CALL = {"name": "look", "input": {"what": "bad"}}
GOOD_CALL = {"name": "look", "input": {"what": "good"}}


async def _asked(client: httpx2.AsyncClient, query: str) -> dict[str, Any]:
    reply = await client.post("/api/query", json=QUESTION | {"query": query})
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


async def test_the_provider_that_fails_one_tenant_is_asked_for_the_other(
    tmp_path: Path,
) -> None:
    script = {
        "replies": [
            {"status": 401, "error": "authentication_error", "when": {"contains": "Break"}, "times": 50},
            {"text": "It is good."},
        ],
        "then": "last",
    }  # fmt: skip
    async with site(tmp_path, script=script) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        for _ in range(FAILURES):
            await _asked(acme, "Break what?")
        asked = len(at.house.double.requests)
        kept_out = await _asked(acme, "What is BM25?")
        unasked = len(at.house.double.requests) - asked
        let_in = await _asked(other, "What is BM25?")
        owner_is_open = (
            at.house.service._runtime.resources.shared.provider_circuit.is_open
        )

    assert unasked == 0
    assert kept_out["reasoner"] == "offline"
    assert let_in["answer"] == "It is good."
    assert let_in["reasoner"] != "offline"
    assert not owner_is_open


async def test_a_tool_that_fails_for_one_tenant_is_run_for_the_other(
    tmp_path: Path,
) -> None:
    ran: list[str] = []

    async def look(what: str) -> str:
        """Finds a passage.

        Args:
            what: What to look for.
        """
        ran.append(what)
        if what == "bad":
            raise RuntimeError("no such thing")
        return f"{what} is good where exact words matter."

    script = {
        "replies": [
            {"text": "", "calls": [CALL], "when": {"contains": "Break", "tools": True}, "times": 50},
            {"text": "", "calls": [GOOD_CALL], "when": {"contains": "BM25"}, "times": 1},
            {"text": "Done."},
        ],
        "then": "last",
    }  # fmt: skip
    async with site(tmp_path, look, script=script) as at:
        acme, other = at.tenant("acme"), at.tenant("other")
        for number in range(FAILURES + 2):
            await _asked(acme, f"Break what, number {number}?")
        tried = len(ran)
        await _asked(other, "What is BM25?")

    assert tried == FAILURES
    assert ran[tried:] == ["good"]
