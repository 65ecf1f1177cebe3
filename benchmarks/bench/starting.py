"""Cold start: CPU time of commands, and of the service until it is ready and until all is loaded; and its memory."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.processes import Served, antiphon, serving

LOADED_WITHIN_S = 120
QUESTIONS = (
    "What is a circuit breaker?",
    "How does BM25 rank documents?",
    "What is a saga?",
    "What is hybrid search?",
)
COMMANDS = (("--help",), ("traces", "list"))
TIMES = 3
_TICKS = os.sysconf("SC_CLK_TCK")


def command_cpu_s(command: Sequence[str]) -> float:
    """Returns the least CPU time of several runs of a command, from start to exit."""
    took = []
    for _ in range(TIMES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return min(took)


def cpu_s(pid: int) -> float:
    """Returns the CPU time that all threads of a running process have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def service_figures() -> dict[str, float]:
    """Starts the service once, waits until all is loaded, and asks some questions."""
    # Not /readyz, which returns 503 until the embedder is loaded.
    with serving(antiphon("serve"), "/healthz") as served:
        figures = {
            "ready, CPU s": cpu_s(served.pid),
            "ready, s": served.ready_s,
            "ready, MB": served.resident_mb(),
        }
        _wait_until_loaded(served)
        figures["embedder loaded, CPU s"] = cpu_s(served.pid)
        figures["embedder loaded, MB"] = served.resident_mb()
        for question in QUESTIONS * 5:
            _ask(served, question)
        figures["after 20 questions, MB"] = served.resident_mb()
    return figures


def _wait_until_loaded(served: Served) -> None:
    deadline = time.monotonic() + LOADED_WITHIN_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{served.url}/readyz", timeout=10):
                return
        except urllib.error.HTTPError:
            time.sleep(0.05)
    raise SystemExit(f"the embedder was not loaded in {LOADED_WITHIN_S} s")


def _ask(served: Served, question: str) -> None:
    request = urllib.request.Request(
        f"{served.url}/api/query",
        data=msgspec.json.encode({"query": question}),
        headers={"content-type": "application/json"},
    )
    urllib.request.urlopen(request, timeout=120).close()


def measure() -> dict[str, float]:
    """Returns all figures; those of the service are medians of three starts."""
    figures: dict[str, float] = {
        "python alone, CPU s": command_cpu_s([sys.executable, "-c", "pass"])
    }
    for command in COMMANDS:
        name = " ".join(("antiphon", *command))
        figures[f"{name}, CPU s"] = command_cpu_s(antiphon(*command))
    starts = [service_figures() for _ in range(TIMES)]
    for name in starts[0]:
        figures[name] = statistics.median(start[name] for start in starts)
    return figures
