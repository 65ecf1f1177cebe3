"""Texts that are too long for messages: stored by trace and hash, in a separate stream, in parts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import partial

from antiphon.cluster.client import REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.cluster.decoding import decoded
from antiphon.cluster.erasing import erase
from antiphon.cluster.stream_reading import StreamReader, as_trace_errors

PART_BYTES = 512 * 1024
HEADER_BYTES = 1024
_PARTS = "Antiphon-Parts"
"""The header with the number of parts of a text."""


class Blobs:
    """The long texts of all traces."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._naming = cluster.naming
        self._reader = StreamReader(cluster, cluster.naming.blobs)

    async def put(self, query_id: str, blobs: Mapping[str, bytes]) -> None:
        """Stores texts of a trace; storing them again changes nothing.

        Raises:
            TraceError: They cannot be stored.
        """
        part_bytes = min(PART_BYTES, self._cluster.client.max_payload - HEADER_BYTES)
        for key, data in blobs.items():
            starts = range(0, len(data), part_bytes)
            for number, start in enumerate(starts):
                with as_trace_errors("store a text"):
                    await self._cluster.jetstream.publish(
                        f"{self._naming.blobs_of(query_id)}.{key}.{number}",
                        data[start : start + part_bytes],
                        timeout=REQUEST_S,
                        headers={_PARTS: str(len(starts))},
                    )

    async def get(self, query_id: str, keys: Iterable[str]) -> dict[str, bytes]:
        """Returns the text stored under each of the keys, without those that are missing or damaged.

        Raises:
            TraceError: The servers do not answer.
        """
        found: dict[str, bytes] = {}
        for key in keys:
            data = await self._read(f"{self._naming.blobs_of(query_id)}.{key}")
            # The key is the text's hash: data that somebody else wrote under its name is not the trace's.
            if await decoded(partial(_digest, data), len(data)) == key:
                found[key] = data
        return found

    async def size_bytes(self) -> int:
        """Returns the space that the texts take on each server. Raises as `get` does."""
        return (await self._reader.state()).size_bytes

    async def delete(self, query_id: str) -> None:
        """Deletes the texts of a trace. Raises as `get` does."""
        await erase(
            self._cluster, self._naming.blobs, f"{self._naming.blobs_of(query_id)}.>"
        )

    async def _read(self, subject: str) -> bytes:
        # A missing part ends the text early; its hash then shows that it is damaged.
        parts: list[bytes] = []
        part = await self._reader.last(f"{subject}.0")
        while part is not None:
            parts.append(part.data)
            if str(len(parts)) == part.headers.get(_PARTS):
                break
            part = await self._reader.last(f"{subject}.{len(parts)}")
        return b"".join(parts)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
