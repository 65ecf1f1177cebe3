"""The door for MCP clients, with the protocol's own client at the other end: over HTTP and over standard input."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import CallToolResult, TextContent, TextResourceContents

from tests.e2e.conftest import (
    ROOT,
    STARTING_S,
    Antiphon,
    Server,
    environment,
    serving,
    without_traces,
)

QUESTION = "What is applemailbox7 in the Apple course?"
GONE_S = 20.0
Mode = Literal["auto", "legacy"]
MODES: tuple[Mode, ...] = ("auto", "legacy")
"""Without a handshake, and with that of older clients."""


@pytest.fixture(scope="module")
def door(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The service over the two courses with the door open, without a key."""
    folder = tmp_path_factory.mktemp("door")
    own = without_traces(data_dir, folder)
    with serving(own, folder, ANTIPHON_DOORS="mcp") as running:
        yield running


@asynccontextmanager
async def over_http(server: Server, mode: Mode = "auto") -> AsyncIterator[Client]:
    async with Client(f"{server.url}/mcp", mode=mode) as client:
        yield client


def started(data_dir: Path, **settings: str) -> StdioServerParameters:
    """The command as a client starts it."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "antiphon.cli", "mcp"],
        env=environment(data_dir, **settings),
        cwd=str(ROOT),
    )


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def read(client: Client, uri: str) -> str:
    """The text of a resource."""
    [content] = (await client.read_resource(uri)).contents
    assert isinstance(content, TextResourceContents)
    return content.text


async def told(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """What a tool returned, which its text holds too."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text_of(result)
    assert json.loads(text_of(result)) == result.structured_content
    found: dict[str, Any] = result.structured_content
    return found


async def is_answered(client: Client) -> dict[str, Any]:
    """Asks, and returns the answer once it has what an answer must have."""
    steps: list[str | None] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append(message)

    result = await client.call_tool(
        "ask", {"question": QUESTION}, progress_callback=note
    )

    answer: dict[str, Any] = result.structured_content
    assert "applemailbox7" in answer["answer"]
    assert answer["confidence"] in ("high", "medium", "low")
    assert answer["citations"]
    for cited in answer["citations"]:
        assert cited["claim"] in answer["answer"]
        assert cited["cited_text"]
        assert cited["source"]
    assert any("Searching" in (step or "") for step in steps)
    return answer


@pytest.mark.parametrize("mode", MODES)
async def test_an_answer_comes_with_its_citations_and_what_was_done_on_the_way(
    door: Server, mode: Mode
) -> None:
    async with over_http(door, mode) as client:
        answer = await is_answered(client)
        why = await told(client, "why", query_id=answer["query_id"])

    with httpx2.Client(base_url=door.url, timeout=STARTING_S) as rest:
        recorded = rest.get(f"/api/queries/{answer['query_id']}").json()["answer"]
        first = recorded["citations"][0]
        page = rest.get(answer["citations"][0]["url"])
    assert answer["answer"] == recorded["answer"]
    assert answer["confidence"] == recorded["uncertainty"]["confidence"]
    assert answer["citations"][0]["cited_text"] == first["cited_text"]
    assert page.status_code == 200
    assert {"text", "advice", "event_seq"} <= why["suspects"][0].keys()


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_starts_the_command_is_answered_from_the_data_folder(
    data_dir: Path, tmp_path: Path, mode: Mode
) -> None:
    own = without_traces(data_dir, tmp_path)

    async with Client(started(own), mode=mode) as client:
        tools = await client.list_tools()
        answer = await is_answered(client)
        why = await told(client, "why", query_id=answer["query_id"][:12])

    assert [tool.name for tool in tools.tools] == ["ask", "search", "fetch", "why"]
    assert why["suspects"]


def test_nothing_but_the_protocol_comes_out_of_the_command(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    sent = [
        "no JSON",
        "[]",
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
        "[" * 100_000,
        json.dumps({"jsonrpc": "2.0", "id": [], "method": "ping"}),
        json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}),
    ]
    command = started(own, ANTIPHON_LOG_LEVEL="debug")

    ran = subprocess.run(
        [command.command, *command.args],
        env=command.env,
        cwd=command.cwd,
        input="\n".join([*sent, ""]),
        capture_output=True,
        text=True,
        timeout=STARTING_S,
        check=False,
    )

    replies = [json.loads(line) for line in ran.stdout.splitlines()]
    assert ran.returncode == 0, ran.stderr
    assert [each["id"] for each in replies if "result" in each] == [1, 2]
    assert all(each["jsonrpc"] == "2.0" for each in replies)


