"""A service that is there before its embedder is: questions wait a moment for it, or learn when to come again."""

from __future__ import annotations

import os
import time
from pathlib import Path

import httpx2

from tests.e2e.conftest import (
    STARTING_S,
    Server,
    serving_anew,
    wait_until_loaded,
    without_traces,
)
from tests.e2e.processes import started

ROOT = Path(__file__).parents[2]
QUESTION = "What is applemailbox7 in the Apple course?"


SLOWLY = """
import importlib, os, sys, time

open({met!r}, "w").close()
while not os.path.exists({gate!r}):
    time.sleep(0.02)
sys.path.remove({folder!r})
del sys.modules["onnxruntime"]
importlib.import_module("onnxruntime")
"""
"""Stands for a runtime that takes long to load: until its gate, a file, is there."""


class SlowRuntime:
    """A folder for PYTHONPATH whose runtime loads once the gate is opened."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._gate = folder / "open"
        self._met = folder / "met"
        module = SLOWLY.format(
            met=str(self._met), gate=str(self._gate), folder=str(folder)
        )
        (folder / "onnxruntime.py").write_text(module)
        self.path = f"{folder}{os.pathsep}{ROOT}"

    def wait_until_met(self) -> None:
        """Returns once something loads it."""
        ends_at = time.monotonic() + STARTING_S
        while not self._met.exists() and time.monotonic() < ends_at:
            time.sleep(0.02)

    def open(self) -> None:
        self._gate.touch()


def _asked(server: Server, **fields: object) -> httpx2.Response:
    return httpx2.post(
        f"{server.url}/api/query", json={"query": QUESTION} | fields, timeout=STARTING_S
    )


def test_the_refusal_of_a_question_before_the_embedder_is_loaded_says_when_to_come_again(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    slow = SlowRuntime(tmp_path / "slow")
    with serving_anew(own, tmp_path, PYTHONPATH=slow.path) as server:
        early = httpx2.get(f"{server.url}/readyz")
        refused = _asked(server)
        later = httpx2.post(f"{server.url}/api/queries", json={"query": QUESTION})
        slow.open()
        wait_until_loaded(server)
        answer = _asked(server).json()
        again = _asked(server).json()
        traces = httpx2.get(f"{server.url}/api/traces").json()["traces"]

    assert early.status_code == 503
    assert not early.json()["embedder_loaded"]
    assert "still being loaded" in early.json()["problems"][0]
    for each in (refused, later):
        assert (each.status_code, each.json()["error"]["code"]) == (503, "loading")
        assert int(each.headers["retry-after"]) >= 1
    assert answer["answer"] == again["answer"]
    assert answer["sources"] == again["sources"] != []
    # None of the refused questions was begun.
    assert len(traces) == 2


def test_a_question_that_waits_for_the_embedder_is_answered_as_any_other(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    with serving_anew(own, tmp_path) as server:
        asked = _asked(server)
        while asked.status_code == 503:
            time.sleep(int(asked.headers["retry-after"]))
            asked = _asked(server)
        late = httpx2.get(f"{server.url}/readyz")
        again = _asked(server)

    assert late.status_code == 200
    assert late.json()["embedder_loaded"]
    assert asked.json()["answer"] == again.json()["answer"]
    assert asked.json()["sources"] == again.json()["sources"]


def test_the_command_asks_once_its_embedder_is_loaded(
    data_dir: Path, tmp_path: Path
) -> None:
    slow = SlowRuntime(tmp_path / "slow")
    with started(
        "ask",
        QUESTION,
        data_dir=without_traces(data_dir, tmp_path),
        folder=tmp_path,
        PYTHONPATH=slow.path,
    ) as asking:
        slow.wait_until_met()
        slow.open()
        assert asking.stderr is not None
        told = asking.stderr.read()

    assert asking.returncode == 0
    assert "every tool call failed" not in told
    assert "5 passages" in told


def test_the_service_names_an_embedder_that_cannot_be_loaded_and_refuses_questions(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "onnxruntime.py").write_text(
        "raise ModuleNotFoundError('gone', name='libonnx')"
    )
    path = f"{broken}{os.pathsep}{ROOT}"
    with serving_anew(own, tmp_path, PYTHONPATH=path) as server:
        deadline = time.monotonic() + STARTING_S
        problems = ""
        while "libonnx" not in problems and time.monotonic() < deadline:
            ready = httpx2.get(f"{server.url}/readyz")
            problems = " ".join(ready.json()["problems"])
            time.sleep(0.1)
        refused = httpx2.post(f"{server.url}/api/query", json={"query": QUESTION})

    assert "libonnx" in problems
    assert ready.status_code == 503
    assert not ready.json()["embedder_loaded"]
    assert refused.status_code == 503
    assert "libonnx" in refused.json()["error"]["message"]
