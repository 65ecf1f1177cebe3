"""`antiphon faults serve` between real agents and a model's server: what it finds, records and plays back."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anthropic
import msgspec
import openai
import pytest
import yaml

from tests.e2e.conftest import STARTING_S, Antiphon, Shell, environment
from tests.e2e.forking import ForkedCommand, address
from tests.e2e.processes import doubling
from tests.integration.test_fault_proxy import ASKED, REPLIES, TEXT

AGENTS = Path(__file__).parent / "agents"
PYTHON = os.environ.get("AGENTS_PYTHON", sys.executable)
"""The interpreter of the agents that are none of our dependencies; another may have them installed."""
SCRIPT = {
    "replies": [
        {"text": TEXT, "when": {"contains": "tool_result"}, "times": 1000},
        {"calls": [{"name": "get_weather", "input": {"city": "Oslo"}}], "times": 1000},
    ]
}
FAULTS = [
    {"point": "model.request", "kind": "rate_limit", "for_s": 0.1},
    {"point": "model.request", "kind": "drop", "nth": 2},
    {"point": "model.content", "kind": "empty", "nth": 2},
]
SMALLEST = {"faults": [{"point": "model.content", "kind": "empty"}]}


@pytest.fixture
def plan(tmp_path: Path) -> str:
    file = tmp_path / "plan.yaml"
    file.write_text(yaml.safe_dump({"faults": FAULTS}))
    return str(file)


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[ForkedCommand, str]]:
    """The proxy in a process of its own, and its address; what it prints goes to `printed`."""
    with (folder / "printed").open("wb") as printed:
        command = ["faults", "serve", *arguments]
        env = environment(folder)
        process = ForkedCommand(address(), command, folder, env, printed.fileno())
        try:
            said = process.stderr.readline()
            found = re.search(r"http://\S+", said)
            assert found, said + process.stderr.read()
            yield process, found[0]
        finally:
            process.kill()
            process.wait(STARTING_S)


def test_the_smallest_plan_that_breaks_a_plain_sdk_loop_is_found(
    antiphon: Antiphon, tmp_path: Path, plan: str
) -> None:
    recorded = tmp_path / "recorded.jsonl"
    with doubling(tmp_path, SCRIPT) as url:
        run = antiphon(
            *("faults", "serve", "--upstream", url, "--plan", plan),
            *("--record", str(recorded), "--expect", TEXT),
            *("--", sys.executable, str(AGENTS / "sdk_loop.py")),
            ANTHROPIC_API_KEY="sk-a-secret",
        )

    assert run.returncode == 1, run.stderr
    verdict, _, smallest = run.stdout.partition("The smallest plan")
    assert "model.request:rate_limit in call 1: repeated the request" in verdict
    assert "model.request:drop in call 2: repeated the request" in verdict
    assert "model.content:empty in call 4: asked nothing more" in verdict
    assert "ended with status 1: IndexError: list index out of range" in verdict
    assert yaml.safe_load(smallest.partition("\n")[2]) == SMALLEST
    assert b"sk-a-secret" not in recorded.read_bytes()
    first = msgspec.json.decode(recorded.read_bytes().splitlines()[0])
    assert first["request"]["messages"][0]["content"] == "How warm is it in Oslo?"
    assert (first["status"], first["fault"]) == (429, "model.request:rate_limit")


def test_without_a_plan_every_fault_is_tried_by_itself(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    """An agent of one line: the sweep runs it once for each fault."""
    agent = tmp_path / "agent.py"
    agent.write_text(
        "import json, os, urllib.request as r\n"
        "asked = r.Request(os.environ['ANTHROPIC_BASE_URL'] + '/v1/messages', b'{\"messages\": []}')\n"
        "print(json.load(r.urlopen(asked, timeout=1))['content'][0]['text'])\n"
    )
    script = {"replies": [{"text": TEXT}], "then": "last"}
    with doubling(tmp_path, script) as url:
        run = antiphon(
            *("faults", "serve", "--upstream", url, "--expect", TEXT),
            *("--points", "model.request", "--", sys.executable, str(agent)),
        )

    assert run.returncode == 1, run.stderr
    told = run.stdout.splitlines()
    signs = {line.partition(" in call")[0] for line in told}
    assert "✗ model.request:hang" in signs
    assert "✗ model.request:rate_limit" in signs
    assert "10 plans tried, 10 broke the agent" in told
    [refused] = [line for line in told if ":overload" in line]
    assert "asked nothing more; it ended with status 1" in refused
    assert "urllib.error.HTTPError: HTTP Error 529" in refused


@pytest.mark.parametrize(
    ("module", "agent"),
    [
        ("langchain_anthropic", ["langgraph_agent.py"]),
        ("pydantic_ai", ["pydantic_ai_agent.py", "anthropic:claude-sonnet-4-5"]),
    ],
)
def test_an_agent_of_a_framework_is_run_and_its_failures_named(
    antiphon: Antiphon, tmp_path: Path, plan: str, module: str, agent: list[str]
) -> None:
    missing = subprocess.run(
        [PYTHON, "-c", f"import {module}"], capture_output=True, check=False
    )
    if missing.returncode:
        pytest.skip(f"{module} is not installed: name an AGENTS_PYTHON that has it")
    script, *arguments = agent
    with doubling(tmp_path, SCRIPT) as url:
        run = antiphon(
            *("faults", "serve", "--upstream", url, "--plan", plan, "--expect", TEXT),
            *("--limit", "120", "--", PYTHON, str(AGENTS / script), *arguments),
        )

    assert "model.request:rate_limit in call 1: repeated the request" in run.stdout
    assert "model.request:drop in call 2: repeated the request" in run.stdout
    assert "model.content:empty in call 4: " in run.stdout


@pytest.fixture(scope="module")
def replaying(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A proxy that replies in every protocol, from a recording."""
    folder = tmp_path_factory.mktemp("replaying")
    lines = [
        msgspec.json.encode({"request": {}, "response": reply, "status": 200})
        for reply in REPLIES.values()
    ]
    (folder / "recorded.jsonl").write_bytes(b"\n".join(lines))
    with serving(folder, "--replay", str(folder / "recorded.jsonl")) as (_, url):
        yield url


