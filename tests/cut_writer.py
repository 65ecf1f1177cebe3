"""Appends to a trace as workers do, fenced by the last sequence: `python -m tests.cut_writer write URL ID FILE`.

Each number that the servers acknowledged is a line `stored N` of the file, each that they did not `refused N`. It ends
when the file `FILE.stop` is there. `… read URL ID` prints the numbers that are stored.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from nats.errors import Error as NatsError
from nats.js.api import Header
from nats.js.errors import NotFoundError

from antiphon.cluster import Cluster, connect, make_streams

REPLICAS = 3
PAUSE_S = 0.02
TRIES = 60


async def last_of(cluster: Cluster, subject: str) -> tuple[int, int]:
    """Returns the last number of a trace and its sequence in the stream."""
    stream = cluster.naming.traces_stream
    try:
        message = await cluster.jetstream.get_last_msg(stream, subject)
    except NotFoundError:
        return 0, 0
    return int(message.data or b"0"), message.seq or 0


async def make_when_possible(cluster: Cluster) -> None:
    """Makes the streams once all servers have found one another: three replicas need three."""
    for _ in range(TRIES):
        try:
            await make_streams(cluster.jetstream, cluster.naming, REPLICAS)
            return
        except (NatsError, TimeoutError):
            await asyncio.sleep(0.5)
    raise SystemExit("the servers make no streams")


async def write(url: str, query_id: str, file: Path) -> None:
    """Appends 1, 2, 3 … until it is told to stop; a number that was refused is tried again."""
    cluster = await connect(url, name=query_id, replicas=REPLICAS)
    await make_when_possible(cluster)
    subject = cluster.naming.trace(query_id)
    with file.open("a", buffering=1) as told:
        while not file.with_suffix(".stop").exists():
            number = 0
            try:
                number, seq = await last_of(cluster, subject)
                await cluster.jetstream.publish(
                    subject,
                    str(number + 1).encode(),
                    timeout=1.0,
                    headers={Header.EXPECTED_LAST_SUBJECT_SEQUENCE: str(seq)},
                )
                told.write(f"stored {number + 1}\n")
            except (NatsError, OSError, TimeoutError):
                told.write(f"refused {number + 1}\n")
            await asyncio.sleep(PAUSE_S)
    await cluster.close()


async def read(url: str, query_id: str) -> list[int]:
    """Returns the numbers that are stored, in their order."""
    cluster = await connect(url, name="reader", replicas=REPLICAS)
    consumer = await cluster.jetstream.subscribe(
        cluster.naming.trace(query_id), ordered_consumer=True
    )
    last, _ = await last_of(cluster, cluster.naming.trace(query_id))
    found: list[int] = []
    while not found or found[-1] < last:
        found.append(int((await consumer.next_msg(10.0)).data))
    await cluster.close()
    return found


if __name__ == "__main__":
    if sys.argv[1] == "write":
        asyncio.run(write(sys.argv[2], sys.argv[3], Path(sys.argv[4])))
    else:
        sys.stdout.write(json.dumps(asyncio.run(read(sys.argv[2], sys.argv[3]))))
