"""A tenant's account, as all nodes change it: what its keys have used, and what is set aside for their queries."""

from __future__ import annotations

from antiphon.access import Holder, Spent
from antiphon.workers.accounts import KEPT_DAYS, Account, SetAside

TODAY, TOMORROW = "2026-03-01", "2026-03-02"
KEY, TENANT = Holder("key", "k1"), Holder("tenant", "acme")


def query(key_id: str = "k1", day: str = TODAY) -> SetAside:
    return SetAside(day=day, key_id=key_id, tokens=1_000, cost_usd=0.5, at=0.0)


def test_a_query_is_settled_once_whichever_node_is_faster() -> None:
    account = Account().with_query("q1", query()).settled("q1", Spent(tokens=400))

    assert account.settled("q1", Spent(tokens=400)) is account


def test_days_long_past_are_forgotten() -> None:
    account = Account()
    for day in range(1, KEPT_DAYS + 3):
        account = account.with_query("q1", query(day=f"2026-03-0{day}"))

    assert list(account.used) == ["2026-03-03", "2026-03-04", "2026-03-05"]
