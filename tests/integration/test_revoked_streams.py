"""Streams of callers whose key is no longer valid: they end, and say why, no matter which process revoked it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from antiphon.service import AccessFile, Keys
from antiphon.vocabulary.errors import BadInputError
from tests.tenants import QUESTION, Site, site

SSE = {"accept": "text/event-stream"}
SCRIPT: dict[str, Any] = {
    "replies": [{"text": "", "calls": [{"name": "wait", "input": {}}]}],
    "then": "last",
}


async def wait() -> str:
    """Waits for ever."""
    await asyncio.Event().wait()
    return "never"


async def _asked_live(client: httpx2.AsyncClient) -> tuple[str, str]:
    return "POST", "/api/query"


async def _followed(client: httpx2.AsyncClient) -> tuple[str, str]:
    begun = (await client.post("/api/queries", json=QUESTION)).json()
    return "GET", f"/api/queries/{begun['query_id']}/events"


async def _trace_followed(client: httpx2.AsyncClient) -> tuple[str, str]:
    begun = (await client.post("/api/queries", json=QUESTION)).json()
    return "GET", f"/api/traces/{begun['query_id']}/events"


def _revoke(at: Site, key: str) -> None:
    # By a connection of its own, as another process does.
    file = AccessFile(at.house.folder, 5_000)
    Keys(file).revoke(key.split("_")[1])
    file.close()


def _rotate(at: Site, key: str) -> None:
    at.keys.rotate(key.split("_")[1])


def _expire(at: Site, key: str) -> None:
    with at.file.transaction() as connection:
        connection.execute("UPDATE keys SET expires_at = 1.0")


@pytest.mark.parametrize("opened", [_asked_live, _followed, _trace_followed])
@pytest.mark.parametrize(
    ("ended", "word"),
    [(_revoke, "revoked"), (_rotate, "rotated"), (_expire, "expired")],
)
async def test_a_stream_ends_with_the_reason_once_its_readers_key_is_no_longer_valid(
    tmp_path: Path,
    opened: Callable[[httpx2.AsyncClient], Awaitable[tuple[str, str]]],
    ended: Callable[[Site, str], None],
    word: str,
) -> None:
    async with site(tmp_path, wait, script=SCRIPT) as at, asyncio.timeout(30):
        key = at.key("acme")
        client = at.client(key)
        method, path = await opened(client)
        body = QUESTION if method == "POST" else None
        lines: list[str] = []
        async with client.stream(method, path, json=body, headers=SSE) as reply:
            async for line in reply.aiter_lines():
                lines.append(line)
                if line == "event: tool_started":
                    ended(at, key)

    kinds = [line for line in lines if line.startswith("event: ")]
    assert kinds[-1] == "event: unauthorized"
    said = [line for line in lines if line.startswith("data: ")]
    error = json.loads(said[-1].removeprefix("data: "))["error"]
    assert error["code"] == "unauthorized"
    assert word in error["message"]


async def test_a_stream_of_another_key_goes_on(tmp_path: Path) -> None:
    async with site(tmp_path, wait, script=SCRIPT) as at, asyncio.timeout(30):
        revoked, kept = at.key("acme"), at.key("acme")
        client = at.client(kept)
        _, path = await _followed(client)
        async with (
            at.client(revoked).stream("GET", path, headers=SSE) as gone,
            client.stream("GET", path, headers=SSE) as stays,
        ):
            _revoke(at, revoked)
            last = [line async for line in gone.aiter_lines() if "event:" in line][-1]
            query_id = path.split("/")[3]
            await client.post(f"/api/queries/{query_id}/cancel")
            kinds = [line async for line in stays.aiter_lines() if "event:" in line]

    assert last == "event: unauthorized"
    assert kinds[-1] == "event: query_closed"


async def test_the_first_key_ends_a_stream_without_one_and_says_why(
    tmp_path: Path,
) -> None:
    async with site(tmp_path, wait, script=SCRIPT) as at, asyncio.timeout(30):
        client = at.client()
        _, path = await _followed(client)
        async with client.stream("GET", path, headers=SSE) as reply:
            at.key("acme")
            kinds = [line async for line in reply.aiter_lines() if "event:" in line]

    assert kinds[-1] == "event: unauthorized"


async def test_a_key_is_not_named_as_the_id_of_another_and_an_id_is_found_first(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        leaked = at.key("acme")
        key_id = leaked.split("_")[1]
        with pytest.raises(BadInputError, match="form of a key's id"):
            at.keys.add(key_id, "acme", ["ask"])
        # As an earlier version allowed.
        other = at.key("acme")
        with at.file.transaction() as connection:
            connection.execute(
                "UPDATE keys SET name = ? WHERE key_id = ?",
                (key_id, other.split("_")[1]),
            )

        revoked = at.keys.revoke(key_id)
        statuses = [
            (await at.client(key).get("/api/courses")).status_code
            for key in (leaked, other)
        ]

    assert revoked.key_id == key_id
    assert statuses == [401, 200]
