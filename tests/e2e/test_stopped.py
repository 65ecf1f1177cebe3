"""A question that is stopped: its caller gets what was found and spent by then, over REST and on the command line."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.e2e.conftest import (
    ROOT,
    STARTING_S,
    Server,
    environment,
    serving,
    without_traces,
)
from tests.e2e.forking import ForkedCommand, address
from tests.e2e.processes import doubling

QUESTION = "What is applemailbox2 in the Apple course?"
FOUND = "It is called applemailbox2."
# The second call thinks for as long as anybody waits.
SCRIPT = {
    "replies": [
        {
            "calls": [
                {"name": "search_course_content", "input": {"query": "applemailbox2"}}
            ],
            "usage": {"input_tokens": 5_000, "output_tokens": 100},
            "model": "claude-sonnet-5-5",
        },
        {"text": "Never said.", "breaks": {"at": "first_byte", "how": "stall"}},
    ]
}


def _stopped_answer(server: Server) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a caller who waits gets once somebody stops the query, and what a later one gets."""
    with httpx2.Client(base_url=server.url, timeout=STARTING_S) as client:
        begun = client.post("/api/queries", json={"query": QUESTION}).json()
        place = f"/api/queries/{begun['query_id']}"
        kinds: list[str] = []
        ends_at = time.monotonic() + STARTING_S
        # The second call has started: what the first asked for is there.
        while kinds.count("reasoning_started") < 2 and time.monotonic() < ends_at:
            trace = client.get(f"/api/traces/{begun['query_id']}").json()
            kinds = [each["event"]["kind"] for each in trace.get("events", ())]
        assert client.post(f"{place}/cancel").status_code == 202
        answer = client.get(f"/api/traces/{begun['query_id']}/answer").json()
        later = client.get(place).json()["answer"]
    return answer, later


def _assert_tells_all(answer: dict[str, Any]) -> None:
    assert answer["status"] == "cancelled"
    assert FOUND in answer["answer"]
    assert "it was stopped before its answer was complete" in answer["answer"]
    assert answer["sources"] == ["The Apple Course - Lesson 1"]
    assert answer["citations"] != []
    assert (answer["rounds"], answer["usage"]["calls"]) == (1, 1)
    assert answer["usage"]["input_tokens"] + answer["usage"]["output_tokens"] == 5_100
    assert answer["usage"]["cost_usd"] > 0
    kinds = [each["kind"] for each in answer["uncertainty"]["indicators"]]
    assert (answer["uncertainty"]["confidence"], "partial_evidence" in kinds) == (
        "low",
        True,
    )
    assert "no_evidence" not in kinds


def test_a_query_that_is_stopped_over_rest_tells_what_it_found_and_spent(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    with (
        doubling(tmp_path, SCRIPT) as model,
        serving(
            own, tmp_path, ANTHROPIC_BASE_URL=model, ANTIPHON_CITATIONS="native"
        ) as server,
    ):
        answer, later = _stopped_answer(server)

    _assert_tells_all(answer)
    assert later == answer


@pytest.mark.parametrize("as_json", [False, True], ids=["in words", "as JSON"])
def test_ctrl_c_on_the_command_line_tells_what_was_found_and_spent(
    as_json: bool, data_dir: Path, tmp_path: Path
) -> None:
    printed = tmp_path / "printed"
    command = ["ask", QUESTION, "--events"] + ["--json"] * as_json
    with doubling(tmp_path, SCRIPT) as model, printed.open("w") as to:
        env = environment(
            without_traces(data_dir, tmp_path),
            ANTHROPIC_BASE_URL=model,
            ANTIPHON_CITATIONS="native",
        )
        asking = ForkedCommand(address(), command, ROOT, env, to.fileno())
        told: list[str] = []
        for line in asking.stderr:
            told.append(line)
            if sum("reasoning_started" in each for each in told) == 2:
                break
        asking.send_signal(signal.SIGINT)
        told += asking.stderr
        code = asking.wait(STARTING_S)

    assert code == 130, told
    if as_json:
        _assert_tells_all(json.loads(printed.read_text()))
        return
    assert FOUND in printed.read_text()
    assert "[1] The Apple Course - Lesson 1" in printed.read_text()
    assert any("1 round, 1 call" in line for line in told)
    assert told[-1] == "interrupted\n"
