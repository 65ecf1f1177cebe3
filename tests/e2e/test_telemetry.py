"""A served service is watched by a collector and by a real Prometheus: what arrives agrees with the traces."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml

from tests.collector import Collector, collecting
from tests.e2e.conftest import (
    ROOT,
    STARTING_S,
    Server,
    environment,
    serving,
    without_traces,
)

WAITING_S = 30.0
THEIRS = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as running:
        yield running


@pytest.fixture(scope="module")
def server(
    data_dir: Path, tmp_path_factory: pytest.TempPathFactory, collector: Collector
) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("watched")
    with serving(
        without_traces(data_dir, folder),
        folder,
        ANTIPHON_METRICS="prometheus",
        ANTIPHON_OTLP_ENDPOINT=collector.url,
    ) as running:
        yield running


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=server.url, timeout=STARTING_S) as calling:
        yield calling


def ask(client: httpx2.Client, **headers: str) -> dict[str, Any]:
    reply = client.post(
        "/api/query", json={"query": "What does the apple course say?"}, headers=headers
    )
    assert reply.status_code == 200, reply.text
    answer: dict[str, Any] = reply.json()
    return answer


def test_spans_of_a_served_query_arrive_and_name_its_events(
    client: httpx2.Client, collector: Collector
) -> None:
    answer = ask(client, traceparent=f"00-{THEIRS}-00f067aa0ba902b7-01")

    spans = collector.of(answer["query_id"])
    events = client.get(f"/api/traces/{answer['query_id']}").json()["events"]
    kinds = {each["seq"]: each["event"]["kind"] for each in events}
    begun = {
        span.name.partition(" ")[0]: kinds[
            int(str(span.attributes["antiphon.event.seq"]))
        ]
        for span in spans
    }
    assert begun == {
        "invoke_agent": "query_received",
        "round": "round_opened",
        "chat": "reasoning_requested",
        "execute_tool": "tool_requested",
    }
    for name, kind in (("chat", "reasoning_requested"), ("round", "round_opened")):
        counted = [span for span in spans if span.name.startswith(name)]
        assert len(counted) == list(kinds.values()).count(kind)
    assert {span.trace_id for span in spans} == {THEIRS}


def test_a_query_after_one_with_a_callers_trace_begins_its_own(
    client: httpx2.Client, collector: Collector
) -> None:
    ask(client, traceparent=f"00-{THEIRS}-00f067aa0ba902b7-01")
    answer = ask(client)

    spans = collector.of(answer["query_id"])

    assert {span.trace_id for span in spans} == {answer["query_id"]}


def test_without_the_setting_for_it_no_text_of_a_served_query_leaves(
    client: httpx2.Client, collector: Collector
) -> None:
    answer = ask(client)

    collector.of(answer["query_id"])

    assert "apple" in answer["answer"].lower()
    assert not any(b"apple" in body.lower() for body in collector.bodies)


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Callable[[str], float | None]]:
    """A Prometheus that watches `target` by our own configuration, quicker; yields a way to ask it."""
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["scrape_configs"][0]["static_configs"] = [{"targets": [target]}]
    shutil.copy(ROOT / "deploy/prometheus/rules.yml", folder)
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [
        "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={address}",
        "--log.level=error",
    ]

    def value(expression: str) -> float | None:
        reply = httpx2.get(
            f"http://{address}/api/v1/query", params={"query": expression}
        )
        assert reply.status_code == 200, reply.text
        found = reply.json()["data"]["result"]
        return float(found[0]["value"][1]) if found else None

    with subprocess.Popen(command, cwd=folder) as process:
        try:
            wait_for(lambda: is_up(address))
            yield value
        finally:
            process.terminate()


def is_up(address: str) -> bool:
    try:
        return httpx2.get(f"http://{address}/-/ready").status_code == 200
    except httpx2.TransportError:
        return False


def wait_for(there: Callable[[], bool]) -> None:
    until = time.monotonic() + WAITING_S
    while not there():
        assert time.monotonic() < until, "it did not come in time"
        time.sleep(0.2)


def test_a_real_prometheus_reads_what_the_traces_say(
    client: httpx2.Client, server: Server, tmp_path: Path
) -> None:
    if shutil.which("prometheus") is None:
        pytest.skip("no Prometheus here: `apt-get install prometheus` has it")
    answers = [ask(client) for _ in range(3)]
    ids = [each["query_id"] for each in client.get("/api/traces").json()["traces"]]
    traces = [client.get(f"/api/traces/{each}").json()["events"] for each in ids]
    events = [each["event"] for trace in traces for each in trace]
    replies = [each for each in events if each["kind"] == "reasoning_completed"]
    tokens = sum(each["usage"]["output_tokens"] for each in replies)

    with prometheus(tmp_path, server.url.removeprefix("http://")) as value:
        wait_for(
            lambda: (
                value("sum(antiphon_queries_total)") == len(ids)
                and value("antiphon:uncertain_answers:share5m") is not None
            )
        )

        assert len(ids) >= len(answers)
        assert value("sum(antiphon_calls_total)") == len(replies)
        assert value('sum(antiphon_tokens_total{kind="output"})') == tokens
        assert value("antiphon_query_duration_seconds_count") == len(ids)
        assert value("antiphon_ready") == 1
        assert value('up{job="antiphon"}') == 1
        asked = value('sum(antiphon_http_requests_total{route="/api/query"})')
        assert asked == len(ids)
        # No trace's id is a label.
        assert (
            value(f'count({{__name__=~"antiphon.*", route=~".*{ids[0]}.*"}})') is None
        )
        assert value('ALERTS{alertname="AntiphonAway"}') is None


def test_promtool_takes_our_rules(tmp_path: Path) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("no promtool here: `apt-get install prometheus` has it")
    checked = subprocess.run(
        ["promtool", "check", "config", "deploy/prometheus/prometheus.yml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert checked.returncode == 0, checked.stderr


LEAN = """
import asyncio, sys
from pathlib import Path
from antiphon.service import Antiphon, Question, load_settings

async def main():
    settings = load_settings(data_dir=Path(sys.argv[1]), embedder="onnx", reasoner="offline")
    service = await Antiphon.open(settings)
    await service.ask(Question(query="What does the apple course say?"))
    await service.close()

asyncio.run(main())
ours = ("antiphon.telemetry.", "prometheus_client", "opentelemetry.sdk")
loaded = {name for name in sys.modules if name.startswith(ours)}
print(sorted(loaded))
"""


def test_without_its_settings_nothing_of_telemetry_is_loaded(
    data_dir: Path, tmp_path: Path
) -> None:
    run = subprocess.run(
        [sys.executable, "-c", LEAN, str(without_traces(data_dir, tmp_path))],
        env=environment(data_dir),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(run.stdout.replace("'", '"')) == []
