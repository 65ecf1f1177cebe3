"""Small values that all processes share: read, changed by a rule, and written if no other process was faster."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from typing import Generic, TypeVar

import msgspec
import structlog
from nats.errors import Error as NatsError
from nats.js.api import KeyValueConfig, StorageType
from nats.js.errors import BadRequestError, NotFoundError
from nats.js.kv import KeyValue

from antiphon.cluster.client import REQUEST_S
from antiphon.cluster.connection import Cluster
from antiphon.cluster.late_connection import LateConnection
from antiphon.cluster.stream_reading import StreamReader
from antiphon.cluster.streams import text_of, token
from antiphon.vocabulary.errors import RemoteError, ServiceError
from antiphon.vocabulary.typed import prepared

log = structlog.get_logger(__name__)

TRIES = 50
"""Attempts at one change, each of which another process's change may defeat."""
PAUSE_S = 0.01
MOST_PAUSES = 5
"""The most that a pause grows, in multiples of PAUSE_S: a process that waited ever longer would never get a turn."""
OTHERS_TURN_S = 0.05
"""Seconds after a change during which this process reads before the next one: changing without a pause, it would always
be faster than others, which have to read."""
_DELETED = "KV-Operation"
"""The header of an entry for a value that was deleted."""

T = TypeVar("T")


async def state_bucket(cluster: Cluster) -> KeyValue:
    """Returns the bucket, and makes it if it is missing."""
    config = KeyValueConfig(
        bucket=cluster.naming.shared_state,
        history=1,
        storage=StorageType.FILE,
        replicas=cluster.replicas,
    )
    try:
        return await cluster.jetstream.create_key_value(config)
    # It exists, made by a process with other settings.
    except BadRequestError:
        return await cluster.jetstream.key_value(cluster.naming.shared_state)


class SharedValue(Generic[T]):
    """One value of the bucket.

    Args:
        key: Its name in the bucket.
        kind: Its type, which msgspec reads and writes.
    """

    def __init__(self, connection: LateConnection, key: str, kind: type[T]) -> None:
        self._connection = connection
        self._key = key
        self._decoder = msgspec.json.Decoder(prepared(kind))
        self._bucket: KeyValue | None = None
        self._written: tuple[T, int] | None = None
        self._written_at = 0.0

    async def change(self, rule: Callable[[T | None], T]) -> T:
        """Applies a rule to the newest value, and returns the value written.

        Args:
            rule: Is called again if another process was faster; its errors reach the caller.

        Raises:
            RemoteError: The servers do not answer, or too many others changed it at the same time.
        """
        bucket = await self._open()
        try:
            async with asyncio.timeout(REQUEST_S):
                return await self._change(bucket, rule)
        except (NatsError, OSError, TimeoutError) as error:
            raise RemoteError(
                f"`{self._key}` cannot be agreed upon ({str(error) or type(error).__name__})"
            ) from error

    async def read(self) -> T | None:
        """Returns the newest value; None if there is none. Raises as `change` does."""
        await self._open()
        try:
            async with asyncio.timeout(REQUEST_S):
                value, _ = await self._newest()
                return value
        except (NatsError, OSError, TimeoutError) as error:
            raise RemoteError(f"`{self._key}` cannot be read") from error

    async def _change(self, bucket: KeyValue, rule: Callable[[T | None], T]) -> T:
        changed = await self._change_written(bucket, rule)
        if changed is not None:
            return changed
        for number in range(TRIES):
            value, revision = await self._newest()
            after = rule(value)
            if after == value:
                return after
            if await self._write(bucket, after, revision):
                return after
            # Another process was faster.
            await asyncio.sleep(random.random() * PAUSE_S * min(number, MOST_PAUSES))
        raise RemoteError(f"`{self._key}` is changed by too many at once")

    async def _change_written(
        self, bucket: KeyValue, rule: Callable[[T | None], T]
    ) -> T | None:
        """Changes the value that this process wrote last, without reading it, if nobody has changed it since.

        Returns None if somebody has, or may have: a refusal by the rule, or no change, might be due to an old value.
        """
        written, self._written = self._written, None
        if written is None or time.monotonic() - self._written_at < OTHERS_TURN_S:
            return None
        value, revision = written
        try:
            after = rule(value)
        except ServiceError:
            return None
        if after == value or not await self._write(bucket, after, revision):
            return None
        return after

    async def _write(self, bucket: KeyValue, value: T, revision: int) -> bool:
        """Writes a value; returns False if the newest value is no longer that of the revision."""
        try:
            now = await bucket.update(self._key, msgspec.json.encode(value), revision)
        except BadRequestError:
            return False
        self._written = (value, now)
        self._written_at = time.monotonic()
        return True

    async def _newest(self) -> tuple[T | None, int]:
        # From the leader: the client's own method asks any server, which may be behind or cut off from the others.
        cluster = await self._connection.get()
        name = cluster.naming.shared_state
        try:
            entry = await cluster.jetstream.get_msg(
                f"KV_{name}", subject=f"$KV.{name}.{self._key}"
            )
        except NotFoundError:
            return None, 0
        revision = entry.seq or 0
        # A deleted value still has a revision, which the next write must name.
        if _DELETED in (entry.headers or {}):
            return None, revision
        try:
            return self._decoder.decode(entry.data or b""), revision
        except (msgspec.MsgspecError, UnicodeError) as error:
            # Nobody knows who wrote it, so the value starts afresh.
            log.warning("shared_value_refused", key=self._key, error=str(error))
            return None, revision

    async def _open(self) -> KeyValue:
        if self._bucket is None:
            try:
                self._bucket = await state_bucket(await self._connection.get())
            except (ServiceError, NatsError, OSError, TimeoutError) as error:
                raise RemoteError(str(error)) from error
        return self._bucket


class SharedState:
    """Values of the bucket whose names arise while the service runs, such as one for each tenant."""

    def __init__(self, connection: LateConnection) -> None:
        self._connection = connection

    def value(self, beginning: str, name: str, kind: type[T]) -> SharedValue[T]:
        """Returns the value for the beginning of a key, which ends with a dot, and a name, which may be any text."""
        return SharedValue(self._connection, f"{beginning}{token(name)}", kind)

    async def names(self, beginning: str) -> list[str]:
        """Returns the names of all values whose keys begin so.

        Raises:
            RemoteError: The servers do not answer.
        """
        try:
            cluster = await self._connection.get()
            bucket = cluster.naming.shared_state
            reader = StreamReader(cluster, f"KV_{bucket}")
            before = f"$KV.{bucket}.{beginning}"
            subjects = await reader.subjects(f"{before}>")
        except ServiceError as error:
            raise RemoteError(str(error)) from error
        return [text_of(subject.removeprefix(before)) for subject in subjects]
