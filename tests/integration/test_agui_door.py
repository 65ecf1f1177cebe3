"""Who may ask by the door for AG-UI, and whose runs are whose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2

from tests.tenants import share_of, site

RUN: dict[str, Any] = {
    "threadId": "t1",
    "runId": "r1",
    "messages": [{"id": "m1", "role": "user", "content": "What is BM25?"}],
}


async def asked(client: httpx2.AsyncClient, **more: Any) -> httpx2.Response:
    return await client.post("/agui", json=RUN | more)


async def test_a_run_counts_once_against_the_share_of_its_key_even_if_a_client_asks_for_it_again(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        client = at.tenant("acme", "ask", requests=2)
        replies = [await asked(client), await asked(client)]
        used = (await share_of(client))["used"]["requests"]
        await asked(client, runId="r2")
        refused = await asked(client, runId="r3")

    assert replies[0].text == replies[1].text
    assert used == 1
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0


async def test_a_run_id_of_another_tenant_is_another_run(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        one, other = [await asked(at.tenant(name, "ask")) for name in ("acme", "other")]

    assert "RUN_FINISHED" in one.text
    assert "RUN_FINISHED" in other.text
    assert one.text != other.text


async def test_a_caller_who_may_not_ask_is_refused_before_the_run(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        callers = [at.tenant("acme", "documents"), at.client()]
        refused = [await asked(caller) for caller in callers]

    assert [each.status_code for each in refused] == [403, 401]
