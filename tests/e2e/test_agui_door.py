"""The door for AG-UI, with AG-UI's own client for Node on the other side of a socket."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import (
    ROOT,
    STARTING_S,
    Antiphon,
    Server,
    serving,
    without_traces,
)

QUESTION = "What is applemailbox7 in the Apple course?"
NODE_MODULES = ROOT / "tests" / "browser" / "node_modules"
LINK = re.compile(r" ?\[\[(\d+)\]\]\((\S+?)\)")
GONE_S = 20.0

Runs = list[dict[str, Any]]
Agent = Callable[..., Runs]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    """Runs a conversation with AG-UI's client, and returns what it saw of each run."""
    if not (NODE_MODULES / "@ag-ui").exists() and not os.environ.get("CI"):
        pytest.skip("NO @ag-ui/client: `make browser` installs it")
    folder = tmp_path_factory.mktemp("node")
    (folder / "node_modules").symlink_to(NODE_MODULES)
    script = shutil.copy(Path(__file__).with_name("agui_client.mjs"), folder)

    def converse(server: Server, *runs: dict[str, Any], **config: Any) -> Runs:
        asked = {"url": f"{server.url}/agui", "runs": runs} | config
        ended = subprocess.run(
            ["node", script, json.dumps(asked)],
            capture_output=True,
            text=True,
            timeout=STARTING_S,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr
        told: Runs = json.loads(ended.stdout)
        return told

    return converse


def kinds(run: dict[str, Any]) -> list[str]:
    return [event["type"] for event in run["events"]]


def of_kind(run: dict[str, Any], kind: str) -> Runs:
    return [each for each in run["events"] if each["type"] == kind]


def recorded(rest: httpx2.Client, query_id: str) -> list[dict[str, Any]]:
    events = rest.get(f"/api/traces/{query_id}").json()["events"]
    return [each["event"] for each in events]


def test_a_run_shows_its_rounds_tools_answer_and_sources(
    agent: Agent, door: Server, rest: httpx2.Client
) -> None:
    [run] = agent(door, {"say": QUESTION, "runId": "r1"}, initialState={"page": 3})

    assert "error" not in run
    ours = run["state"]["antiphon"]
    trace = recorded(rest, ours["query_id"])
    calls = [each["call"] for each in trace if each["kind"] == "tool_requested"]
    found = [each["output"] for each in trace if each["kind"] == "tool_succeeded"]
    rounds = [each for each in trace if each["kind"] == "round_opened"]
    [started] = of_kind(run, "RUN_STARTED")
    assert started["protocolVersion"] == "1.0"
    assert len(of_kind(run, "STEP_STARTED")) == len(rounds)
    assert [
        (named["toolCallName"], given["delta"])
        for named, given in zip(
            of_kind(run, "TOOL_CALL_START"), of_kind(run, "TOOL_CALL_ARGS"), strict=True
        )
    ] == [(call["name"], call["arguments"]) for call in calls]
    assert found
    assert [each["content"] for each in of_kind(run, "TOOL_CALL_RESULT")] == found
    # What the page keeps in the shared state stays.
    assert run["state"]["page"] == 3
    answer = rest.get(f"/api/queries/{ours['query_id']}").json()["answer"]
    text = run["messages"][-1]["content"]
    links = LINK.findall(text)
    assert links
    assert LINK.sub("", text).split() == answer["answer"].split()
    assert [each["fact"] for each in ours["citations"]] == [
        each["fact"] for each in answer["citations"]
    ]
    assert {each["url"] for each in ours["citations"]} == {url for _, url in links}
    assert (
        ours | {"citations": []}
        == answer | {"citations": []}
        == run["result"] | {"citations": []}
    )
    [finished] = of_kind(run, "RUN_FINISHED")
    [used] = finished["usage"]
    assert used["model"] == "offline"
    assert used["outputTokens"] == answer["usage"]["output_tokens"]


def test_a_question_that_refers_back_is_understood_by_the_messages_before_it(
    agent: Agent, door: Server, rest: httpx2.Client
) -> None:
    first, second = agent(door, {"say": QUESTION}, {"say": "And why?"})

    received = recorded(rest, second["result"]["query_id"])[0]
    [exchange] = received["history"]
    assert "applemailbox7" in second["messages"][-1]["content"]
    assert exchange["question"] == QUESTION
    # As it was recorded: without the links that clients get.
    assert exchange["answer"].split() == first["result"]["answer"].split()


def test_a_run_that_is_asked_for_again_is_answered_and_not_asked_twice(
    agent: Agent, door: Server
) -> None:
    first = {"say": QUESTION, "runId": "r1"}
    cut = first | {"runId": "r2", "leaveAt": "TEXT_MESSAGE_CONTENT"}

    one, again, left, resumed = agent(
        door, first, {"runId": "r1"}, cut, {"runId": "r2"}
    )

    [other] = agent(door, first, threadId="another")
    assert one["result"] == again["result"]
    assert kinds(one) == kinds(again)
    assert "RUN_FINISHED" not in kinds(left)
    assert resumed["result"]["query_id"] == left["state"]["antiphon"]["query_id"]
    assert "error" not in resumed
    # In another thread the same name is another run's.
    assert other["result"]["query_id"] != one["result"]["query_id"]


def test_a_run_id_of_another_question_is_refused(agent: Agent, door: Server) -> None:
    first = {"say": QUESTION, "runId": "r1"}
    _, refused = agent(door, first, first | {"say": "What is a mailbox?"})

    assert "409" in refused["error"]
    assert "`runId`" in refused["error"]


def _none_runs(rest: httpx2.Client) -> None:
    ends_at = time.monotonic() + GONE_S
    while rest.get("/api/queries").json()["queries"]:
        assert time.monotonic() < ends_at, "the query goes on"
        time.sleep(0.05)


def test_a_client_that_leaves_cancels_its_run_but_not_one_that_it_will_come_back_for(
    agent: Agent, data_dir: Path, tmp_path: Path, silent_model: str
) -> None:
    own = without_traces(data_dir, tmp_path)
    named = {"ANTHROPIC_BASE_URL": silent_model, "ANTIPHON_DOORS": "agui"}
    leaves = {"say": QUESTION, "runId": "r1", "leaveAt": "STEP_STARTED"}
    with (
        serving(own, tmp_path, **named) as stuck,
        httpx2.Client(base_url=stuck.url) as rest,
    ):
        [left] = agent(stuck, leaves)
        _none_runs(rest)
        gone = recorded(rest, left["state"]["antiphon"]["query_id"])
        kept = {"headers": {"Idempotency-Key": "mine"}}
        agent(stuck, leaves, **kept)
        [under_way] = rest.get("/api/queries").json()["queries"]
        rest.post(f"/api/queries/{under_way['query_id']}/cancel")
        [back] = agent(stuck, {"say": QUESTION, "runId": "r2"}, **kept)

    assert gone[-1]["status"] == "cancelled"
    assert back["state"]["antiphon"]["query_id"] == under_way["query_id"]
    [finished] = of_kind(back, "RUN_FINISHED")
    assert finished["outcome"] == {"type": "cancelled"}


def test_a_run_whose_reader_loses_access_ends_with_the_reason(
    agent: Agent, data_dir: Path, tmp_path: Path, silent_model: str, antiphon: Antiphon
) -> None:
    own = without_traces(data_dir, tmp_path)
    named = {"ANTHROPIC_BASE_URL": silent_model, "ANTIPHON_DOORS": "agui"}
    with (
        serving(own, tmp_path, ANTIPHON_DEADLINE_S="60", **named) as stuck,
        httpx2.Client(base_url=stuck.url) as rest,
        ThreadPoolExecutor(1) as aside,
    ):
        running = aside.submit(agent, stuck, {"say": QUESTION})
        while not rest.get("/api/queries").json()["queries"]:
            assert not running.done()
            time.sleep(0.05)
        made = antiphon("keys", "add", "web", "--tenant", "acme", data_dir=own)
        [run] = running.result()

    assert made.returncode == 0, made.stderr
    assert kinds(run)[-1] == "RUN_ERROR"
    assert "asks for a key" in run["events"][-1]["message"]


def test_an_answer_comes_though_no_model_does_and_the_run_shows_what_is_tried(
    agent: Agent, data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    # Nobody listens at port 9 (discard) of this machine.
    named = {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "ANTIPHON_DOORS": "agui"}
    with serving(own, tmp_path, **named) as running:
        [run] = agent(running, {"say": QUESTION})

    tried = [each["content"] for each in run["messages"] if each["role"] == "reasoning"]
    answer, _, notes = run["messages"][-1]["content"].partition("\n\n> Note: ")
    assert "The built-in reasoner takes over" in tried
    assert "applemailbox7" in answer
    assert "model" in notes
