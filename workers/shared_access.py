"""Keeps the keys and limits in each node's file the same: what is changed in one of them is in all a second later.

The file stays what is asked at each request, so that a caller waits for no server. On NATS is one value that holds the
rows of all files together. A row that was changed here since the two were last the same goes there, any other comes
from there; nobody deletes a row, and a key that was revoked anywhere stays so.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

import msgspec
import structlog

from antiphon import cluster
from antiphon.access import COMMAND_WAIT_MS, AccessFile, Share, shares_of
from antiphon.composition import Settings
from antiphon.vocabulary.errors import RemoteError, ServiceError
from antiphon.vocabulary.typed import prepared
from antiphon.workers.opening import late_connection
from antiphon.workers.shared_ledger import SharedLedger

log = structlog.get_logger(__name__)

SYNC_EVERY_S = 1.0
START_TRIES = 4
"""Looks at the servers before a node begins, which last as long as they are waited for: they elect a leader first."""
_KEYS = "key_id, name, tenant, scopes, hash, old_hash, old_until, made_at, expires_at, revoked_at"
_LIMITS = "holder, requests, tokens, cost_usd, at_once"
_AGREED = "CREATE TABLE IF NOT EXISTS agreed (content BLOB NOT NULL)"
"""What file and servers agreed upon last; made if files are shared, and passed over by programs that share none."""


class KeyRow(msgspec.Struct, frozen=True):
    """A row of `keys`. What a newer program writes beside it is passed over."""

    key_id: str
    name: str
    tenant: str
    scopes: str
    hash: bytes
    old_hash: bytes | None
    old_until: float | None
    made_at: float
    expires_at: float | None
    revoked_at: float | None


class LimitRow(msgspec.Struct, frozen=True):
    """A row of `limits`."""

    holder: str
    requests: int | None
    tokens: int | None
    cost_usd: float | None
    at_once: int | None


class Access(msgspec.Struct, frozen=True):
    """All rows, by their keys."""

    keys: dict[str, KeyRow] = {}
    limits: dict[str, LimitRow] = {}


Row = TypeVar("Row", KeyRow, LimitRow)


def merged(mine: Access, agreed: Access, there: Access) -> Access:
    """Returns the rows of a file and of the servers as one.

    Args:
        agreed: What both were when they were last the same.
    """
    keys = _newest(mine.keys, agreed.keys, there.keys)
    for key_id in keys:
        revoked = _revoked_at(key_id, mine, there)
        if revoked is not None:
            keys[key_id] = msgspec.structs.replace(keys[key_id], revoked_at=revoked)
    return Access(keys, _newest(mine.limits, agreed.limits, there.limits))


def _newest(
    mine: Mapping[str, Row], agreed: Mapping[str, Row], there: Mapping[str, Row]
) -> dict[str, Row]:
    newest = {**mine, **there}
    for name, row in mine.items():
        # Without an earlier agreement nobody knows which is newer, and the servers' has been everybody's so far.
        if name in agreed and row != agreed[name]:
            newest[name] = row
    return newest


def _revoked_at(key_id: str, mine: Access, there: Access) -> float | None:
    for access in (there, mine):
        row = access.keys.get(key_id)
        if row is not None and row.revoked_at is not None:
            return row.revoked_at
    return None


class SharedAccess:
    """The rows of one process's file, and those of all."""

    def __init__(self, file: AccessFile, value: cluster.SharedValue[Access]) -> None:
        self._file = file
        self._value = value

    async def keep_same(self) -> None:
        """Makes them the same again and again, until it is cancelled."""
        failed = False
        while True:
            await asyncio.sleep(SYNC_EVERY_S)
            try:
                await self.sync()
                failed = False
            except ServiceError as error:
                if not failed:
                    log.warning("keys_not_shared", error=str(error))
                failed = True

    async def sync_at_start(self) -> None:
        """Makes them the same once, on servers that may have been started just now. Raises as `sync` does."""
        for _ in range(START_TRIES - 1):
            try:
                await self.sync()
                return
            except RemoteError:
                await asyncio.sleep(SYNC_EVERY_S)
        await self.sync()

    async def sync(self) -> None:
        """Makes them the same once.

        Raises:
            RemoteError: The servers do not answer.
            ConfigurationError: The file cannot be used.
            BusyError: Another process writes it for too long.
        """
        mine = _rows_of(self._file)
        agreed = _agreed_in(self._file)
        newest = await self._value.change(
            lambda there: merged(mine, agreed, there or Access())
        )
        # A file that holds nothing is not made for nothing.
        if (mine, agreed) != (newest, newest):
            await self._file.write(_storing(self._file, mine, newest))


def shared_access(file: AccessFile, state: cluster.SharedState) -> SharedAccess:
    """Returns the keys and limits of a file, to be kept the same as those of all nodes."""
    return SharedAccess(file, state.value("access.", "keys", Access))


async def share_keys(settings: Settings, *, at_start: bool = False) -> None:
    """Makes the keys of the data folder the same as other nodes'.

    Args:
        at_start: The servers may have been started just now, and are waited for.

    Raises:
        RemoteError: They do not answer.
        ConfigurationError: They cannot be reached, or the file cannot be used.
    """
    file = AccessFile(settings.data_dir, COMMAND_WAIT_MS)
    try:
        async with _state_of(settings) as state:
            shared = shared_access(file, state)
            if at_start:
                await shared.sync_at_start()
            else:
                await shared.sync()
    finally:
        file.close()


async def shares_of_all(settings: Settings, file: AccessFile) -> Sequence[Share]:
    """Returns what each key and tenant has used today on all nodes. Raises BusyError without the servers."""
    async with _state_of(settings) as state:
        return await shares_of(file, SharedLedger(state))


@asynccontextmanager
async def _state_of(settings: Settings) -> AsyncIterator[cluster.SharedState]:
    connection = late_connection(settings, "keys")
    try:
        # If there is no server that is said at once, and not tried again.
        await connection.get()
        yield cluster.SharedState(connection)
    finally:
        await connection.close()


def _storing(
    file: AccessFile, mine: Access, newest: Access
) -> Callable[[sqlite3.Connection], None]:
    def store(connection: sqlite3.Connection) -> None:
        # It was changed meanwhile: the next look takes that in.
        if _rows_of(file) != mine:
            return
        for key in newest.keys.values():
            connection.execute(
                f"INSERT OR REPLACE INTO keys ({_KEYS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constants
                msgspec.structs.astuple(key),
            )
        for limit in newest.limits.values():
            connection.execute(
                f"INSERT OR REPLACE INTO limits ({_LIMITS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608 - constants
                msgspec.structs.astuple(limit),
            )
        connection.execute(_AGREED)
        connection.execute("DELETE FROM agreed")
        connection.execute(
            "INSERT INTO agreed (content) VALUES (?)", (msgspec.json.encode(newest),)
        )

    return store


def _rows_of(file: AccessFile) -> Access:
    keys = file.read(f"SELECT {_KEYS} FROM keys")  # noqa: S608 - constants
    limits = file.read(f"SELECT {_LIMITS} FROM limits")  # noqa: S608 - constants
    return Access(
        {row[0]: KeyRow(*row) for row in keys},
        {row[0]: LimitRow(*row) for row in limits},
    )


def _agreed_in(file: AccessFile) -> Access:
    if not file.read("SELECT 1 FROM sqlite_master WHERE name = 'agreed'"):
        return Access()
    for (content,) in file.read("SELECT content FROM agreed"):
        return msgspec.json.decode(content, type=prepared(Access))
    return Access()