@pytest.mark.parametrize("stream", [False, True])
def test_the_anthropic_sdk_reads_what_is_replayed(replaying: str, stream: bool) -> None:
    client: Any = anthropic.Anthropic(api_key="none", base_url=replaying)
    asked = {"model": "m", "max_tokens": 9, "messages": ASKED}

    if stream:
        with client.messages.stream(**asked) as streamed:
            message = streamed.get_final_message()
    else:
        message = client.messages.create(**asked)

    text, call = message.content
    assert text.type == "text"
    assert text.text == TEXT
    assert call.type == "tool_use"
    assert call.input == {"city": "Oslo"}
    assert message.stop_reason == "tool_use"


@pytest.mark.parametrize("stream", [False, True])
def test_the_openai_sdk_reads_what_is_replayed(replaying: str, stream: bool) -> None:
    client: Any = openai.OpenAI(api_key="none", base_url=f"{replaying}/v1")

    if stream:
        with client.chat.completions.stream(model="m", messages=ASKED) as chunks:
            completion = chunks.get_final_completion()
        with client.responses.stream(model="m", input=ASKED) as events:
            response = events.get_final_response()
    else:
        completion = client.chat.completions.create(model="m", messages=ASKED)
        response = client.responses.create(model="m", input=ASKED)

    [choice] = completion.choices
    [call] = choice.message.tool_calls
    assert choice.message.content == TEXT
    assert call.function.arguments == '{"city":"Oslo"}'
    assert choice.finish_reason == "tool_calls"
    assert response.output_text == TEXT
    assert response.output[1].arguments == '{"city":"Oslo"}'