def test_the_command_says_on_standard_error_that_nothing_is_indexed(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    ran = antiphon("mcp", data_dir=tmp_path / "none")

    assert (ran.returncode, ran.stdout) == (1, "")
    assert "--data-dir" in ran.stderr
    assert not (tmp_path / "none").exists()


async def test_a_client_reads_a_passage_in_its_place_and_on_to_the_end(
    door: Server,
) -> None:
    async with over_http(door) as client:
        found = await told(client, "search", query="applemailbox7", limit=1)
        [passage] = found["results"]
        around = await told(client, "fetch", id=passage["id"])
        lesson, _, _ = passage["id"].partition("&start=")
        whole = await read(client, lesson)
        rest = await told(client, "fetch", id=f"{lesson}&start=10")

    assert passage["text"] in around["text"]
    assert around["text"] in whole
    assert rest["text"] == whole
    assert rest["next"] is None
    with httpx2.Client(timeout=STARTING_S) as reader:
        assert reader.get(passage["url"]).status_code == 200


async def test_courses_and_lessons_are_resources(door: Server) -> None:
    async with over_http(door) as client:
        listed = await client.list_resources()
        templates = await client.list_resource_templates()
        texts = {each.uri: await read(client, each.uri) for each in listed.resources}

    names = [each.name for each in listed.resources]
    outlines = [each for each in listed.resources if "(outline)" in each.name]
    assert len(outlines) == 2
    assert any("Lesson" in name for name in names)
    assert all(texts.values())
    for outline in outlines:
        lessons = [uri for uri in texts if uri.startswith(f"{outline.uri}?")]
        assert lessons
        assert all(uri in texts[outline.uri] for uri in lessons)
    assert templates.resource_templates[0].uri_template.startswith("antiphon://")


@pytest.mark.parametrize(
    "uri",
    [
        "antiphon://courses/None",
        "antiphon://courses/None?lesson=1",
        "antiphon://courses/None?lesson=x",
        "antiphon://courses/None?start=-1",
        f"antiphon://courses/None?start={'9' * 5_000}",
        "antiphon://courses/..%2F..%2Fetc?start=0",
        "antiphon://courses/The%20Apple%20Course?start=0",
        "antiphon://courses/%00?start=0",
        f"antiphon://{'a' * 60_000}",
        "file:///etc/passwd",
        "",
    ],
)
async def test_an_invalid_place_is_refused_in_a_sentence(
    door: Server, uri: str
) -> None:
    async with over_http(door) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri)
        result = await client.call_tool("fetch", {"id": uri})

    assert refused.value.code == -32602
    assert result.is_error
    assert text_of(result).startswith("There is no ")
    assert "no lesson None" not in text_of(result)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("ask", {}, "`question` is missing and must be sent."),
        ("ask", {"question": 7}, "`question` must be a text."),
        ("ask", {"question": " "}, "The question is empty"),
        ("ask", {"question": "x" * 100_000}, "characters"),
        ("ask", {"question": "x", "session_id": "none-such"}, "conversation"),
        ("search", {"query": ""}, "The query is empty"),
        ("search", {"query": "x", "limit": 0}, "`limit` must be at least 1."),
        ("search", {"query": "x", "limit": "many"}, "`limit` must be a whole number."),
        ("search", {"query": "x", "course": "None such"}, "None such"),
        ("search", {"query": "x", "lesson": {"deep": []}}, "`lesson` must be a whole"),
        ("why", {"query_id": "none"}, "There is no trace 'none'"),
        ("why", {"query_id": "x" * 201}, "`query_id` may have 200 characters at most."),
        ("none", {}, "Unknown tool: none"),
    ],
)
async def test_a_sentence_says_why_a_call_cannot_be_answered(
    door: Server, tool: str, arguments: dict[str, Any], said: str
) -> None:
    async with over_http(door) as client:
        result = await client.call_tool(tool, arguments)

    assert result.is_error
    assert said in text_of(result)
    assert "Error executing" not in text_of(result)


async def test_a_conversation_goes_on(door: Server) -> None:
    async with over_http(door) as client:
        first = await told(client, "ask", question=QUESTION)
        second = await told(
            client, "ask", question="And why?", session_id=first["session_id"]
        )

    assert second["session_id"] == first["session_id"]
    assert "applemailbox7" in second["answer"]


