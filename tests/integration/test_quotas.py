"""Limits of keys and tenants over real HTTP: kept exactly, by everything that spends, and over restarts."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from antiphon.access.usage import Spent, day_end, day_of, forecast
from antiphon.composition import Allowance
from antiphon.service import Limits, Quotas, Used
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import QuotaError
from tests.tenants import ask, counted, share_of, site

USAGE = {"input_tokens": 1_000, "output_tokens": 100}
REPLY = {"text": "It is good.", "usage": USAGE}
SCRIPT = {"replies": [REPLY], "then": "last"}
A_QUERY = 1_100
"""Tokens of a query by that script: one call, whose reply is the answer."""


async def test_exactly_as_many_of_fifty_questions_at_once_pass_as_are_left(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        client = at.tenant("acme", requests=7)
        replies = await asyncio.gather(*[ask(client) for _ in range(50)])
        await counted(at)
        calls = len(at.house.double.requests)
        share = await share_of(client)

    assert Counter(reply.status_code for reply in replies) == {200: 7, 429: 43}
    assert calls == 7
    assert share["used"] == {
        "requests": 7,
        "tokens": 7 * A_QUERY,
        "cost_usd": pytest.approx(7 * 0.003),
    }
    assert share["set_aside"]["tokens"] == 0
    [refused, *_] = [reply for reply in replies if reply.status_code == 429]
    error = refused.json()["error"]
    assert error["code"] == "quota"
    for word in ("7 requests", "used 7", "UTC"):
        assert word in error["message"]
    assert 1 <= int(refused.headers["retry-after"]) <= 86_400


async def test_two_keys_of_a_tenant_share_its_limit_at_once(tmp_path: Path) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        clients = [at.tenant("acme", requests=30), at.tenant("acme")]
        at.quotas.limit("tenant", "acme", Limits(requests=11))
        replies = await asyncio.gather(*[ask(clients[n % 2]) for n in range(50)])
        free = await ask(at.tenant("other"))

    assert Counter(reply.status_code for reply in replies) == {200: 11, 429: 39}
    assert free.status_code == 200


@pytest.mark.parametrize(
    "limits", [{"tokens": 40_000}, {"cost_usd": 0.2}], ids=["tokens", "cost"]
)
async def test_no_questions_use_more_than_the_limit_and_none_passes_after_it(
    tmp_path: Path, limits: dict[str, Any]
) -> None:
    long = {"text": "Long.", "usage": {"input_tokens": 4_000, "output_tokens": 400}}
    async with site(tmp_path, script={"replies": [long], "then": "last"}) as at:
        client = at.tenant("acme", **limits)
        statuses: list[int] = []
        for _ in range(20):
            statuses += [
                each.status_code
                for each in await asyncio.gather(*[ask(client) for _ in range(3)])
            ]
            await counted(at)
        share = await share_of(client)
        calls = len(at.house.double.requests)
        refused = await ask(client)

    [(what, most)] = limits.items()
    assert share["used"][what] <= most
    assert share["used"][what] > most / 2
    assert refused.status_code == 429
    assert len(at.house.double.requests) == calls
    assert set(statuses) == {200, 429}
    # Once it is used up for good, it stays so.
    assert statuses[-3:] == [429, 429, 429]


async def test_a_restart_does_not_begin_a_new_day(tmp_path: Path) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        key = at.key("acme", requests=2)
        first = await ask(at.client(key))
    async with site(tmp_path, script=SCRIPT) as at:
        second, third = await ask(at.client(key)), await ask(at.client(key))
        await counted(at)
        share = await share_of(at.client(key))

    statuses = [each.status_code for each in (first, second, third)]
    assert statuses == [200, 200, 429]
    assert share["used"]["tokens"] == 2 * A_QUERY


async def test_queries_at_once_are_limited_and_the_place_of_one_that_ends_is_free(
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
    script = {"replies": [calling, REPLY], "then": "last"}
    async with site(tmp_path, look, script=script) as at:
        client = at.tenant("acme", at_once=1)
        first = asyncio.create_task(ask(client))
        await began.wait()
        second = await ask(client)
        go_on.set()
        done = await first
        await counted(at)
        third = await ask(client)

    assert [each.status_code for each in (done, second, third)] == [200, 429, 200]
    assert "1 queries under way at once" in second.json()["error"]["message"]
    assert second.headers["retry-after"] == "2"


async def test_what_is_refused_before_it_begins_counts_for_nothing(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        client = at.tenant("acme", requests=1)
        wrong = [
            await ask(client, query=" "),
            await ask(client, max_rounds=99),
            await ask(client, session_id="nobody's"),
        ]
        right = await ask(client)

    assert [each.status_code for each in wrong] == [422, 422, 404]
    assert right.status_code == 200


async def test_at_four_fifths_the_log_says_so_once(tmp_path: Path) -> None:
    async with site(tmp_path, script=SCRIPT) as at:
        client = at.tenant("acme", requests=10)
        with capture_logs() as lines:
            for _ in range(10):
                await ask(client)
            await counted(at)

    alerts = [line for line in lines if line["event"] == "quota_alert"]
    assert len(alerts) == 1
    assert (alerts[0]["what"], alerts[0]["used"], alerts[0]["limit"]) == (
        "requests",
        8,
        10,
    )


async def test_no_wish_goes_above_what_the_owner_lets_callers_choose(
    tmp_path: Path,
) -> None:
    caps: dict[str, Any] = {
        "most_rounds": 3,
        "most_deadline_s": 90.0,
        "max_total_tokens": 50_000,
    }
    async with site(tmp_path, script=SCRIPT, **caps) as at:
        client = at.tenant("acme")
        refused = [
            await ask(client, max_rounds=4),
            await ask(client, deadline_s=91),
            await ask(client, max_total_tokens=50_001),
        ]
        taken = await ask(client, max_rounds=3, deadline_s=90, max_total_tokens=50_000)

    assert [each.status_code for each in refused] == [422, 422, 422]
    assert "the most that this service lets a caller choose is 3" in refused[0].text
    assert taken.status_code == 200


async def test_a_limit_of_cost_refuses_an_unpriced_model(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, script=SCRIPT, model="somebody-elses") as at:
        reply = await ask(at.tenant("acme", cost_usd=5.0))
        free = await ask(at.tenant("acme", tokens=100_000))

    assert reply.status_code == 503
    assert "ANTIPHON_PRICES" in reply.json()["error"]["message"]
    assert free.status_code == 200


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        (Limits(tokens=1_500), Allowance(500, None)),
        (Limits(cost_usd=0.75), Allowance(None, 0.25)),
    ],
    ids=["tokens", "cost"],
)
async def test_what_is_set_aside_for_one_query_is_not_left_for_another(
    tmp_path: Path, limits: Limits, left: Allowance
) -> None:
    async with site(tmp_path) as at:
        at.quotas.limit("tenant", "acme", limits)
        caller = Principal(tenant="acme", scopes=frozenset(), key_id="k")
        want, least = Allowance(1_000, 0.5), Allowance(100, 0.01)
        await at.quotas.reserve(caller, "q1", want, least)
        second = await at.quotas.reserve(caller, "q2", want, least)
        with pytest.raises(QuotaError, match="queries under way may take the rest"):
            await at.quotas.reserve(caller, "q3", want, least)
        [_, of_tenant] = (await at.quotas.report(caller)).shares

    assert second == left
    assert of_tenant.set_aside.tokens == 1_000 + (left.tokens or 1_000)
    assert of_tenant.set_aside.cost_usd == 0.5 + (left.cost_usd or 0.5)


async def test_a_new_day_begins_with_nothing_used(tmp_path: Path) -> None:
    now = [1_795_305_600.0 + 3_600]
    async with site(tmp_path) as at:
        quotas = Quotas(at.file, lambda: now[0])
        caller = Principal(tenant="acme", scopes=frozenset(), key_id="k")
        quotas.limit("key", "k", Limits(requests=1, tokens=1_000))
        want, least = Allowance(1_000, 0.0), Allowance(10, 0.0)
        granted = await quotas.reserve(caller, "q1", want, least)
        await quotas.settle(caller, "q1", Spent(tokens=400))
        with pytest.raises(QuotaError) as refused:
            await quotas.reserve(caller, "q2", want, least)
        now[0] = day_end(now[0]) + 1
        again = await quotas.reserve(caller, "q3", want, least)

    assert granted == again == Allowance(1_000, None)
    assert refused.value.retry_after_s == 23 * 3_600
    assert day_of(now[0]) == "2026-11-23"


def test_the_forecast_goes_on_as_the_day_has_so_far() -> None:
    noon = 1_795_305_600.0 + 43_200

    found = forecast(Used(requests=10, tokens=500, cost_usd=1.5), noon)

    assert found == Used(requests=20, tokens=1_000, cost_usd=3.0)
