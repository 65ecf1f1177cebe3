"""Finds open queries on which no process works: without an event for a while, and without a place in the queue."""

from __future__ import annotations

import sqlite3
import time

from antiphon.cluster.connection import Cluster
from antiphon.cluster.stream_reading import StreamReader
from antiphon.traces import IMPORTED, TraceIndex

ABANDONED_S = 60.0
"""Seconds without an event after which an open trace may be abandoned: longer than most calls of a model take."""

_OPEN = """
    SELECT query_id, tenant FROM queries
    WHERE status = 'open' AND owner != ? ORDER BY started_at, number
"""


async def find_unfinished(
    cluster: Cluster, index: TraceIndex, abandoned_after_s: float
) -> list[str]:
    """Returns the open queries that had no event for so long and wait for no worker, the oldest first.

    Raises:
        TraceError: The servers do not answer.
    """
    naming = cluster.naming
    traces = StreamReader(cluster, naming.traces_stream)
    waiting = StreamReader(cluster, naming.queries_stream)
    found: list[str] = []
    for query_id, tenant in await index.readers.run(_read_open):
        last = await traces.last(naming.trace(query_id))
        if last is None or time.time() - last.at < abandoned_after_s:
            continue
        # A query stays in the queue until it is over, even while a worker has it.
        if await waiting.last(naming.query(tenant, query_id)) is None:
            found.append(query_id)
    return found


def _read_open(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    rows = connection.execute(_OPEN, (IMPORTED,))
    return [(str(query_id), str(tenant)) for query_id, tenant in rows]
