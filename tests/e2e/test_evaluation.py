"""`make eval` on a small index."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import ROOT, environment


def evaluated(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.evaluation", *arguments],
        env=environment(data_dir),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_eval_judges_what_stands_in_answers_and_exits_with_1_below_its_targets(
    data_dir: Path, tmp_path: Path
) -> None:
    good = {
        "id": "a",
        "kind": "fact",
        "question": "What is applemailbox7 in the Apple course?",
        "answered_by": [{"course": "The Apple Course", "lesson": 1}],
        "needed": [["It is called applemailbox7"]],
    }
    bad = good | {"id": "b", "needed": [["It is called pearmailbox7"]]}
    (tmp_path / "good.jsonl").write_text(json.dumps(good))
    (tmp_path / "both.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(bad)}")

    passed = evaluated(data_dir, str(tmp_path / "good.jsonl"))
    failed = evaluated(data_dir, str(tmp_path / "both.jsonl"), "--json")

    assert passed.returncode == 0, passed.stderr
    assert failed.returncode == 1
    assert "In 1/2 (50%) what answers the question stands" in failed.stderr
    assert [grade["verdict"] for grade in json.loads(failed.stdout)["grades"]] == [
        "answered",
        "failed",
    ]
