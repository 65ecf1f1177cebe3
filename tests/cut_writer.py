"""Appends to a trace through the store, as a worker does: `python -m tests.cut_writer write URL ID FILE`.

For each event that the store confirms it writes a line `stored N` to the file, for each refused one `refused N` and
the reason. It ends when the file `FILE.stop` appears. `… read URL ID` prints the numbers of the stored events.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from nats.errors import Error as NatsError

from antiphon.cluster import Cluster, JetStreamTraceStore, connect
from antiphon.vocabulary.errors import ConfigurationError, TraceError
from antiphon.vocabulary.events import Event, QueryResumed
from tests.story import placed, query_received

REPLICAS = 3
PAUSE_S = 0.02
TRIES = 60


async def opened(cluster: Cluster, folder: str) -> JetStreamTraceStore:
    """Opens the store, retrying until all servers have found each other: three replicas need three."""
    for _ in range(TRIES):
        try:
            return await JetStreamTraceStore.open(cluster, Path(folder))
        except (TraceError, ConfigurationError, NatsError, TimeoutError):
            await asyncio.sleep(0.5)
    raise SystemExit("the servers make no streams")


async def write(url: str, query_id: str, file: Path) -> None:
    """Appends one event after another until the stop file appears; retries refused ones."""
    cluster = await connect(url, name=query_id, replicas=REPLICAS)
    with tempfile.TemporaryDirectory() as folder, file.open("a", buffering=1) as told:
        store = await opened(cluster, folder)
        number = 0
        while not file.with_suffix(".stop").exists():
            event: Event = QueryResumed(away_s=0.0, why=f"{number}")
            if number == 0:
                event = query_received()
            try:
                await store.append(
                    query_id, number, placed(query_id, [event], after=number)
                )
            except TraceError as error:
                told.write(f"refused {number + 1} {error!r}\n")
            else:
                number += 1
                told.write(f"stored {number}\n")
            await asyncio.sleep(PAUSE_S)
        await store.close()
    await cluster.close()


async def read(url: str, query_id: str) -> list[int]:
    """Returns the numbers of the stored events, in order."""
    cluster = await connect(url, name="reader", replicas=REPLICAS)
    with tempfile.TemporaryDirectory() as folder:
        store = await opened(cluster, folder)
        found = [recorded.seq for recorded in await store.read(query_id)]
        await store.close()
    await cluster.close()
    return found


if __name__ == "__main__":
    if sys.argv[1] == "write":
        asyncio.run(write(sys.argv[2], sys.argv[3], Path(sys.argv[4])))
    else:
        sys.stdout.write(json.dumps(asyncio.run(read(sys.argv[2], sys.argv[3]))))
