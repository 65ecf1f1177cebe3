"""Writes the table of routes and roles in docs/access.md by calling each: `python -m tests.house.access_table`."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import httpx2

from antiphon.api import create_app
from antiphon.api.door import guarded_routes
from antiphon.service import load_settings
from antiphon.vocabulary.access import SCOPES
from tests.apps import ALL_DOORS
from tests.tenants import QUESTION, Site, site

PAGE = Path(__file__).parents[2] / "docs" / "access.md"
BEGIN = "<!-- table: written by `python -m tests.house.access_table` -->\n"
END = "<!-- end of the table -->\n"
NO_KEY = "no key"
ROLES = (NO_KEY, *SCOPES)
PLACES = (
    "query_id",
    "other_id",
    "session_id",
    "job_id",
    "title:path",
    "title",
    "model",
)
_MARKS = {True: "✓", False: ""}
_SPECIAL = (
    ("a question with a fault plan", "ask", "POST", "/api/query"),
    ("a fork in the mode `live` or `remodel`", "debug", "POST", "/fork"),
    ("the plan of such a fork", "debug", "POST", "/fork/plan"),
)


class Row(NamedTuple):
    """Whether one route admits each role."""

    what: str
    allowed: tuple[bool, ...]


async def rows() -> list[Row]:
    """Calls every route of a service with a key of every scope, and without one."""
    with tempfile.TemporaryDirectory() as folder:
        async with site(Path(folder)) as at:
            return await _called(at)


async def _called(at: Site) -> list[Row]:
    callers: dict[str, httpx2.AsyncClient] = {NO_KEY: at.client()}
    for scope in SCOPES:
        callers[scope] = at.tenant("acme", scope)
    found: list[Row] = []
    for method, path, _ in guarded_routes(create_app(load_settings(), doors=ALL_DOORS)):
        allowed = [await _lets(callers[role], method, _named(path)) for role in ROLES]
        found.append(Row(f"`{method} {path.replace(':path', '')}`", tuple(allowed)))
    asked = await at.tenant("acme", "ask").post("/api/query", json=QUESTION)
    trace = f"/api/traces/{asked.json()['query_id']}"
    for what, beside, method, path in _SPECIAL:
        allowed = []
        for role in ROLES:
            caller = callers[role]
            # These permissions only add to a route, so the caller also has the route's own scope.
            if role != NO_KEY:
                caller = at.tenant("acme", beside, role)
            allowed.append(await _lets(caller, method, *_special(trace, path)))
        found.append(Row(f"{what}, beside `{beside}`", tuple(allowed)))
    return found


async def _lets(
    caller: httpx2.AsyncClient, method: str, path: str, body: Any = None
) -> bool:
    """Returns True if the route admits the caller, even if it then finds nothing."""
    sent: dict[str, Any] = {}
    if method == "POST":
        sent["json"] = body or {}
    reply = await caller.request(method, path, **sent)
    assert reply.status_code < 500, reply.text
    return reply.status_code not in (401, 403)


def _named(path: str) -> str:
    for place in PLACES:
        path = path.replace(f"{{{place}}}", "nothing")
    return path


def _special(trace: str, path: str) -> tuple[str, dict[str, Any]]:
    if path.startswith("/fork"):
        return f"{trace}{path}", {"at": 1, "mode": "live"}
    return path, QUESTION | {"faults": {}}


def table(found: list[Row]) -> str:
    """Returns the rows as Markdown."""
    lines = [f"| | {' | '.join(ROLES)} |", "|---" * (len(ROLES) + 1) + "|"]
    for row in found:
        cells = " | ".join(_MARKS[each] for each in row.allowed)
        lines.append(f"| {row.what} | {cells} |")
    return "\n".join([*lines, ""])


def page_with(text: str) -> str:
    """Returns the page with this table in it."""
    page = PAGE.read_text()
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page_with(table(asyncio.run(rows()))))
