"""A query as a person sees it in Phoenix: started from its package, read through the API that its pages use.

Phoenix has many packages, so it is looked for in an environment of its own: ANTIPHON_TEST_PHOENIX names its command.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import Server, serving, without_traces
from tests.e2e.test_double import double

PHOENIX = os.environ.get("ANTIPHON_TEST_PHOENIX") or shutil.which("phoenix")
pytestmark = pytest.mark.skipif(
    PHOENIX is None,
    reason="NO PHOENIX: install arize-phoenix in an environment of its own, and name its command in "
    "ANTIPHON_TEST_PHOENIX",
)
STARTING_S = 300.0
"""It imports much: a busy machine takes minutes."""
ARRIVING_S = 30.0
QUESTION = "What does the apple course say? My card is 4111 1111 1111 1111."
SCRIPT = """
replies:
  - text: "I will look."
    calls: [{name: search_course_content, input: {query: apple}}]
    usage: {input_tokens: 620, cache_creation_input_tokens: 1800, output_tokens: 58}
  - text: "It is about apples."
    usage: {input_tokens: 940, cache_read_input_tokens: 1800, output_tokens: 61}
then: fail
"""
SPANS = """
query ($project: ID!) {
  node(id: $project) {
    ... on Project {
      spans(first: 100) {
        edges {
          node {
            name
            spanKind
            attributes
            input { value }
            output { value }
            costSummary { total { cost } }
            trace { traceId costSummary { total { cost } } session { sessionId } }
          }
        }
      }
    }
  }
}
"""


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Phoenix with an empty store."""
    assert PHOENIX is not None
    http, grpc = free_port(), free_port()
    env = os.environ | {
        "PHOENIX_WORKING_DIR": str(tmp_path_factory.mktemp("phoenix")),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(http),
        "PHOENIX_GRPC_PORT": str(grpc),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    # It has packages of its own.
    env.pop("PYTHONPATH", None)
    url = f"http://127.0.0.1:{http}"
    with subprocess.Popen(
        [PHOENIX, "serve"],
        env=env,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            eventually(lambda: is_up(url), STARTING_S)
            yield url
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def server(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory, phoenix: str
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("shown")
    with (
        double(SCRIPT, folder) as model,
        serving(
            without_traces(data_dir, folder),
            folder,
            ANTIPHON_CITATIONS="native",
            ANTHROPIC_BASE_URL=model,
            ANTIPHON_OTLP_ENDPOINT=phoenix,
            ANTIPHON_OTLP_CONTENT="1",
        ) as running,
    ):
        yield running


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def is_up(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/readyz").status_code == 200
    except httpx2.TransportError:
        return False


def eventually(found: Callable[[], Any], within_s: float) -> Any:
    until = time.monotonic() + within_s
    while not (there := found()):
        assert time.monotonic() < until, "it did not come in time"
        time.sleep(0.2)
    return there


def asked(url: str, query: str, **variables: str) -> dict[str, Any]:
    body = {"query": query, "variables": variables}
    reply = httpx2.post(f"{url}/graphql", json=body, timeout=30.0).json()
    assert "errors" not in reply, reply
    data: dict[str, Any] = reply["data"]
    return data


def spans_of(url: str, query_id: str) -> Mapping[str, Any]:
    """The spans of a query by the kind that Phoenix gives them; none until the last one has arrived."""
    projects = asked(url, "{ projects { edges { node { id } } } }")["projects"]
    shown: dict[str, Any] = {}
    for project in projects["edges"]:
        found = asked(url, SPANS, project=project["node"]["id"])["node"]["spans"]
        for edge in found["edges"]:
            span = edge["node"]
            if span["trace"]["traceId"] == query_id:
                shown.setdefault(span["spanKind"], []).append(span)
    return shown if "agent" in shown else {}


def test_phoenix_shows_the_prompt_passages_answer_and_cost_of_a_query(
    server: Server, phoenix: str
) -> None:
    reply = httpx2.post(f"{server.url}/api/query", json={"query": QUESTION}, timeout=60)
    assert reply.status_code == 200, reply.text
    answer = reply.json()

    spans = eventually(lambda: spans_of(phoenix, answer["query_id"]), ARRIVING_S)

    [query] = spans["agent"]
    assert query["input"]["value"].startswith("What does the apple course say?")
    assert query["output"]["value"] == answer["answer"] == "It is about apples."
    assert query["trace"]["session"]["sessionId"] == answer["session_id"]
    cost = query["trace"]["costSummary"]["total"]["cost"]
    assert cost == pytest.approx(answer["usage"]["cost_usd"])
    assert cost == pytest.approx(0.00899)

    calls = [json.loads(call["attributes"])["llm"] for call in spans["llm"]]
    calls.sort(key=lambda call: call["token_count"]["prompt"])
    assert [call["token_count"]["prompt"] for call in calls] == [2420, 2740]
    for call in calls:
        system, *_, user = [each["message"] for each in call["input_messages"]]
        assert system["role"] == "system"
        assert "You answer questions" in str(system)
        assert "What does the apple course say?" in str(user)
        names = [json.loads(each["tool"]["json_schema"]) for each in call["tools"]]
        assert "search_course_content" in str(names)
    [said] = calls[0]["output_messages"]
    assert said["message"]["tool_calls"][0]["tool_call"]["function"]["name"] == (
        "search_course_content"
    )
    assert calls[1]["output_messages"][0]["message"]["content"] == "It is about apples."

    [tool] = spans["tool"]
    assert json.loads(tool["attributes"])["tool"]["parameters"] == {"query": "apple"}
    [retrieval] = spans["retriever"]
    assert retrieval["input"]["value"] == "apple"
    documents = json.loads(retrieval["attributes"])["retrieval"]["documents"]
    passages = [each["document"] for each in documents]
    assert passages
    assert all("apple" in passage["content"].lower() for passage in passages)
    assert all(passage["score"] > 0 for passage in passages)
    assert passages[0]["content"] in tool["output"]["value"]
    # The card's number is redacted, as in the trace.
    assert "4111" not in json.dumps(spans)
