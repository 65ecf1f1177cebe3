"""Loads a cluster of processes, breaks parts of it meanwhile, and checks every trace: `make cluster-load`.

python -m tests.cluster.load --queries 500 --workers 4 --nodes 2 --servers 3 --break worker,node,leader,pause
python -m tests.cluster.load --throughput 1,4
python -m tests.cluster.load --cpu 300
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from antiphon.cluster import JetStreamTraceStore, connect
from antiphon.vocabulary.events import Event, Recorded
from tests.cluster.processes import ClusterOf, Node, Process
from tests.course_files import write_course
from tests.e2e.conftest import ROOT
from tests.e2e.processes import doubling, run
from tests.nats_servers import nats_cluster, nats_server

MODEL = {"replies": [{"text": "It is a box.", "first_byte_s": 1.0}], "then": "last"}
CLAIM_S = 4.0
AT_ONCE = 120
ENDS_S = 300.0
LOOK_S = 0.5
_TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Runs what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--servers", type=int, default=1, choices=(1, 3))
    parser.add_argument("--break", dest="breaks", default="worker,node,pause")
    parser.add_argument(
        "--throughput", default="", help="numbers of workers, such as 1,4"
    )
    parser.add_argument(
        "--cpu", type=int, default=0, help="queries to compare with one process by"
    )
    parser.add_argument(
        "--reasoner",
        default="auto",
        help="offline: with searches, and without the double",
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, ExitStack() as stack:
        folder = Path(made)
        write_course(folder / "courses", "apple", lessons=2)
        run("index", str(folder / "courses"), data_dir=folder / "data", folder=ROOT)
        model = stack.enter_context(doubling(folder, MODEL))
        if chosen.servers == 3:
            servers: list[Any] = list(stack.enter_context(nats_cluster(folder)))
        else:
            servers = [stack.enter_context(nats_server(folder))]
        loaded = Loaded(folder / "data", model, servers)
        if chosen.throughput:
            asyncio.run(
                loaded.throughput([int(each) for each in chosen.throughput.split(",")])
            )
        elif chosen.cpu:
            asyncio.run(loaded.compare_cpu(chosen.cpu, chosen.reasoner))
        else:
            ok = asyncio.run(
                loaded.broken(
                    chosen.queries,
                    chosen.workers,
                    chosen.nodes,
                    chosen.breaks.split(","),
                )
            )
            sys.exit(not ok)


class Loaded:
    """What load is put on."""

    def __init__(self, data_dir: Path, model: str, servers: Sequence[Any]) -> None:
        self._data_dir = data_dir
        self._model = model
        self._servers = servers
        self._url = ",".join([server.url for server in servers])

    def _cluster(self, **settings: str) -> ClusterOf:
        replicas = str(len(self._servers))
        return ClusterOf(
            self._url,
            self._data_dir,
            self._model,
            ANTIPHON_CLAIM_S=str(CLAIM_S),
            ANTIPHON_NATS_REPLICAS=replicas,
            ANTIPHON_QUEUE_WAIT_S="600",
            ANTIPHON_LOG_LEVEL="warning",
            **settings,
        )

    async def broken(
        self, queries: int, workers: int, nodes: int, breaks: Sequence[str]
    ) -> bool:
        """Asks while parts are killed, and returns True if every trace is whole."""
        processes = self._cluster()
        try:
            at_work = [processes.worker(ready=False) for _ in range(workers)]
            serving = [processes.node() for _ in range(nodes)]
            for worker in at_work:
                worker.line_with("takes questions")
            asking = Asking(serving)
            began = time.monotonic()
            breaking = asyncio.create_task(
                self._break(processes, at_work, serving, asking, queries, breaks)
            )
            await asking.ask(queries)
            await breaking
            took_s = time.monotonic() - began
            say(
                f"{queries} queries, {workers} workers, {nodes} nodes, {len(self._servers)} servers: {took_s:.1f} s"
            )
            return await self._verify(processes.prefix, asking, len(breaks))
        finally:
            processes.end()

    async def _break(
        self,
        processes: ClusterOf,
        at_work: list[Process],
        serving: list[Node],
        asking: Asking,
        queries: int,
        breaks: Sequence[str],
    ) -> None:
        """Breaks one part after the other, evenly over the run."""
        for number, what in enumerate(breaks, 1):
            while asking.begun < queries * number / (len(breaks) + 1):  # noqa: ASYNC110 - it is a load, not a service
                await asyncio.sleep(0.05)
            say(f"  {asking.begun} begun: {what}")
            if what == "worker":
                at_work.pop(0).kill()
                at_work.append(await asyncio.to_thread(processes.worker, ready=False))
            elif what == "pause":
                at_work[0].signal(signal.SIGSTOP)
                asyncio.get_running_loop().call_later(
                    2 * CLAIM_S, at_work[0].signal, signal.SIGCONT
                )
            elif what == "node":
                serving.pop(0).process.kill()
                serving.append(await asyncio.to_thread(processes.node))
            elif what == "leader":
                leader = await self._leader(processes.prefix)
                leader.kill()
                await asyncio.sleep(CLAIM_S)
                leader.start()

    async def _leader(self, prefix: str) -> Any:
        """Returns the server that leads the stream of traces."""
        cluster = await connect(self._url, name="load", prefix=prefix)
        info = await cluster.jetstream.stream_info(cluster.naming.traces_stream)
        await cluster.close()
        named = self._servers[0].name
        if info.cluster is not None and info.cluster.leader:
            named = info.cluster.leader
        return next(server for server in self._servers if server.name == named)

    async def _verify(self, prefix: str, asking: Asking, breaks: int) -> bool:
        """Reads every trace, and says what is wrong."""
        found = Counter[str]()
        async with self._store(prefix) as store:
            ids: list[str] = []
            last: str | None = None
            while page := await store.list(500, after_id=last):
                ids += [row.query_id for row in page]
                last = page[-1].query_id
            for query_id in ids:
                found.update(problems(await store.read(query_id)))
        missing = set(asking.ids) - set(ids)
        say(
            f"  {len(ids)} traces, {len(asking.ids)} asked for, {len(missing)} of them missing; {dict(found)}"
        )
        say(
            f"  answers: {dict(asking.statuses)}; requests that failed and were sent again: {asking.failed}"
        )
        wrong = ("gap", "not ended once", "call repeated without a takeover")
        return not missing and not any(found[each] for each in wrong)

    @asynccontextmanager
    async def _store(self, prefix: str) -> AsyncIterator[JetStreamTraceStore]:
        cluster = await connect(self._url, name="load", prefix=prefix)
        with tempfile.TemporaryDirectory() as folder:
            store = await JetStreamTraceStore.open(cluster, Path(folder))
            yield store
            await store.close()
        await cluster.close()

    async def throughput(
        self, numbers: Sequence[int], places: int = 10, rounds: int = 12
    ) -> None:
        """Says how many queries a second so many workers answer, each with a few places, of a model of one second."""
        for workers in numbers:
            processes = self._cluster()
            try:
                node = processes.node()
                at_work = [
                    processes.worker("--concurrency", str(places), ready=False)
                    for _ in range(workers)
                ]
                for worker in at_work:
                    worker.line_with("takes questions")
                asking = Asking([node])
                queries = workers * places * rounds
                began = time.monotonic()
                await asking.ask(queries, at_once=2 * workers * places)
                took_s = time.monotonic() - began
                say(
                    f"{workers} workers of {places} places: {queries} queries in {took_s:.1f} s, "
                    f"{queries / took_s:.1f} a second, {queries / took_s / workers:.2f} a worker; "
                    f"{rounds / took_s:.2f} of what the model allows"
                )
            finally:
                processes.end()

    async def compare_cpu(self, queries: int, reasoner: str) -> None:
        """Says what a query takes of the processor in one process, and with one worker and one node."""
        used: dict[str, float] = {}
        for mode in ("one process", "cluster"):
            settings = {"ANTIPHON_REASONER": reasoner}
            if mode == "one process":
                settings["ANTIPHON_NATS_URL"] = ""
            processes = self._cluster(**settings)
            try:
                node = processes.node()
                running = [node.process]
                if mode == "cluster":
                    running.append(processes.worker())
                asking = Asking([node])
                await asking.answers(20)
                before = sum([cpu_s(each) for each in running])
                await asking.answers(queries)
                used[mode] = (sum([cpu_s(each) for each in running]) - before) / queries
                each_ms = [f"{cpu_s(each):.1f}" for each in running]
                say(
                    f"{mode}: {used[mode] * 1000:.1f} ms of the processor a query ({', '.join(each_ms)} s in all)"
                )
            finally:
                processes.end()
        say(f"cluster / one process: {used['cluster'] / used['one process']:.2f}")


class Asking:
    """Callers of several nodes, who try another where one is gone."""

    def __init__(self, nodes: list[Node]) -> None:
        self._nodes = nodes
        self.ids: list[str] = []
        self.begun = 0
        self.failed = 0
        self.statuses = Counter[str]()

    async def ask(self, queries: int, at_once: int = AT_ONCE) -> None:
        """Begins so many queries; so many are open at once."""
        async with httpx2.AsyncClient(timeout=30) as client:
            await _in_parallel(queries, at_once, lambda: self._begin_and_wait(client))

    async def answers(self, queries: int) -> None:
        """Asks so many questions as callers do who wait for the answer."""
        async with httpx2.AsyncClient(timeout=60) as client:

            async def ask() -> None:
                reply = await client.post(
                    f"{self._nodes[0].url}/api/query",
                    json={"query": "What is applemailbox7?"},
                )
                assert reply.status_code == 200, reply.text

            await _in_parallel(queries, 40, ask)

    async def _begin_and_wait(self, client: httpx2.AsyncClient) -> None:
        reply = await self._sent(
            client, "POST", "/api/queries", {"query": "What is applemailbox7?"}
        )
        query_id = str(reply.json()["query_id"])
        self.ids.append(query_id)
        self.begun += 1
        await self._wait(client, query_id)

    async def _wait(self, client: httpx2.AsyncClient, query_id: str) -> None:
        while True:
            state = (
                await self._sent(client, "GET", f"/api/queries/{query_id}", None)
            ).json()
            if state["answer"] is not None:
                self.statuses[state["status"]] += 1
                return
            await asyncio.sleep(LOOK_S)

    async def _sent(
        self, client: httpx2.AsyncClient, method: str, path: str, body: object
    ) -> httpx2.Response:
        ends_at = time.monotonic() + ENDS_S
        number = self.begun
        while True:
            number += 1
            node = self._nodes[number % len(self._nodes)]
            try:
                reply = await client.request(method, f"{node.url}{path}", json=body)
                if reply.status_code in (200, 202):
                    return reply
            except httpx2.HTTPError:
                pass
            self.failed += 1
            assert time.monotonic() < ends_at, (
                f"{method} {path} failed for {ENDS_S:g} s"
            )
            await asyncio.sleep(0.2)


def problems(events: Sequence[Recorded[Event]]) -> list[str]:
    """Names what is wrong with a trace, and counts what was done twice."""
    found: list[str] = []
    kinds = [each.event.kind_name() for each in events]
    if [each.seq for each in events] != list(range(1, len(events) + 1)):
        found.append("gap")
    if kinds.count("query_closed") != 1 or kinds[-1] != "query_closed":
        found.append("not ended once")
    resumed = kinds.count("query_resumed")
    started = Counter(
        [
            each.event.subject()
            for each in events
            if each.event.kind_name() == "reasoning_started"
        ]
    )
    repeated = sum(started.values()) - len(started)
    found += ["taken over"] * (resumed - 1) + ["call repeated"] * repeated
    if repeated > max(0, resumed - 1):
        found.append("call repeated without a takeover")
    return found


async def _in_parallel(
    times: int, at_once: int, work: Callable[[], Awaitable[None]]
) -> None:
    places = asyncio.Semaphore(at_once)

    async def one() -> None:
        async with places:
            await work()

    await asyncio.gather(*[one() for _ in range(times)])


def cpu_s(process: Process) -> float:
    """Returns the seconds of the processor that a process has used."""
    fields = (
        Path(f"/proc/{process.process.pid}/stat").read_text().rpartition(")")[2].split()
    )
    return (int(fields[11]) + int(fields[12])) / _TICKS


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
