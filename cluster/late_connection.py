"""A connection that is made when it is first needed, and then serves the whole process."""

from __future__ import annotations

import asyncio

from antiphon.cluster.connection import Cluster, connect


class LateConnection:
    """One connection to NATS. Takes what `connect` takes."""

    def __init__(
        self, url: str, *, name: str, prefix: str = "antiphon", replicas: int = 1
    ) -> None:
        self._url = url
        self._name = name
        self._prefix = prefix
        self._replicas = replicas
        self._lock = asyncio.Lock()
        self._cluster: Cluster | None = None

    async def get(self) -> Cluster:
        """Returns the connection. Raises ConfigurationError as `connect` does; the next call tries again."""
        async with self._lock:
            if self._cluster is None:
                self._cluster = await connect(
                    self._url,
                    name=self._name,
                    prefix=self._prefix,
                    replicas=self._replicas,
                )
            return self._cluster

    async def close(self) -> None:
        """Closes it where it was made."""
        async with self._lock:
            if self._cluster is not None:
                await self._cluster.close()
                self._cluster = None
