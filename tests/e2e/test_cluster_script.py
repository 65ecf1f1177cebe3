"""`make cluster`: the processes of the whole set come up without Docker, one can be killed, and all end together."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2

from tests.course_files import write_course
from tests.e2e.conftest import ROOT, STARTING_S, environment
from tests.nats_servers import free_port


def test_the_set_comes_up_with_a_password_outlives_a_killed_worker_and_ends_with_ctrl_c(
    tmp_path: Path,
) -> None:
    courses = tmp_path / "courses"
    courses.mkdir()
    write_course(courses, "trees")
    port = free_port()
    process = subprocess.Popen(
        [
            sys.executable, str(ROOT / "deploy" / "cluster.py"),
            "--folder", str(tmp_path / "set"), "--courses", str(courses), "--port", str(port),
            "--apis", "1", "--workers", "1",
        ],
        env=environment(tmp_path / "data", ANTIPHON_REASONER="offline"),
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Ask at"):
                break
        node = f"http://127.0.0.1:{port}"
        assert httpx2.get(f"{node}/readyz").status_code == 200
        asked = {"query": "What is treesmailbox7?", "deadline_s": 60}
        answer = httpx2.post(f"{node}/api/query", json=asked, timeout=90).json()
        assert answer["status"] == "answered"
        assert "treesmailbox7" in answer["answer"]
        worker = tmp_path / "set" / "worker-1.pid"
        killed = int(worker.read_text())
        os.kill(killed, signal.SIGKILL)
        assert "worker-1 ended with -9; the others go on" in process.stderr.readline()
        assert httpx2.get(f"{node}/healthz").status_code == 200
        process.send_signal(signal.SIGHUP)
        assert process.stderr.readline() == "worker-1 is started again\n"
        assert int(worker.read_text()) != killed
        answer = httpx2.post(f"{node}/api/query", json=asked, timeout=90).json()
        assert answer["status"] == "answered"
        auth = (tmp_path / "set" / "nats" / "auth.conf").stat()
        assert auth.st_mode & 0o077 == 0
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(STARTING_S)
    assert process.returncode == 0
    for log in (tmp_path / "set").glob("nats-*.log"):
        assert "Server Exiting" in log.read_text()
