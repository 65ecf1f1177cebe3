"""What is billed is counted: over HTTP with a key, no matter what becomes of a question after its call was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.engine import Profile
from antiphon.vocabulary.events import QueryResumed
from tests.billing_api import BillingApi, billed
from tests.tenants import QUESTION, Site, ask, counted, share_of, site

LIMIT_USD = 0.5
MOST_ASKED = 40
UNKNOWN = Profile(citations="auto")
"""Of a server that has to be asked how it cites."""


async def until_sent(
    asking: asyncio.Task[httpx2.Response], api: BillingApi
) -> httpx2.Response | None:
    """Waits until the model was asked; returns the reply to the question if there is one before that."""
    sent = asyncio.create_task(api.asked.wait())
    await asyncio.wait([asking, sent], return_when=asyncio.FIRST_COMPLETED)
    sent.cancel()
    if asking.done():
        return await asking
    return None


async def disconnect(client: httpx2.AsyncClient, api: BillingApi) -> int:
    """Asks, and goes away once the model was asked; returns the status if there was a reply before that."""
    api.asked.clear()
    asking = asyncio.create_task(ask(client))
    reply = await until_sent(asking, api)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    return reply.status_code if reply else 0


async def cancel(client: httpx2.AsyncClient, api: BillingApi) -> int:
    """Asks, and cancels the query once the model was asked."""
    api.asked.clear()
    asking = asyncio.create_task(ask(client))
    if await until_sent(asking, api) is None:
        [query] = (await client.get("/api/queries")).json()["queries"]
        await client.post(f"/api/queries/{query['query_id']}/cancel")
    return (await asking).status_code


async def run_out_of_time(client: httpx2.AsyncClient, _: BillingApi) -> int:
    """Asks with a deadline that is over before the model answers."""
    return (await ask(client, deadline_s=1.0)).status_code


Leave = Callable[[httpx2.AsyncClient, BillingApi], Awaitable[int]]


async def settled(at: Site, client: httpx2.AsyncClient) -> dict[str, Any]:
    """What the key has used once none of its queries is under way."""
    for _ in range(500):
        await counted(at)
        share = await share_of(client)
        if not share["set_aside"]["tokens"] and not share["at_once"]:
            used: dict[str, Any] = share["used"]
            return used
        await asyncio.sleep(0.01)
    raise AssertionError("a query is never counted")


def check_counted(api: BillingApi, used: dict[str, Any]) -> None:
    """Checks that no more was billed than is counted."""
    assert 0 < api.dollars <= used["cost_usd"]
    assert api.tokens <= used["tokens"]


@pytest.mark.parametrize("leave", [disconnect, cancel, run_out_of_time])
async def test_a_caller_who_leaves_before_the_answer_is_charged_what_is_billed(
    tmp_path: Path, leave: Leave
) -> None:
    api = BillingApi()
    api.answers = False
    async with billed(tmp_path, api) as at:
        client = at.tenant("acme", cost_usd=LIMIT_USD)
        await leave(client, api)
        used = await settled(at, client)

    assert api.calls == 1
    check_counted(api, used)


@pytest.mark.parametrize("leave", [disconnect, cancel])
async def test_a_caller_who_leaves_again_and_again_is_refused_once_the_limit_is_used(
    tmp_path: Path, leave: Leave
) -> None:
    api = BillingApi()
    api.answers = False
    statuses: list[int] = []
    async with billed(tmp_path, api) as at:
        client = at.tenant("acme", cost_usd=LIMIT_USD)
        for _ in range(MOST_ASKED):
            statuses.append(await leave(client, api))
            used = await settled(at, client)

    assert statuses[-1] == 429
    # The limit ended the calls, not the number of tries.
    assert 0 < api.calls < MOST_ASKED / 2
    check_counted(api, used)
    assert used["cost_usd"] <= LIMIT_USD


async def test_a_call_to_a_server_that_reports_no_usage_counts_for_no_less_than_it_bills(
    tmp_path: Path,
) -> None:
    api = BillingApi()
    api.reports = False
    async with billed(tmp_path, api) as at:
        client = at.tenant("acme", cost_usd=LIMIT_USD)
        reply = await ask(client)
        used = await settled(at, client)

    assert reply.status_code == 200
    assert api.calls == 3
    check_counted(api, used)
    assert used["cost_usd"] <= LIMIT_USD


async def test_the_call_that_finds_out_how_a_server_cites_is_counted(
    tmp_path: Path,
) -> None:
    api = BillingApi()
    async with billed(tmp_path, api, UNKNOWN) as at:
        client = at.tenant("acme", cost_usd=LIMIT_USD)
        await ask(client)
        used = await settled(at, client)

    assert api.calls == 4
    assert used["cost_usd"] == pytest.approx(api.dollars)
    assert used["tokens"] == api.tokens


async def test_a_caller_who_leaves_while_a_call_finds_out_how_a_server_cites_is_charged_what_is_billed(
    tmp_path: Path,
) -> None:
    api = BillingApi()
    api.answers = False
    async with billed(tmp_path, api, UNKNOWN) as at:
        client = at.tenant("acme", cost_usd=LIMIT_USD)
        await disconnect(client, api)
        used = await settled(at, client)

    assert api.calls == 1
    check_counted(api, used)


async def test_a_caller_who_deletes_the_running_query_pays_for_it(
    tmp_path: Path,
) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    async def search_course_content(query: str) -> str:
        """Finds a passage.

        Args:
            query: What to look for.
        """
        began.set()
        await go_on.wait()
        return query

    api = BillingApi()
    async with site(tmp_path, search_course_content, script=api) as at:
        client = at.tenant("acme", cost_usd=LIMIT_USD)
        asking = asyncio.create_task(client.post("/api/query", json=QUESTION))
        await began.wait()
        [trace] = (await client.get("/api/traces")).json()["traces"]
        # The trace of the running query goes with its conversation.
        deleted = await client.delete(f"/api/conversations/{trace['session_id']}")
        go_on.set()
        await asking
        used = await settled(at, client)

    assert deleted.status_code == 200
    check_counted(api, used)


async def test_a_call_that_the_end_of_the_service_broke_off_counts_beside_the_one_made_once_more(
    tmp_path: Path,
) -> None:
    api = BillingApi()
    api.answers = False
    async with billed(tmp_path, api) as at:
        key = at.key("acme", cost_usd=LIMIT_USD)
        asking = asyncio.create_task(at.client(key).post("/api/query", json=QUESTION))
        await until_sent(asking, api)
        [query] = (await at.client(key).get("/api/queries")).json()["queries"]
        # As when the process ends: the query stays open, and the next service goes on with it.
        at.house.service._runtime.bus.sessions[query["query_id"]].break_off()
        await asyncio.gather(asking, return_exceptions=True)
    api.answers = True
    async with billed(tmp_path, api) as at:
        client = at.client(key)
        await at.house.service.resume_unfinished()
        answer = await client.get(f"/api/traces/{query['query_id']}/answer")
        used = await settled(at, client)
        events = await at.house.store.read(query["query_id"])

    assert answer.status_code == 200
    assert api.calls == 4
    check_counted(api, used)
    [resumed] = [each.event for each in events if isinstance(each.event, QueryResumed)]
    assert (resumed.lost.cost_usd or 0.0) > 0.0


async def test_a_caller_who_resumes_the_running_query_pays_for_it_all_the_same(
    tmp_path: Path,
) -> None:
    api = BillingApi()
    api.answers = False
    async with billed(tmp_path, api) as at:
        client = at.tenant("acme", cost_usd=LIMIT_USD)
        asking = asyncio.create_task(client.post("/api/query", json=QUESTION))
        await until_sent(asking, api)
        [query] = (await client.get("/api/queries")).json()["queries"]
        resumed = await client.post(f"/api/traces/{query['query_id']}/resume")
        await client.post(f"/api/queries/{query['query_id']}/cancel")
        await asking
        used = await settled(at, client)

    assert resumed.status_code == 409
    check_counted(api, used)
