"""A whole cluster for one measurement: NATS, Chroma, a model double, API nodes and workers over one index."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from antiphon.cluster import connect
from antiphon.cluster.connection import Cluster
from benchmarks.cluster.fleet import (
    Environment,
    Member,
    api_node,
    chroma_server,
    model,
    nats_servers,
    worker,
)
from benchmarks.processes import antiphon

COURSES = Path("samples/courses")


@dataclass
class Setting:
    """The members of a cluster; those in one list do the same work."""

    nats: list[Member]
    nats_url: str
    chroma: Member
    model: Member
    model_url: str
    apis: list[Member]
    urls: list[str]
    workers: list[Member]

    @property
    def members(self) -> list[Member]:
        """All members, in starting order."""
        return [*self.nats, self.chroma, self.model, *self.apis, *self.workers]

    async def leader_of_traces(self) -> Member:
        """Finds the NATS server that leads the stream of traces."""
        cluster: Cluster = await connect(self.nats_url, name="benchmark")
        try:
            info = await cluster.jetstream.stream_info(cluster.naming.traces_stream)
        finally:
            await cluster.close()
        for member in self.nats:
            if info.cluster is not None and info.cluster.leader == member.name:
                return member
        return self.nats[0]


@contextmanager
def cluster_setting(
    folder: Path,
    *,
    workers: int,
    apis: int,
    servers: int = 3,
    latency_s: float = 1.0,
    concurrency: int = 50,
    extra: Environment | None = None,
) -> Iterator[Setting]:
    """Starts everything, and ends it afterwards.

    Args:
        servers: NATS servers; all of them hold each stream.
        concurrency: Queries that one worker handles at once.
        extra: More settings for nodes and workers.
    """
    folder.mkdir(parents=True, exist_ok=True)
    nats, nats_url = nats_servers(folder, servers)
    chroma, chroma_url = chroma_server(folder)
    double, model_url = model(folder, latency_s)
    started: list[Member] = []

    def start(*members: Member) -> None:
        for member in members:
            started.append(member)
            member.start()
        for member in members:
            member.wait()

    environment: Environment = {
        "ANTIPHON_CHROMA_URL": chroma_url,
        "ANTIPHON_NATS_URL": nats_url,
        "ANTIPHON_NATS_REPLICAS": str(servers),
        "ANTIPHON_CITATIONS": "native",
        "ANTIPHON_LOG_LEVEL": "error",
        "ANTIPHON_WORKER_QUERIES": str(concurrency),
        "ANTIPHON_DEADLINE_S": "120",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": model_url,
        **(extra or {}),
    }
    try:
        start(*nats, chroma, double)
        index = index_of(folder, chroma_url)
        nodes: list[Member] = []
        urls: list[str] = []
        for number in range(1, apis + 1):
            own = {**environment, "ANTIPHON_DATA_DIR": own_data(index, f"api-{number}")}
            # A node admits many, because the queue is the limit.
            own["ANTIPHON_CONCURRENT_QUERIES"] = "2000"
            node, url = api_node(folder, f"api-{number}", own)
            nodes.append(node)
            urls.append(url)
        crew: list[Member] = []
        for number in range(1, workers + 1):
            data = own_data(index, f"worker-{number}")
            own = {**environment, "ANTIPHON_DATA_DIR": data}
            crew.append(worker(folder, f"worker-{number}", own))
        start(*nodes)
        start(*crew)
        yield Setting(nats, nats_url, chroma, double, model_url, nodes, urls, crew)
    finally:
        for member in reversed(started):
            member.end()


def index_of(folder: Path, chroma_url: str) -> Path:
    """Indexes the sample courses into the Chroma server; returns the data folder."""
    index = folder / "index"
    command = [*antiphon("index", str(COURSES)), "--data-dir", str(index)]
    environment = {**os.environ, "ANTIPHON_CHROMA_URL": chroma_url}
    subprocess.run(command, env=environment, check=True, capture_output=True)
    return index


def index_of_one(folder: Path) -> Path:
    """Indexes the sample courses for one process; returns the data folder."""
    index = folder / "index-of-one"
    command = [*antiphon("index", str(COURSES)), "--data-dir", str(index)]
    subprocess.run(command, check=True, capture_output=True)
    return index


def own_data(index: Path, name: str) -> str:
    """Returns a data folder with a copy of the index, as another machine would have."""
    own = index.with_name(name)
    if not own.exists():
        shutil.copytree(index, own)
    return str(own)
