"""Kills the served service (SIGKILL) at random moments with twenty queries under way, and reads what is left.

Run as `python -m tests.faults.kills [KILLS] [SEED]`. What a caller was told by the live stream counts as
acknowledged: after the restart it must be in the trace.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import QueryClosed
from tests.e2e.conftest import ROOT, Server, environment, serving

QUERIES = 20
MOST_S = 2.0
"""The kill comes at a random moment within so many seconds of the first event that a caller was told."""
FIRST_WITHIN_S = 60.0
QUESTIONS = (
    "What are the three states of a circuit breaker?",
    "Compare BM25 with vector search.",
    "Which lessons does the course on reliability have?",
    "What does idempotence mean for event handlers?",
)


@dataclass
class Tally:
    """What the kills came to."""

    kills: int = 0
    queries: int = 0
    acknowledged: int = 0
    ended: int = 0
    unfinished: int = 0
    wrong: list[str] = field(default_factory=list)


class Caller(threading.Thread):
    """Asks one question after another and notes the last event of each that it was told."""

    def __init__(self, url: str, number: int, heard: threading.Event) -> None:
        super().__init__(daemon=True)
        self._heard = heard
        self._url = url
        self._number = number
        self.told: dict[str, int] = {}

    def run(self) -> None:
        try:
            for turn in range(1_000):
                self._ask(QUESTIONS[(self._number + turn) % len(QUESTIONS)])
        except httpx2.HTTPError:
            return  # the service was killed

    def _ask(self, question: str) -> None:
        accept = {"accept": "text/event-stream"}
        with httpx2.stream(
            "POST", f"{self._url}/api/query", json={"query": question}, headers=accept
        ) as reply:
            for line in reply.iter_lines():
                if line.startswith("data: ") and '"seq":' in line:
                    self._note(line.removeprefix("data: "))

    def _note(self, data: str) -> None:
        try:
            event = json.loads(data)
        except json.JSONDecodeError:
            return  # cut off by the kill: it was not told
        if "seq" in event:
            self.told[event["query_id"]] = event["seq"]
            self._heard.set()


def kill_once(server: Server, chance: random.Random) -> dict[str, int]:
    """Kills the server under load; the last event that was told of each query."""
    heard = threading.Event()
    callers = [Caller(server.url, number, heard) for number in range(QUERIES)]
    for caller in callers:
        caller.start()
    heard.wait(
        FIRST_WITHIN_S
    )  # however slow the machine is, the kill meets queries that are under way
    time.sleep(chance.uniform(0.05, MOST_S))
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    for caller in callers:
        caller.join()
    return {
        query_id: seq for caller in callers for query_id, seq in caller.told.items()
    }


async def check(data_dir: Path, told: dict[str, int], tally: Tally) -> None:
    """Reads every query of which somebody was told, from the store as the kill left it."""
    store = SqliteTraceStore.open(data_dir)
    listed = {line.query_id: line.status for line in await store.list(100_000)}
    for query_id, seq in told.items():
        events = await store.read(query_id) if query_id in listed else []
        ended = bool(events) and isinstance(events[-1].event, QueryClosed)
        tally.queries += 1
        tally.acknowledged += seq
        tally.ended += ended
        tally.unfinished += not ended
        if [event.seq for event in events] != list(range(1, len(events) + 1)):
            tally.wrong.append(f"{query_id}: the trace has gaps")
        if len(events) < seq:
            tally.wrong.append(
                f"{query_id}: {seq - len(events)} acknowledged events are missing"
            )
        if query_id in listed and (listed[query_id] == "open") == ended:
            tally.wrong.append(
                f"{query_id}: listed as {listed[query_id]}, though its end is {'' if ended else 'not '}there"
            )


def kill_often(kills: int, data_dir: Path | None, seed: int) -> Tally:
    """Starts, loads, kills and starts again, so many times.

    Args:
        data_dir: An index made by the onnx embedder; None makes one of the sample courses.
    """
    chance = random.Random(seed)
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "data"
        if data_dir is None:
            _index(ours)
        else:
            shutil.copytree(
                data_dir, ours, ignore=shutil.ignore_patterns("traces.sqlite*")
            )
        for _ in range(kills):
            with serving(ours, Path(folder)) as server:
                told = kill_once(server, chance)
            tally.kills += 1
            asyncio.run(check(ours, told, tally))
            sys.stderr.write(
                f"killed {tally.kills} times, {tally.queries} queries, {len(tally.wrong)} wrong\n"
            )
    return tally


def _index(data_dir: Path) -> None:
    """The sample courses, by the embedder that starts fastest."""
    command = [
        sys.executable,
        "-m",
        "antiphon.cli",
        "index",
        str(ROOT / "samples/courses"),
    ]
    subprocess.run(command, env=environment(data_dir), check=True, capture_output=True)


def main() -> None:
    """Kills, prints, judges."""
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    tally = kill_often(kills, None, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    sys.stdout.write(
        f"killed {tally.kills} times with {QUERIES} queries at once: {tally.queries} queries seen, "
        f"{tally.acknowledged} acknowledged events, {tally.ended} ended, {tally.unfinished} unfinished and marked so, "
        f"{len(tally.wrong)} wrong\n"
    )
    sys.stdout.writelines(f"✗ {wrong}\n" for wrong in tally.wrong)
    sys.exit(bool(tally.wrong))


if __name__ == "__main__":
    main()
