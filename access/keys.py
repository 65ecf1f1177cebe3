"""API keys: made, rotated, revoked, listed, and looked up for each request.

A key is 256 random bits: nobody can guess it, or find it from its hash by trying. So one round of SHA-256 keeps it as
safe as a slow password hash would, without the tenth of a second that such a hash is designed to cost each request.
Only the hash is stored, and it is compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

from antiphon.access.access_file import FILE_NAME, AccessFile
from antiphon.vocabulary.access import (
    KEY_PREFIX,
    Principal,
    check_name,
    scopes_of,
)
from antiphon.vocabulary.errors import (
    BadInputError,
    NotFoundError,
    UnauthorizedError,
)
from antiphon.vocabulary.values import Value

KEY_ID_BYTES = 6
SECRET_BYTES = 32
_ID = re.compile(rf"[0-9a-f]{{{2 * KEY_ID_BYTES}}}")
HOW = "send it as `Authorization: Bearer KEY` or `x-api-key: KEY`"
_NO_KEY = (
    f"This service asks for a key: {HOW}. Its owner makes one with "
    "`antiphon keys add NAME --tenant TENANT`."
)
_UNKNOWN = "This service does not know this key. It may be mistyped."
_COLUMNS = "key_id, name, tenant, scopes, made_at, expires_at, revoked_at, old_until"


class KeyInfo(Value, frozen=True, kw_only=True):
    """A key's record, without the key itself. Times are in seconds since the epoch.

    Attributes:
        key_id: The public part of the key, which names it.
        expires_at: From then on the key is invalid; None: it does not expire.
        old_until: Until then the key from before the last rotation is valid too; None: there was no rotation.
    """

    key_id: str
    name: str
    tenant: str
    scopes: tuple[str, ...]
    made_at: float
    expires_at: float | None = None
    revoked_at: float | None = None
    old_until: float | None = None

    def state(self, now: float) -> str:
        """Returns `active`, `expired` or `revoked`."""
        if self.revoked_at is not None:
            return "revoked"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active"


class Keys:
    """The keys of a service. A change, by this process or another, takes effect with the next request."""

    def __init__(self, file: AccessFile, now: Callable[[], float] = time.time) -> None:
        self._file = file
        self._now = now

    def add(
        self,
        name: str,
        tenant: str,
        scopes: Sequence[str],
        expires_s: float | None = None,
    ) -> tuple[str, KeyInfo]:
        """Makes a key, and returns it with its record: nothing can show the key again.

        Args:
            expires_s: Seconds for which the key is valid; None: it does not expire.

        Raises:
            BadInputError: A name or a scope is not valid.
        """
        if _ID.fullmatch(name):
            raise BadInputError(
                f"{name!r} has the form of a key's id, and could be taken for one: give the key another name."
            )
        now = self._now()
        info = KeyInfo(
            key_id=secrets.token_hex(KEY_ID_BYTES),
            name=check_name(name, "key"),
            tenant=check_name(tenant, "tenant"),
            scopes=tuple(sorted(scopes_of(scopes))),
            made_at=now,
            expires_at=_later(now, expires_s),
        )
        key = _new_key(info.key_id)
        # Noted before the key is written: a process that dies in between leaves a service that lets nobody in, not all.
        self._file.ask_for_keys()
        with self._file.transaction() as connection:
            connection.execute(
                "INSERT INTO keys (key_id, name, tenant, scopes, hash, made_at, expires_at) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    info.key_id,
                    info.name,
                    info.tenant,
                    ",".join(info.scopes),
                    _hash(key),
                    info.made_at,
                    info.expires_at,
                ),
            )
        return key, info

    def rotate(self, named: str, old_for_s: float = 0.0) -> tuple[str, KeyInfo]:
        """Replaces a key with a new one of the same id, rights and limits.

        Args:
            old_for_s: Seconds for which the old key stays valid too, so that its holders can change over.

        Raises:
            NotFoundError: There is no such key, or it was revoked.
        """
        info = self.find(named)
        now = self._now()
        if info.state(now) == "revoked":
            raise NotFoundError(f"The key {info.key_id} was revoked: make a new one.")
        key = _new_key(info.key_id)
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE keys SET old_hash = hash, old_until = ?, hash = ? WHERE key_id = ?",
                (now + old_for_s, _hash(key), info.key_id),
            )
        return key, self.find(info.key_id)

    def revoke(self, named: str) -> KeyInfo:
        """Ends a key for good. Raises NotFoundError if there is no such key."""
        info = self.find(named)
        with self._file.transaction() as connection:
            connection.execute(
                "UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE key_id = ?",
                (self._now(), info.key_id),
            )
        return self.find(info.key_id)

    def listed(self) -> tuple[KeyInfo, ...]:
        """Returns all keys, the revoked ones too, the oldest first."""
        rows = self._file.read(
            f"SELECT {_COLUMNS} FROM keys ORDER BY made_at, key_id"  # noqa: S608 - a constant
        )
        return tuple(map(_info, rows))

    def find(self, named: str) -> KeyInfo:
        """Finds a key by its id, or by its name if only one has it.

        Raises:
            NotFoundError: No key has it, or several have the name.
        """
        listed = self.listed()
        found = [each for each in listed if each.key_id == named]
        # Ids come first: an earlier version let a key take the id of another as its name.
        if not found:
            found = [each for each in listed if each.name == named]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(each.key_id for each in found)
            raise NotFoundError(
                f"Several keys are called {named!r}: name one by {ids}."
            )
        raise NotFoundError(
            f"There is no key {named[:40]!r}: `antiphon keys list` shows all keys."
        )

    @property
    def are_asked_for(self) -> bool:
        """True if there ever was a key: if all are revoked or lost, the service is closed to everybody."""
        return self._are_there or self._file.asks_for_keys

    @property
    def are_lost(self) -> bool:
        """True if there were keys, and their file is missing or holds none."""
        return self._file.asks_for_keys and not self._are_there

    @property
    def _are_there(self) -> bool:
        return bool(self._file.read("SELECT 1 FROM keys LIMIT 1"))

    def reset(self) -> None:
        """Lets callers in without a key from now on, if the keys are lost.

        Raises:
            BadInputError: There are still keys.
        """
        found = len(self.listed())
        if found:
            raise BadInputError(
                f"Nothing is reset, because {found} of the keys that were made exist: `antiphon keys list` shows them. "
                f"To do without keys, move {FILE_NAME} out of the data folder first."
            )
        self._file.ask_for_no_keys()

    def principal(self, key: str | None) -> Principal:
        """Returns the holder of a key.

        Args:
            key: As a caller sent it; None: the request came without one.

        Raises:
            UnauthorizedError: The key is missing, unknown, replaced, expired or revoked.
        """
        if not key:
            raise UnauthorizedError(_NO_KEY)
        prefix, _, rest = key.partition("_")
        key_id, _, _ = rest.partition("_")
        row = self._row(prefix, key_id)
        now = self._now()
        # An unknown id takes as much work as a known one, though ids are not secret.
        good = hmac.compare_digest(_hash(key), row.hash)
        was_good = hmac.compare_digest(_hash(key), row.old_hash)
        if not good and not was_good:
            raise UnauthorizedError(_UNKNOWN)
        state = row.info.state(now)
        if state != "active":
            raise UnauthorizedError(f"This key has {_ENDED[state]}: ask for a new one.")
        if not good and (row.info.old_until or 0.0) <= now:
            raise UnauthorizedError(
                "This key was rotated: use the new one that was made in its place."
            )
        return Principal(
            tenant=row.info.tenant,
            scopes=scopes_of(row.info.scopes),
            key_id=row.info.key_id,
        )

    def _row(self, prefix: str, key_id: str) -> _Row:
        if prefix != KEY_PREFIX:
            return _NO_ROW
        rows = self._file.read(
            f"SELECT {_COLUMNS}, hash, old_hash FROM keys WHERE key_id = ?",  # noqa: S608 - a constant
            (key_id,),
        )
        for *known, now_hash, old_hash in rows:
            return _Row(
                info=_info(known), hash=bytes(now_hash), old_hash=bytes(old_hash or b"")
            )
        return _NO_ROW


class _Row(Value, frozen=True, kw_only=True):
    info: KeyInfo
    hash: bytes
    old_hash: bytes


_ENDED = {"expired": "expired", "revoked": "been revoked"}
# An unknown key is compared with this row, which never matches, because a digest is not empty.
_NO_ROW = _Row(
    info=KeyInfo(key_id="", name="", tenant="", scopes=(), made_at=0.0, revoked_at=0.0),
    hash=b"",
    old_hash=b"",
)


def _info(row: Sequence[Any]) -> KeyInfo:
    key_id, name, tenant, scopes, made_at, expires_at, revoked_at, old_until = row
    return KeyInfo(
        key_id=key_id,
        name=name,
        tenant=tenant,
        scopes=tuple(scopes.split(",")),
        made_at=made_at,
        expires_at=expires_at,
        revoked_at=revoked_at,
        old_until=old_until,
    )


def _later(now: float, seconds: float | None) -> float | None:
    return now + seconds if seconds is not None else None


def _new_key(key_id: str) -> str:
    return f"{KEY_PREFIX}_{key_id}_{secrets.token_urlsafe(SECRET_BYTES)}"


def _hash(key: str) -> bytes:
    # A key may be any text, even with half of a surrogate pair, which has no encoding: "replace" makes it a wrong key.
    return hashlib.sha256(key.encode(errors="replace")).digest()