def test_what_is_recorded_plays_without_the_server(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    recorded = str(tmp_path / "recorded.jsonl")
    loop = ["--expect", TEXT, "--", sys.executable, str(AGENTS / "sdk_loop.py")]
    none = tmp_path / "none.yaml"
    none.write_text("faults: []")
    with doubling(tmp_path, SCRIPT) as url:
        first = antiphon(
            *("faults", "serve", "--upstream", url, "--plan", str(none)),
            *("--record", recorded, *loop),
        )
    second = antiphon(
        "faults", "serve", "--replay", recorded, "--plan", str(none), *loop
    )

    assert first.returncode == 0, first.stdout
    assert second.returncode == 0, second.stdout


STREAMED = """
def streamed(**asked):
    with client.messages.stream(**asked) as events:
        return events.get_final_message()
"""


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_recorded_is_imported_with_the_faults_and_without_what_broke(
    shell: Shell, tmp_path: Path, plan: str, stream: bool
) -> None:
    agent = (AGENTS / "sdk_loop.py").read_text()
    if stream:
        agent = STREAMED + agent.replace("client.messages.create(", "streamed(")
    (tmp_path / "agent.py").write_text(agent)
    cut = {"point": "model.stream.before_end", "kind": "drop", "nth": 2}
    Path(plan).write_text(yaml.safe_dump({"faults": [*FAULTS[:2], cut]}))
    recorded = str(tmp_path / "recorded.jsonl")
    command = partial(shell.run, folder=tmp_path, data_dir=tmp_path / "data")
    with doubling(tmp_path, SCRIPT) as url:
        arguments = ["--upstream", url, "--plan", plan, "--record", recorded]
        with serving(tmp_path, *arguments) as (_, proxy):
            asking = environment(tmp_path, ANTHROPIC_BASE_URL=proxy)
            asking["ANTHROPIC_API_KEY"] = "none"
            ran = subprocess.run(
                [sys.executable, str(tmp_path / "agent.py")], env=asking, check=False
            )

    run = command("traces", "import", recorded)

    assert run.returncode == 0, run.stderr
    [query_id] = [line.partition(":")[0] for line in run.stdout.splitlines()]
    shown = command("traces", "show", query_id).stdout
    why = command("traces", "why", query_id).stdout
    for fault in ("request:rate_limit", "request:drop", "stream.before_end:drop"):
        assert f"injected: model.{fault}" in shown
        assert f"injected: model.{fault}" in why
    # The SDK repeats what breaks, but no stream.
    assert ran.returncode == int(stream)
    assert (TEXT in shown) is not stream


def test_a_dropped_request_gets_no_byte_and_ctrl_c_prints_the_verdict(
    tmp_path: Path, plan: str
) -> None:
    Path(plan).write_text("faults: [{point: model.request, kind: drop, times: 2}]")
    arguments = ["--upstream", "http://127.0.0.1:9", "--plan", plan]
    with serving(tmp_path, *arguments) as (process, url):
        port = int(url.rpartition(":")[2])
        for _ in range(2):
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(
                    b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 15\r\n\r\n"
                    b'{"messages":[]}'
                )
                assert client.recv(100) == b""
        process.send_signal(signal.SIGINT)
        assert process.wait(STARTING_S) == 0

    told = (tmp_path / "printed").read_text()
    assert "model.request:drop in call 1: repeated the request once" in told
    assert "model.request:drop in call 2: asked nothing more" in told


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "Name what is behind the proxy"),
        (["--upstream", "ftp://x"], "Name what is behind the proxy"),
        (["--upstream", "http://x", "--replay", "x"], "Name what is behind"),
        (["--replay", "nowhere.jsonl"], "nowhere.jsonl cannot be read"),
        (["--upstream", "http://x", "--plan", "nowhere"], "cannot be read as a fault"),
        (["--upstream", "http://x", "--record", "/"], "/ cannot be written"),
        (["--upstream", "http://x", "--", "no-such-agent"], "no-such-agent cannot be"),
        (
            ["--upstream", "http://x", "--", "false"],
            "fails though nothing is broken: it ended with status 1",
        ),
    ],
)
def test_what_cannot_be_tried_is_refused_in_a_sentence(
    antiphon: Antiphon, arguments: list[str], why: str
) -> None:
    run = antiphon("faults", "serve", *arguments)

    assert run.returncode == 1
    assert why in run.stderr
    assert len(run.stderr.splitlines()) == 1
