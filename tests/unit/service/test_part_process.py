"""Whose documents are searched, and with which tools, where one part of others' queries acts in a process."""

from __future__ import annotations

from antiphon.cluster import Place
from antiphon.service.part_process import caller_of


def test_a_query_of_a_tenant_is_performed_as_that_tenants() -> None:
    caller = caller_of(Place(tenant="acme", tools="", effects=True))

    assert (caller.tenant, caller.sees_all) == ("acme", False)
    assert "effects" in caller.scopes


def test_a_query_without_a_tenant_is_the_owners() -> None:
    caller = caller_of(Place(tenant="", tools="", effects=False))

    assert (caller.tenant, caller.sees_all) == ("local", True)
    assert "effects" not in caller.scopes
    assert "ask" in caller.scopes
