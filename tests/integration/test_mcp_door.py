"""Who may speak to the door for MCP clients, and what it makes of bytes that no client would send."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.types import TextContent
from structlog.testing import capture_logs

from tests.tenants import Site, share_of, site

ASKED = {"question": "What is BM25?"}
MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
}
ACCEPT = {"accept": "application/json, text/event-stream"}
DISCOVER = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "server/discover",
    "params": {"_meta": META},
}


@asynccontextmanager
async def client(
    at: Site, key: str | None, mode: Any = "auto"
) -> AsyncIterator[Client]:
    http = at.client(key)
    over = streamable_http_client(f"{at.url}/mcp", http_client=http)
    async with Client(over, mode=mode) as speaking:
        yield speaking


async def called(
    speaking: Client, tool: str, **arguments: Any
) -> tuple[bool, dict[str, Any] | None, str]:
    """Calls a tool: whether it failed, what it returned, and its text."""
    result = await speaking.call_tool(tool, arguments)
    [content] = result.content
    assert isinstance(content, TextContent)
    return result.is_error, result.structured_content, content.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_door_says_why_a_caller_may_not_ask(
    tmp_path: Path, mode: str
) -> None:
    async with site(tmp_path) as at:
        for key, said in (
            (at.key("acme", "documents"), "it takes the scope `ask`"),
            (at.key("acme", "ask")[:-1] + "-", "key"),
            (None, "key"),
        ):
            refused = pytest.RaisesExc(MCPError, match=said)
            with pytest.RaisesGroup(
                refused, allow_unwrapped=True, flatten_subgroups=True
            ):
                async with client(at, key, mode):
                    pass


async def test_the_suspects_of_a_trace_take_the_scope_debug_and_are_the_tenants_own(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        async with client(at, at.key("acme", "ask")) as asking:
            _, answer, _ = await called(asking, "ask", **ASKED)
            assert answer is not None
            query_id = answer["query_id"]
            forbidden = await called(asking, "why", query_id=query_id)
        async with client(at, at.key("acme", "ask", "debug")) as theirs:
            own = await called(theirs, "why", query_id=query_id)
        async with client(at, at.key("other", "ask", "debug")) as others:
            unknown = await called(others, "why", query_id=query_id)
            foreign = await called(
                others, "ask", session_id=answer["session_id"], **ASKED
            )

    assert forbidden[0]
    assert "it takes the scope `debug`" in forbidden[2]
    assert not own[0]
    assert unknown[0]
    assert "There is no trace" in unknown[2]
    assert foreign[0]
    assert "conversation" in foreign[2]


async def test_a_question_counts_against_the_share_of_its_key(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        key = at.key("acme", "ask", requests=1)
        async with client(at, key) as asking:
            first = await called(asking, "ask", **ASKED)
            second = await called(asking, "ask", **ASKED)
            third = await called(asking, "search", query="BM25")
        used = (await share_of(at.client(key)))["used"]["requests"]

    assert not first[0]
    assert second[0]
    assert "request" in second[2]
    # A search is not a question, and takes nothing from the share.
    assert not third[0]
    assert used == 1


def message(**changed: object) -> bytes:
    return json.dumps(DISCOVER | changed).encode()


def call(name: object, arguments: object) -> bytes:
    params = {"name": name, "arguments": arguments, "_meta": META}
    return message(method="tools/call", params=params)


DEEP = b"[" * 100_000 + b"]" * 100_000
BODIES = {
    "nothing": b"",
    "no JSON": b"{",
    "no UTF-8": b'{"jsonrpc": "\xff"}',
    "a text": b'"ask"',
    "a batch": b"[" + message() + b"," + message(id=2) + b"]",
    "an empty batch": b"[]",
    "a hundred thousand lists": DEEP,
    "a deep argument": call("ask", 0).replace(b": 0", b": " + DEEP),
    "a number of 10,000 digits": message().replace(b": 1", b": " + b"9" * 10_000),
    "no number": message().replace(b": 1", b": NaN"),
    "no method": message(method=None),
    "another version of JSON-RPC": message(jsonrpc="1.0"),
    "a method that there is not": message(method="tools/destroy"),
    "a method of another protocol": message(method="initialize"),
    "an id that is a list": message(id=[1]),
    "parameters that are a list": message(params=[1]),
    "parameters without meta": message(params={}),
    "meta of wrong types": message(params={"_meta": dict.fromkeys(META, 7)}),
    "half a surrogate pair": call("ask", {"question": "\ud800"}),
    "a tool that is a number": call(7, {}),
    "arguments that are a list": call("ask", ["What is BM25?"]),
    "a hostile name": call("\x1b[2J\u202e\n{x}%s" * 50, {}),
    "a megabyte of a name": call("x" * 900_000, {}),
    "a response": json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}}).encode(),
}


async def sent(
    http: httpx2.AsyncClient, body: Any, version: str | None = MODERN, **headers: str
) -> httpx2.Response:
    head = ACCEPT | {"content-type": "application/json"} | headers
    if version is not None:
        head["mcp-protocol-version"] = version
        head.setdefault("mcp-method", "server/discover")
    return await http.post("/mcp", content=body, headers=head)


def refusal(reply: httpx2.Response) -> str:
    """The sentence of an error as JSON-RPC has it."""
    told = reply.json()
    assert told["jsonrpc"] == "2.0"
    sentence = told["error"]["message"]
    assert isinstance(sentence, str)
    return sentence


async def test_the_door_refuses_what_is_not_a_message_and_answers_the_next(
    tmp_path: Path,
) -> None:
    async with site(tmp_path) as at:
        http = at.client()
        for what, body in BODIES.items():
            for version in (MODERN, "2025-11-25", None):
                method = "tools/call" if b"tools/call" in body else "server/discover"
                reply = await sent(http, body, version, **{"mcp-method": method})
                assert reply.status_code < 500, (what, version, reply.text)
                assert "Traceback" not in reply.text
        alive = await sent(http, message())

    assert alive.json()["result"]["supportedVersions"] == [MODERN]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
TOOL_CALLS = st.fixed_dictionaries(
    {
        "name": st.sampled_from(["search", "fetch", "why", "ask", "?"]) | JSON_VALUES,
        "arguments": st.dictionaries(
            st.sampled_from(
                ["query", "course", "lesson", "limit", "id", "query_id", "session_id"]
            ),
            JSON_VALUES,
        )
        | JSON_VALUES,
        "_meta": st.just(META) | JSON_VALUES,
    }
)


async def test_no_arguments_break_a_tool(tmp_path: Path) -> None:
    async with site(tmp_path) as at:
        http = at.client()

        @settings(
            max_examples=150,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @given(TOOL_CALLS)
        def collect(params: Any) -> None:
            bodies.append(message(method="tools/call", params=params))

        bodies: list[bytes] = []
        collect()
        for body in bodies:
            name = json.loads(body)["params"]["name"]
            named = {"mcp-name": name} if name in ("search", "fetch", "why") else {}
            for version in (MODERN, "2025-11-25"):
                reply = await sent(
                    http, body, version, **{"mcp-method": "tools/call"}, **named
                )
                assert reply.status_code < 500, (body, reply.text)
                # JSON-RPC's code for an internal error.
                assert "-32603" not in reply.text, (body, reply.text)


async def body_in_pieces() -> AsyncIterator[bytes]:
    """More than the service takes, and no length before it."""
    for _ in range(1_001):
        yield b" " * 1_000


@pytest.mark.parametrize("version", [MODERN, "2025-11-25", None])
async def test_a_refusal_by_the_guards_is_a_json_rpc_error(
    tmp_path: Path, version: str | None
) -> None:
    async with site(tmp_path) as at:
        http = at.client()
        foreign_host = await sent(http, message(), version, host="evil.example")
        foreign_page = await sent(
            http, message(), version, origin="https://evil.example"
        )
        form = await sent(http, message(), version, **{"content-type": "text/plain"})
        large = await sent(http, b" " * 1_100_000, version)
        larger = await sent(http, body_in_pieces(), version)
        in_address = await http.post(f"/mcp?key={at.key('acme', 'ask')}", json={})
        read = await http.get("/mcp", headers=ACCEPT)
        gone = await http.delete("/mcp")

    for reply, status, said in (
        (foreign_host, 400, "ANTIPHON_ALLOWED_HOSTS"),
        (foreign_page, 403, "another site"),
        (form, 415, "application/json"),
        (large, 413, "1,000,000 bytes"),
        (larger, 413, "1,000,000 bytes"),
        (in_address, 400, "rotate it"),
        (read, 405, "method"),
        (gone, 405, "method"),
    ):
        assert reply.status_code == status, reply.text
        assert said in refusal(reply)


async def test_a_page_that_the_owner_named_may_speak_to_the_door(
    tmp_path: Path,
) -> None:
    page = "https://mine.example"
    wanted = "content-type,mcp-method,mcp-name,mcp-protocol-version"
    preflight = {
        "origin": page,
        "access-control-request-method": "POST",
        "access-control-request-headers": wanted,
    }
    async with site(tmp_path, allowed_origins=page) as at:
        http = at.client()
        allowed = await http.options("/mcp", headers=preflight)
        reply = await sent(http, message(), origin=page)

    assert allowed.status_code == 200, allowed.text
    assert reply.status_code == 200
    assert reply.headers["access-control-allow-origin"] == page


async def test_the_door_leaves_the_logging_of_the_process_alone(
    tmp_path: Path,
) -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    # Without pytest's handlers: `logging.basicConfig` adds one only if there is none.
    root.handlers.clear()
    try:
        async with site(tmp_path) as at:
            with capture_logs() as lines:
                await sent(at.client(), b"[]", "2025-11-25")
            found = root.handlers[:]
    finally:
        root.handlers[:], level = before
        root.setLevel(level)

    assert found == []
    assert [repr(each["status"]) for each in lines if each["event"] == "request"] == [
        "400"
    ]
