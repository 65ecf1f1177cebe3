"""All that spends is counted: forks, queries whose callers went away, and what a dead process left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from antiphon.composition import Allowance
from antiphon.service import Limits, Question
from antiphon.vocabulary.values import QuerySettings
from tests.tenants import QUESTION, ask, counted, interrupted, share_of, site

USAGE = {"input_tokens": 1_000, "output_tokens": 100}
REPLY = {"text": "It is good.", "usage": USAGE}
SCRIPT = {"replies": [REPLY], "then": "last"}
A_QUERY = 1_100
"""Tokens of a query by that script: one call, whose reply is the answer."""


async def test_forks_summaries_and_queries_of_callers_who_went_away_are_counted(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        client = at.tenant("acme", tokens=1_000_000)
        asked = (await ask(client)).json()
        trace = f"/api/traces/{asked['query_id']}"
        for mode in ("live", "remodel", "recorded"):
            forked = await client.post(
                f"{trace}/fork", json={"at": 2, "mode": mode, "change": []}
            )
            assert forked.status_code == 201, forked.text
        await counted(at)
        after_forks = await share_of(client)
        async with client.stream(
            "POST", "/api/query", json=QUESTION, headers={"accept": "text/event-stream"}
        ) as stream:
            async for line in stream.aiter_lines():
                if line.startswith("event: reasoning_completed"):
                    break
        for _ in range(100):
            await counted(at)
            share = await share_of(client)
            if share["set_aside"]["tokens"] == 0 and share["used"]["requests"] == 5:
                break
            await asyncio.sleep(0.02)

    assert after_forks["used"]["requests"] == 4
    assert after_forks["used"]["tokens"] == 3 * A_QUERY
    assert share["used"]["tokens"] == 4 * A_QUERY


async def test_a_live_fork_is_refused_before_anything_is_sent_and_a_recorded_one_is_not(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        key = at.key("acme")
        client = at.client(key)
        asked = (await ask(client)).json()
        await counted(at)
        at.quotas.limit("key", key.split("_")[1], Limits(tokens=A_QUERY))
        calls = len(at.house.double.requests)
        trace = f"/api/traces/{asked['query_id']}/fork"
        live = await client.post(trace, json={"at": 2, "mode": "live"})
        recorded = await client.post(trace, json={"at": 2, "mode": "recorded"})

    assert (live.status_code, recorded.status_code) == (429, 201)
    assert len(at.house.double.requests) == calls


async def test_a_query_that_a_dead_process_let_in_is_counted_when_it_is_over(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        key = at.key("acme", tokens=100_000)
        caller = at.keys.principal(key)
        await interrupted(at, "acme", "lost")
        await at.quotas.reserve(
            caller, "lost", Allowance(30_000, 0.1), Allowance(1, 0.001)
        )
        before = await share_of(at.client(key))
    async with site(tmp_path, script=SCRIPT) as at:
        answer = await at.client(key).get("/api/traces/lost/answer")
        await counted(at)
        share = await share_of(at.client(key))

    assert before["set_aside"]["tokens"] == 30_000
    assert answer.status_code == 200
    assert share["used"]["requests"] == 1
    assert share["used"]["tokens"] == A_QUERY
    assert share["set_aside"]["tokens"] == 0


async def test_a_query_that_the_end_of_the_service_breaks_off_is_counted_when_it_goes_on(
    tmp_path: Path,
) -> None:
    began = asyncio.Event()

    async def look(what: str) -> str:
        """Finds a passage.

        Args:
            what: What to look for.
        """
        began.set()
        await asyncio.sleep(60)
        return what

    calling = {
        "text": "",
        "calls": [{"name": "look", "input": {"what": "x"}}],
        "usage": USAGE,
    }
    async with site(tmp_path, look, script={"replies": [calling]}) as at:
        key = at.key("acme", tokens=100_000)
        caller = at.keys.principal(key)
        await at.house.service.seen_by(caller).start(Question(query="What is BM25?"))
        await began.wait()
    async with site(tmp_path, look, script=SCRIPT) as at:
        [query] = (await at.client(key).get("/api/queries")).json()["queries"] or [{}]
        broken_off = await share_of(at.client(key))
        await at.client(key).post(f"/api/queries/{query['query_id']}/cancel")
        await at.client(key).get(f"/api/traces/{query['query_id']}/answer")
        await counted(at)
        share = await share_of(at.client(key))

    assert broken_off["used"]["tokens"] == 0
    assert broken_off["set_aside"]["tokens"] > A_QUERY
    assert broken_off["at_once"] == 1
    assert share["used"] == {
        "requests": 1,
        "tokens": A_QUERY,
        "cost_usd": pytest.approx(0.003),
    }
    assert (share["set_aside"]["tokens"], share["at_once"]) == (0, 0)


async def test_a_call_counts_for_its_most_if_the_server_does_not_say_what_it_took(
    tmp_path: Path,
) -> None:
    silent = {"text": "It is good.", "usage": {"input_tokens": 0, "output_tokens": 0}}
    async with site(tmp_path, script={"replies": [silent], "then": "last"}) as at:
        client = at.tenant("acme", tokens=1_000_000)
        await ask(client)
        await counted(at)
        share = await share_of(client)

    # Of one call, and not of all those that the query might have made.
    assert QuerySettings().max_tokens < share["used"]["tokens"] < 5_000
