"""Kills the served service (SIGKILL) at random moments with twenty queries under way, and reads the store it left.

Run as `python -m tests.faults.kills [KILLS] [SEED]`; afterwards it troubles the store in other ways (troubles.py).
Callers ask in three ways, and each keeps a list of what the service told it: the events of a live stream, an answer it
waited for, or the id of a question whose answer it would fetch later. All of it must be in the store after the kill.
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
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import Event, QueryClosed, Recorded
from tests.e2e.conftest import ROOT, Server, environment, serving
from tests.faults import troubles

QUERIES = 20
MOST_S = 2.0
"""The kill comes at a random moment within so many seconds of the first event that a caller receives."""
FIRST_WITHIN_S = 60.0
QUESTIONS = (
    "What are the three states of a circuit breaker?",
    "Compare BM25 with vector search.",
    "Which lessons does the course on reliability have?",
    "What does idempotence mean for event handlers?",
)


@dataclass
class Tally:
    """The totals over all kills, and every broken promise."""

    kills: int = 0
    queries: int = 0
    acknowledged: int = 0
    accepted: int = 0
    answered: int = 0
    ended: int = 0
    unfinished: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass
class Told:
    """What the service acknowledged to a caller about a query.

    Attributes:
        seq: The last event that, by this acknowledgement, is stored.
        accepted: The caller got a 202, and would come back for the answer.
        answered: The caller got the answer.
    """

    seq: int = 0
    accepted: bool = False
    answered: bool = False


class Caller(threading.Thread):
    """Asks one question after another, always in the same one of three ways, and notes what it learns of each."""

    def __init__(self, url: str, number: int, heard: threading.Event) -> None:
        super().__init__(daemon=True)
        self._heard = heard
        self._url = url
        self._number = number
        self.told: dict[str, Told] = {}

    def run(self) -> None:
        ask = (self._follow, self._wait, self._begin)[self._number % 3]
        try:
            for turn in range(1_000):
                ask(QUESTIONS[(self._number + turn) % len(QUESTIONS)])
        except httpx2.HTTPError:
            return  # the service was killed

    def _begin(self, question: str) -> None:
        reply = httpx2.post(f"{self._url}/api/queries", json={"query": question})
        if reply.status_code == 202:
            self._note(reply.json()["query_id"], Told(seq=1, accepted=True))
        else:
            time.sleep(0.05)  # the service is busy: wait, as a real caller would

    def _wait(self, question: str) -> None:
        reply = httpx2.post(f"{self._url}/api/query", json={"query": question})
        body = reply.json()
        if reply.status_code != 200:
            return
        doubts = [each["kind"] for each in body["uncertainty"]["indicators"]]
        # An answer with this doubt says itself that its trace may be missing: the service promises nothing more.
        if "trace_incomplete" not in doubts:
            self._note(body["query_id"], Told(seq=1, answered=True))

    def _follow(self, question: str) -> None:
        accept = {"accept": "text/event-stream"}
        with httpx2.stream(
            "POST", f"{self._url}/api/query", json={"query": question}, headers=accept
        ) as reply:
            for line in reply.iter_lines():
                if line.startswith("data: ") and '"seq":' in line:
                    self._note_event(line.removeprefix("data: "))

    def _note_event(self, data: str) -> None:
        try:
            event = json.loads(data)
        except json.JSONDecodeError:
            return  # cut off by the kill: the caller never received the event
        if "seq" in event:
            self._note(event["query_id"], Told(seq=event["seq"]))

    def _note(self, query_id: str, told: Told) -> None:
        self.told[query_id] = told
        self._heard.set()


def kill_once(server: Server, chance: random.Random) -> dict[str, Told]:
    """Kills the server under load; returns what its callers learned of each query."""
    heard = threading.Event()
    callers = [Caller(server.url, number, heard) for number in range(QUERIES)]
    for caller in callers:
        caller.start()
    # Waiting for the first event makes sure that even on a slow machine queries are under way when the kill comes.
    heard.wait(FIRST_WITHIN_S)
    time.sleep(chance.uniform(0.05, MOST_S))
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    for caller in callers:
        caller.join()
    told: dict[str, Told] = {}
    for caller in callers:
        told.update(caller.told)
    return told


async def check(data_dir: Path, told: dict[str, Told], tally: Tally) -> None:
    """Reads every query that a caller knows of from the store as the kill left it."""
    store = SqliteTraceStore.open(data_dir)
    listed = {line.query_id: line.status for line in await store.list(100_000)}
    tally.wrong += store.losses
    for query_id, what in told.items():
        events = await store.read(query_id) if query_id in listed else []
        ended = bool(events) and isinstance(events[-1].event, QueryClosed)
        tally.queries += 1
        tally.acknowledged += what.seq
        tally.accepted += what.accepted
        tally.answered += what.answered
        tally.ended += ended
        tally.unfinished += not ended
        for wrong in _wrong_with(events, what, ended=ended):
            tally.wrong.append(f"{query_id}: {wrong}")
        if query_id in listed and (listed[query_id] == "open") == ended:
            tally.wrong.append(
                f"{query_id}: listed as {listed[query_id]}, though its end is {'' if ended else 'not '}there"
            )


def _wrong_with(
    events: Sequence[Recorded[Event]], told: Told, *, ended: bool
) -> list[str]:
    wrong: list[str] = []
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        wrong.append("the trace has gaps")
    if len(events) < told.seq:
        wrong.append(f"{told.seq - len(events)} acknowledged events are missing")
    if told.answered and not ended:
        wrong.append("its answer was given, and its end is missing")
    return wrong


def kill_often(kills: int, data_dir: Path | None, seed: int) -> Tally:
    """Starts, loads, kills and restarts the service, `kills` times.

    Args:
        data_dir: An index made by the onnx embedder; None builds one of the sample courses.
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
    """Indexes the sample courses with the embedder that starts fastest."""
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
        f"{tally.accepted} accepted by a 202, {tally.answered} answered, {tally.acknowledged} acknowledged events, "
        f"{tally.ended} ended, {tally.unfinished} unfinished and marked so, {len(tally.wrong)} wrong\n"
    )
    wrong = list(tally.wrong)
    with tempfile.TemporaryDirectory() as folder:
        ours = Path(folder) / "data"
        _index(ours)
        for trouble in troubles.TROUBLES:
            found = trouble(ours, Path(folder), 30)
            sys.stdout.write(f"{found}\n")
            wrong += found.wrong
    sys.stdout.writelines(f"✗ {each}\n" for each in wrong)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
