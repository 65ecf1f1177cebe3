"""A query that runs again with something changed: over HTTP and by the command, on real parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import Antiphon

QUESTION = {"query": "What is applemailbox7 in the Apple course?"}


def seq_of(events: list[dict[str, Any]], kind: str) -> int:
    return next(int(event["seq"]) for event in events if event["event"]["kind"] == kind)


@pytest.mark.parametrize("mode", ["recorded", "remodel", "live"])
def test_a_fork_of_each_mode_is_a_trace_beside_its_parent(
    client: httpx2.Client, mode: str
) -> None:
    # It names no course, so it is one search: of two at once either may be the first to end.
    asked = {"query": "What is applemailbox7?"}
    parent = client.post("/api/query", json=asked).json()["query_id"]
    before = client.get(f"/api/traces/{parent}").json()
    body = {"at": seq_of(before["events"], "round_opened"), "mode": mode}

    made = client.post(f"/api/traces/{parent}/fork", json=body)

    told = made.json()
    assert made.status_code == 201
    assert (told["parent"], told["parent_seq"]) == (parent, body["at"])
    assert "applemailbox7" in told["answer"]["answer"]
    first = client.get(made.headers["location"]).json()["events"][0]["event"]
    assert (first["parent"], first["parent_seq"]) == (parent, body["at"])
    assert client.get(told["diff"]).json()["differences"] == []
    assert (
        client.post(f"{made.headers['location']}/replay").json()["divergence"] is None
    )
    assert client.get(f"/api/traces/{parent}").json() == before


def test_what_was_changed_shows_in_the_diff_with_its_cause(
    client: httpx2.Client,
) -> None:
    parent = client.post("/api/query", json=QUESTION).json()["query_id"]
    events = client.get(f"/api/traces/{parent}").json()["events"]
    call_id = events[seq_of(events, "tool_succeeded") - 1]["event"]["tool_call_id"]
    change = {"kind": "tool", "name": call_id, "value": "There is nothing about that."}

    told = client.post(f"/api/traces/{parent}/fork", json={"change": change}).json()

    found = client.get(told["diff"]).json()
    assert found["differences"][0]["kind"] == "tool_succeeded"
    assert {each["because"] for each in found["differences"]} == {"tool"}
    assert told["change"].startswith(f"tool {call_id} = There is nothing")


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"at": 999}, 422),
        ({"change": {"kind": "setting", "name": "max_rounds", "value": 77}}, 422),
        ({"change": {"kind": "drop", "name": "f99"}}, 422),
        ({"faults": {"faults": [{"point": "model.request", "kind": "drop"}]}}, 403),
        ({"at": 1.5}, 422),
    ],
)
def test_a_fork_that_cannot_be_is_refused_and_leaves_nothing(
    client: httpx2.Client, body: dict[str, Any], status: int
) -> None:
    parent = client.post("/api/query", json=QUESTION).json()["query_id"]

    refused = client.post(f"/api/traces/{parent}/fork", json=body)

    assert (refused.status_code, list(refused.json())) == (status, ["error"])
    assert client.get("/api/traces?limit=1").json()["traces"][0]["query_id"] == parent


def test_a_query_cannot_be_forked_after_its_end(client: httpx2.Client) -> None:
    parent = client.post("/api/query", json=QUESTION).json()["query_id"]
    last = len(client.get(f"/api/traces/{parent}").json()["events"])

    refused = client.post(f"/api/traces/{parent}/fork", json={"at": last})

    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "bad_input")
    assert client.post("/api/traces/nobody/fork", json={"at": 1}).status_code == 404


def test_an_event_becomes_a_fault_and_the_query_runs_again_under_it(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    parent = json.loads(antiphon("ask", QUESTION["query"], "--json").stdout)["query_id"]
    lines = antiphon("traces", "show", parent, "--json").stdout.splitlines()
    at = str(seq_of([json.loads(line) for line in lines], "reasoning_completed"))
    plan = tmp_path / "plan.yaml"

    printed = antiphon("traces", "fault", parent[:12], "--at", at, "--kind", "refusal")
    plan.write_text(printed.stdout)
    forked = antiphon("traces", "fork", parent[:12], "--at", at, "--fault", str(plan))
    late = antiphon(
        "traces", "fork", parent[:12], "--at", str(int(at) + 1), "--fault", str(plan)
    )

    assert f"--at {at} --fault" in printed.stdout
    assert "point: model.content" in printed.stdout
    assert forked.returncode == 0, forked.stderr
    assert "fired: refusal at model.content in round_1" in forked.stderr
    assert "Because of another reply of the model" in forked.stdout
    assert late.returncode == 1
    assert "No fault fired" in late.stderr


def test_a_plan_that_names_no_fault_is_refused(
    antiphon: Antiphon, tmp_path: Path
) -> None:
    parent = json.loads(antiphon("ask", QUESTION["query"], "--json").stdout)["query_id"]
    plan = tmp_path / "plan.yaml"
    plan.write_text("faults: []\n")

    refused = antiphon("traces", "fork", parent, "--fault", str(plan))

    assert refused.returncode == 1
    assert "names no faults" in refused.stderr
