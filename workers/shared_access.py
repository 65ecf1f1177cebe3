"""Keeps the keys and limits in all nodes' files the same: a change in one of them is in all a second later.

Each request still reads the node's file, so that no caller waits for a server. One value on NATS holds the rows of all
files. A row that changed here since file and value last agreed is copied to NATS, any other row is copied from there.
Nobody deletes a row, and a key revoked anywhere stays revoked.
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
"""Attempts to reach the servers before a node begins: servers that have just started elect a leader first."""
_KEYS = "key_id, name, tenant, scopes, hash, old_hash, old_until, made_at, expires_at, revoked_at"
_LIMITS = "holder, requests, tokens, cost_usd, at_once"
_AGREED = "CREATE TABLE IF NOT EXISTS agreed (content BLOB NOT NULL)"
"""The state in which file and servers last agreed; made once files are shared, and ignored by other programs."""


class KeyRow(msgspec.Struct, frozen=True):
    """A row of `keys`; ignores unknown fields, which a newer program may have written."""

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
    """All rows, each by its key."""

    keys: dict[str, KeyRow] = {}
    limits: dict[str, LimitRow] = {}


Row = TypeVar("Row", KeyRow, LimitRow)


def merged(mine: Access, agreed: Access, there: Access) -> Access:
    """Merges the rows of a file with those of the servers.

    Args:
        agreed: The rows at the time when both were last the same.
    """
    keys = _newest(mine.keys, agreed.keys, there.keys)
    # A revocation on either side wins, even over a later change of the row on the other.
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
        # Without an earlier agreement nobody knows which row is newer; the servers' is the one that all others have.
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
    """Synchronises the rows of one process's file with those of all."""

    def __init__(self, file: AccessFile, value: cluster.SharedValue[Access]) -> None:
        self._file = file
        self._value = value

    async def keep_same(self) -> None:
        """Synchronises again and again until it is cancelled."""
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
        """Synchronises once, with servers that may have just started. Raises as `sync` does."""
        for _ in range(START_TRIES - 1):
            try:
                await self.sync()
                return
            except RemoteError:
                await asyncio.sleep(SYNC_EVERY_S)
        await self.sync()

    async def sync(self) -> None:
        """Synchronises once.

        Raises:
            RemoteError: The servers do not answer.
            ConfigurationError: The file cannot be used.
            BusyError: Another process keeps the file locked for too long.
        """
        mine = _rows_of(self._file)
        agreed = _agreed_in(self._file)
        newest = await self._value.change(
            lambda there: merged(mine, agreed, there or Access())
        )
        # Without anything to store, no file is made.
        if (mine, agreed) != (newest, newest):
            await self._file.write(_storing(self._file, mine, newest))


def shared_access(file: AccessFile, state: cluster.SharedState) -> SharedAccess:
    """Returns the keys and limits of a file, ready to synchronise with those of all nodes."""
    return SharedAccess(file, state.value("access.", "keys", Access))


async def share_keys(settings: Settings, *, at_start: bool = False) -> None:
    """Synchronises the keys of the data folder with those of other nodes.

    Args:
        at_start: Waits for the servers, which may have just started.

    Raises:
        RemoteError: The servers do not answer.
        ConfigurationError: The servers cannot be reached, or the file cannot be used.
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
    """Returns today's usage of each key and tenant on all nodes. Raises BusyError if the servers are away."""
    async with _state_of(settings) as state:
        return await shares_of(file, SharedLedger(state))


@asynccontextmanager
async def _state_of(settings: Settings) -> AsyncIterator[cluster.SharedState]:
    connection = late_connection(settings, "keys")
    try:
        # Connects here, so that a missing server is an error at once instead of after retries.
        await connection.get()
        yield cluster.SharedState(connection)
    finally:
        await connection.close()


def _storing(
    file: AccessFile, mine: Access, newest: Access
) -> Callable[[sqlite3.Connection], None]:
    def store(connection: sqlite3.Connection) -> None:
        # The file has changed meanwhile: the next synchronisation includes that.
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
