"""Deletes messages so that nothing of them is left on the servers' disks.

A purge only notes that messages are gone: their bytes stay in the server's files until it rewrites these, which may
never happen. Deleting a message by its sequence overwrites it at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from nats.js.errors import APIError
from nats.js.errors import NotFoundError as NoMessageError

from antiphon.cluster.connection import Cluster
from antiphon.cluster.stream_reading import StreamReader, as_trace_errors

_AT_ONCE = 32
_NO_MESSAGE = (10037, 10043)
"""JetStream's codes for a message that does not exist."""


async def erase(
    cluster: Cluster, stream: str, subject: str, before: int | None = None
) -> None:
    """Deletes the messages of a subject, which may hold wildcards; if it is broken off, the first messages are left.

    Args:
        before: Deletes only messages before this place in the stream; None: all.

    Raises:
        TraceError: The servers do not answer.
    """
    reader = StreamReader(cluster, stream)
    last = (await reader.state()).last_seq if before is None else before - 1
    places = [message.seq async for message in reader.between(subject, 1, last)]
    places.reverse()
    for start in range(0, len(places), _AT_ONCE):
        await _erase_all(cluster, stream, places[start : start + _AT_ONCE])
    if before is not None:
        return
    # For messages stored meanwhile a purge is enough: the server now refuses their writer, and nobody reads them.
    with as_trace_errors("delete messages"):
        await cluster.jetstream.purge_stream(stream, subject=subject)


async def _erase_all(cluster: Cluster, stream: str, places: Sequence[int]) -> None:
    # The earliest last and alone: a trace is found by its beginning, so a deletion that breaks off can be repeated.
    *later, earliest = places
    await asyncio.gather(*(_erase_one(cluster, stream, place) for place in later))
    await _erase_one(cluster, stream, earliest)


async def _erase_one(cluster: Cluster, stream: str, place: int) -> None:
    with as_trace_errors("delete a message"):
        try:
            await cluster.jetstream.delete_msg(stream, place)
        except NoMessageError:
            return
        except APIError as error:
            if error.err_code not in _NO_MESSAGE:
                raise