async def under_way(rest: httpx2.AsyncClient, count: int) -> list[str]:
    """The queries that run, once there are as many."""
    ends_at = time.monotonic() + GONE_S
    while True:
        queries = (await rest.get("/api/queries")).json()["queries"]
        if len(queries) == count:
            return [each["query_id"] for each in queries]
        assert time.monotonic() < ends_at, queries
        await anyio.sleep(0.05)


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_that_leaves_cancels_its_query(
    data_dir: Path, tmp_path: Path, silent_model: str, mode: Mode
) -> None:
    own = without_traces(data_dir, tmp_path)
    named = {"ANTHROPIC_BASE_URL": silent_model, "ANTIPHON_DOORS": "mcp"}
    with serving(own, tmp_path, **named) as stuck:
        async with httpx2.AsyncClient(base_url=stuck.url) as rest:
            async with (
                over_http(stuck, mode) as client,
                anyio.create_task_group() as at,
            ):
                at.start_soon(client.call_tool, "ask", {"question": QUESTION})
                [query_id] = await under_way(rest, 1)
                at.cancel_scope.cancel()
            await under_way(rest, 0)
            trace = (await rest.get(f"/api/traces/{query_id}")).json()

    events = [each["event"] for each in trace["events"]]
    assert events[-1]["status"] == "cancelled"
    assert [each["why"] for each in events if each["kind"] == "query_cancelled"] == [
        "the client went away"
    ]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("end", ["stop", "key"])
async def test_a_client_learns_why_its_call_ends_without_an_answer(
    data_dir: Path,
    tmp_path: Path,
    silent_model: str,
    antiphon: Antiphon,
    mode: Mode,
    end: str,
) -> None:
    own = without_traces(data_dir, tmp_path)
    said = ""

    async def ask(client: Client) -> None:
        nonlocal said
        try:
            # A client that asks for progress gets a stream, even without a handshake.
            result = await client.call_tool(
                "ask", {"question": QUESTION}, progress_callback=_nothing
            )
            said = text_of(result)
        except MCPError as error:
            said = error.message

    named = {"ANTHROPIC_BASE_URL": silent_model, "ANTIPHON_DOORS": "mcp"}
    with serving(own, tmp_path, ANTIPHON_DEADLINE_S="60", **named) as stuck:
        async with (
            httpx2.AsyncClient(base_url=stuck.url) as rest,
            over_http(stuck, mode) as client,
            anyio.create_task_group() as at,
        ):
            at.start_soon(ask, client)
            await under_way(rest, 1)
            if end == "stop":
                await anyio.to_thread.run_sync(stuck.stop)
            else:
                made = antiphon("keys", "add", "web", "--tenant", "acme", data_dir=own)
                assert made.returncode == 0, made.stderr

    assert ("stopped" if end == "stop" else "asks for a key") in said


async def _nothing(progress: float, total: float | None, message: str | None) -> None:
    """Ignores progress."""


async def test_a_client_that_cancels_its_call_of_the_command_cancels_the_query(
    data_dir: Path, tmp_path: Path, silent_model: str, antiphon: Antiphon
) -> None:
    own = without_traces(data_dir, tmp_path)

    async def until(status: str) -> None:
        ends_at = time.monotonic() + STARTING_S
        while True:
            ran = await anyio.to_thread.run_sync(
                lambda: antiphon("traces", "list", "--json", data_dir=own)
            )
            if ran.returncode == 0 and f'"{status}"' in ran.stdout:
                return
            assert time.monotonic() < ends_at, ran
            await anyio.sleep(0.1)

    command = started(own, ANTHROPIC_BASE_URL=silent_model, ANTIPHON_DEADLINE_S="600")
    async with Client(command) as client:
        async with anyio.create_task_group() as at:
            at.start_soon(client.call_tool, "ask", {"question": QUESTION})
            await until("open")
            at.cancel_scope.cancel()
        await until("cancelled")
        # The command goes on for its client.
        assert await told(client, "search", query="applemailbox7")


async def test_an_answer_comes_though_no_model_does(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    # Nobody listens at port 9 (discard) of this machine.
    named = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTIPHON_DOORS": "mcp"}
    with serving(own, tmp_path, **named) as running:
        async with over_http(running) as client:
            answer = await is_answered(client)

    assert any("model" in doubt for doubt in answer["doubts"])
