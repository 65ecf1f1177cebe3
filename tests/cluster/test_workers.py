"""Workers killed, paused and stopped in mid-query: another one resumes, and repeats only the unfinished call."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import httpx2
import pytest

from tests.cluster.conftest import Started
from tests.cluster.processes import is_whole, waited
from tests.e2e.processes import run
from tests.key_server import KeyServer, key_server


def test_another_worker_resumes_a_killed_workers_query_and_repeats_only_its_unfinished_call(
    started: Started, slow_model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    processes = started(slow_model)
    first = processes.worker()
    other = processes.spare()
    node = processes.node()
    query_id = node.begin()
    node.after(query_id, "reasoning_started")

    other.signal(signal.SIGCONT)
    first.kill()
    killed_at = time.time()
    state = node.answered(query_id)

    events = node.events(query_id)
    kinds = node.kinds(query_id)
    resumed = [each for each in events if each["event"]["kind"] == "query_resumed"]
    # The figure is for a person to read, and decides nothing.
    with capsys.disabled():
        sys.stdout.write(
            f"\ntaken over {resumed[-1]['at'] - killed_at:.2f} s after the kill; a claim lasts 1.5 s\n"
        )
    assert (state["status"], is_whole(events)) == ("answered", True)
    assert len(resumed) == 2
    assert kinds.count("reasoning_started") == 2
    assert kinds.count("reasoning_completed") == 1


def test_a_paused_worker_adds_nothing_when_it_wakes_and_goes_on_working(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model)
    paused = processes.worker()
    other = processes.spare()
    node = processes.node()
    query_id = node.begin()
    node.after(query_id, "reasoning_started")

    paused.signal(signal.SIGSTOP)
    other.signal(signal.SIGCONT)
    state = node.answered(query_id)
    before = node.events(query_id)
    paused.signal(signal.SIGCONT)
    paused.line_with("claim_lost")
    other.kill()
    next_state = node.answered(node.begin())

    assert (state["status"], next_state["status"]) == ("answered", "answered")
    assert is_whole(before)
    assert node.events(query_id) == before


def test_a_paused_worker_that_wakes_while_another_works_writes_nothing_into_its_trace(
    started: Started, slow_model: str
) -> None:
    # The claim lasts long enough for the first worker to believe in it still when the second has resumed the query.
    processes = started(slow_model, ANTIPHON_CLAIM_S="2")
    paused = processes.worker()
    other = processes.spare()
    node = processes.node()
    query_id = node.begin()
    node.after(query_id, "reasoning_started")
    paused.signal(signal.SIGSTOP)
    other.signal(signal.SIGCONT)
    node.after(query_id, "query_resumed", 2)
    paused.signal(signal.SIGCONT)

    state = node.answered(query_id)

    assert (state["status"], is_whole(node.events(query_id))) == ("answered", True)
    assert node.kinds(query_id).count("query_resumed") == 2


def test_a_worker_that_is_stopped_lets_its_query_end(
    started: Started, slow_model: str
) -> None:
    processes = started(slow_model)
    worker = processes.worker()
    node = processes.node()
    query_id = node.begin()
    node.after(query_id, "reasoning_started")

    code = worker.stop()

    assert code == 0
    assert node.state(query_id)["status"] == "answered"
    assert node.kinds(query_id).count("query_resumed") == 1


def test_a_worker_that_may_not_wait_leaves_its_query_to_another_at_once(
    started: Started, slow_model: str
) -> None:
    # The claim is too long for the test to wait for its end: the worker must give it up.
    processes = started(slow_model, ANTIPHON_CLAIM_S="120")
    stopped = processes.worker("--drain", "0")
    other = processes.spare()
    node = processes.node()
    query_id = node.begin()
    node.after(query_id, "reasoning_started")

    other.signal(signal.SIGCONT)
    code = stopped.stop()

    assert code == 0
    assert node.answered(query_id)["status"] == "answered"
    assert is_whole(node.events(query_id))


def test_a_worker_without_documents_takes_no_questions_until_there_are_some(
    started: Started, index: Path, quick_model: str, tmp_path: Path
) -> None:
    processes = started(quick_model, ANTIPHON_CLAIM_S="1")
    bare = processes.worker("--data-dir", str(tmp_path), "--health", "0")
    health = bare.line_with("health at").split("health at ")[1].split(";")[0]
    said = bare.line_with("takes no questions")
    node = processes.node()
    query_id = node.begin()
    unready = httpx2.get(f"{health}/readyz").status_code
    indexed = run(
        *("index", str(index.parent / "courses")), data_dir=tmp_path, folder=tmp_path
    )

    state = node.answered(query_id)

    assert "Nothing is indexed yet" in said
    assert unready == 503
    assert indexed.returncode == 0, indexed.stderr
    assert state["status"] == "answered"
    assert httpx2.get(f"{health}/readyz").status_code == 200
    assert is_whole(node.events(query_id))


def test_a_worker_whose_key_is_refused_takes_questions_and_says_so(
    started: Started,
) -> None:
    with key_server(KeyServer()) as model:
        processes = started(model.url)
        worker = processes.worker("--health", "0")
        health = worker.line_with("health at").split("health at ")[1].split(";")[0]
        logged = worker.line_with("model_key_refused")
        ready = httpx2.get(f"{health}/readyz")
        node = processes.node()
        query_id = node.begin()
        state = node.answered(query_id)

    assert '"level": "warning"' in logged
    assert ready.status_code == 200
    assert ready.text.startswith("ready\nThe model's server refuses the key: ")
    assert state["status"] == "answered"


def test_a_worker_says_whether_it_takes_questions(
    started: Started, quick_model: str
) -> None:

    worker = started(quick_model).worker("--health", "0")
    health = worker.line_with("health at").split("health at ")[1].split(";")[0]

    assert httpx2.get(f"{health}/healthz").text == "alive\n"
    waited(lambda: httpx2.get(f"{health}/readyz").text, lambda said: said == "ready\n")
    assert httpx2.get(f"{health}/api/traces").status_code == 404
