"""Every route as every role, called over real HTTP; docs/access.md holds the table of the results."""

from __future__ import annotations

import asyncio

import pytest

from antiphon.api import create_app
from antiphon.api.door import guarded_routes
from antiphon.service import load_settings
from antiphon.vocabulary.access import SCOPES
from tests.apps import ALL_DOORS
from tests.house.access_table import (
    NO_KEY,
    PAGE,
    ROLES,
    Row,
    page_with,
    rows,
    table,
)

FREE = {"`GET /healthz`", "`GET /readyz`"}


@pytest.fixture(scope="module")
def called() -> list[Row]:
    """What came of calling every route as every role."""
    return asyncio.run(rows())


def test_each_route_lets_in_callers_with_its_scope_and_nobody_else(
    called: list[Row],
) -> None:
    found = {row.what: dict(zip(ROLES, row.allowed, strict=True)) for row in called}

    for method, path, scope in guarded_routes(
        create_app(load_settings(), doors=ALL_DOORS)
    ):
        allowed = found[f"`{method} {path.replace(':path', '')}`"]
        wanted = {role: role == scope for role in ROLES}
        if scope is None:
            wanted = dict.fromkeys(ROLES, True)
        assert allowed == wanted, path
    assert {what for what, allowed in found.items() if allowed[NO_KEY]} == FREE
    assert all(
        any(allowed[scope] for allowed in found.values())
        for scope in SCOPES
        if scope != "effects"
    )


def test_the_page_holds_the_table_that_was_found(called: list[Row]) -> None:
    assert PAGE.read_text() == page_with(table(called)), (
        "python -m tests.house.access_table"
    )
