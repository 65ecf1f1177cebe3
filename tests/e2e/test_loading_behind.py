"""A service that answers before its embedder is loaded: questions wait for it, and /readyz tells."""

from __future__ import annotations

import os
import time
from pathlib import Path

import httpx2

from tests.e2e.conftest import STARTING_S, serving_anew, without_traces

ROOT = Path(__file__).parents[2]
QUESTION = "What is applemailbox7 in the Apple course?"


def test_a_question_asked_at_once_is_answered_as_any_other(
    data_dir: Path, tmp_path: Path
) -> None:
    own = without_traces(data_dir, tmp_path)
    with serving_anew(own, tmp_path) as server:
        early = httpx2.get(f"{server.url}/readyz")
        asked = httpx2.post(
            f"{server.url}/api/query", json={"query": QUESTION}, timeout=STARTING_S
        )
        late = httpx2.get(f"{server.url}/readyz")
        again = httpx2.post(
            f"{server.url}/api/query", json={"query": QUESTION}, timeout=STARTING_S
        )

    assert (early.status_code, late.status_code) == (503, 200)
    assert "still being loaded" in early.json()["problems"][0]
    assert late.json()["embedder_loaded"]
    assert asked.status_code == 200
    assert asked.json()["answer"] == again.json()["answer"]
    assert asked.json()["sources"] == again.json()["sources"]


def test_an_embedder_that_cannot_be_loaded_is_said_and_refuses_questions(
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
