"""`make eval` on a small index, and floors for the newest held-out set, answered without a key (samples/README.md)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.e2e.conftest import ROOT, Shell, environment

SET = ROOT / "samples" / "recorded" / "g"
# Two or three questions below what was measured on 2026-11-27: an embedding differs in its last bits
# between processors, and with it which of two windows that are nearly alike is quoted.
LEAST = {
    "answered": 45 / 65,
    "first": 46 / 65,
    "two_step": 6 / 12,
    "catalogue": 7 / 9,
    "said_so": 4 / 6,
    "high": 20 / 28,
    "medium": 21 / 38,
}
MOST_REFUSED = 12 / 74


def evaluated(data_dir: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.evaluation", *arguments],
        env=environment(data_dir, ANTIPHON_REASONER="offline"),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_eval_judges_the_text_of_answers_and_exits_with_1_below_its_targets(
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


def test_held_out_questions_are_answered_as_well_as_they_were(
    shell: Shell, tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"

    indexed = shell.run("index", str(SET), folder=tmp_path, data_dir=data_dir)
    asked = evaluated(data_dir, f"{SET}.jsonl", "--json")

    assert indexed.returncode == 0, indexed.stderr
    report = json.loads(asked.stdout)
    found = report["figures"] | report["figures"]["by_label"]
    shares = {name: found[name]["count"] / found[name]["of"] for name in LEAST}
    refused = found["refused"]["count"] / found["refused"]["of"]
    # A share such as 47 of 65 has no exact float.
    assert [name for name in LEAST if shares[name] < LEAST[name] - 1e-9] == [], shares
    assert refused <= MOST_REFUSED + 1e-9
    # The other targets are not shares: rounds, calls, and citations that are true.
    assert [each for each in report["shortfalls"] if not each.startswith("In ")] == []
