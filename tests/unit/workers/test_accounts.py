"""A tenant's account, as all nodes change it: what its keys have used, and what is set aside for their queries."""

from __future__ import annotations

from antiphon.access import Balance, Holder, Spent, Used
from antiphon.workers.accounts import KEPT_DAYS, Account, SetAside

TODAY, TOMORROW = "2026-03-01", "2026-03-02"
KEY, TENANT = Holder("key", "k1"), Holder("tenant", "acme")


def query(key_id: str = "k1", day: str = TODAY) -> SetAside:
    return SetAside(day=day, key_id=key_id, tokens=1_000, cost_usd=0.5, at=0.0)


def test_the_tenant_has_used_what_all_of_its_keys_have() -> None:
    account = (
        Account()
        .with_query("q1", query("k1"))
        .with_query("q2", query("k2"))
        .with_query("q3", query("k2"))
        .settled("q1", Spent(tokens=400, cost_usd=0.25))
        .settled("q2", Spent(tokens=100, cost_usd=0.125))
    )

    assert account.balance(KEY, TODAY) == Balance(
        Used(requests=1, tokens=400, cost_usd=0.25), Used(), 0
    )
    assert account.balance(TENANT, TODAY) == Balance(
        Used(requests=3, tokens=500, cost_usd=0.375),
        Used(tokens=1_000, cost_usd=0.5),
        1,
    )


def test_what_is_not_known_of_a_query_counts_as_what_was_set_aside() -> None:
    account = Account().with_query("q1", query())

    settled = account.settled("q1", Spent(tokens=7, cost_usd=0.75, is_known=False))

    assert settled.balance(KEY, TODAY).used == Used(
        requests=1, tokens=1_000, cost_usd=0.75
    )


def test_a_query_that_did_not_begin_counts_for_nothing() -> None:
    account = Account().with_query("q1", query()).settled("q1", None)

    assert account.balance(TENANT, TODAY) == Balance()


def test_a_query_is_settled_once_whichever_node_is_faster() -> None:
    account = Account().with_query("q1", query()).settled("q1", Spent(tokens=400))

    assert account.settled("q1", Spent(tokens=400)) is account


def test_a_query_counts_to_the_day_on_which_it_was_let_in() -> None:
    account = Account().with_query("q1", query())

    assert account.balance(KEY, TOMORROW) == Balance(Used(), Used(), 1)
    assert account.settled("q1", Spent(tokens=400)).balance(KEY, TOMORROW) == Balance()


def test_days_long_past_are_forgotten() -> None:
    account = Account()
    for day in range(1, KEPT_DAYS + 3):
        account = account.with_query("q1", query(day=f"2026-03-0{day}"))

    assert list(account.used) == ["2026-03-03", "2026-03-04", "2026-03-05"]
