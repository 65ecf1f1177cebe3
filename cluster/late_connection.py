"""A connection to NATS that is made at its first use, and then serves the whole process."""

from __future__ import annotations

import asyncio
import time

from antiphon.cluster.connection import Cluster, connect
from antiphon.vocabulary.errors import ConfigurationError

PAUSE_S = 5.0
"""Seconds between two attempts: in between, callers get the last error at once and do not wait for another."""


class LateConnection:
    """One connection to NATS. Takes the arguments of `connect`."""

    def __init__(
        self, url: str, *, name: str, prefix: str = "antiphon", replicas: int = 1
    ) -> None:
        self._url = url
        self._name = name
        self._prefix = prefix
        self._replicas = replicas
        self._lock = asyncio.Lock()
        self._cluster: Cluster | None = None
        self._failed: ConfigurationError | None = None
        self._again_at = 0.0

    async def get(self) -> Cluster:
        """Returns the connection.

        Raises:
            ConfigurationError: As `connect` does; for a moment after a failure at once, without a new attempt.
        """
        async with self._lock:
            if self._cluster is None:
                self._cluster = await self._connected()
            return self._cluster

    async def _connected(self) -> Cluster:
        if self._failed is not None and time.monotonic() < self._again_at:
            raise ConfigurationError(str(self._failed)) from self._failed
        try:
            return await connect(
                self._url,
                name=self._name,
                prefix=self._prefix,
                replicas=self._replicas,
            )
        except ConfigurationError as error:
            self._failed = error
            self._again_at = time.monotonic() + PAUSE_S
            raise

    async def close(self) -> None:
        """Closes the connection if it was made."""
        async with self._lock:
            if self._cluster is not None:
                await self._cluster.close()
                self._cluster = None
