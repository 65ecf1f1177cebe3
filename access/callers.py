"""Who the callers of a service are: those with a key, and those without, by its settings."""

from __future__ import annotations

import ipaddress
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from antiphon import cluster
from antiphon.access.access_file import (
    COMMAND_WAIT_MS,
    FILE_NAME,
    MODE_FILE,
    AccessFile,
)
from antiphon.access.keys import Keys
from antiphon.access.ledgers import Ledger, SharedLedger
from antiphon.access.quotas import Quotas
from antiphon.access.shared_access import Access, SharedAccess
from antiphon.access.usage import Share
from antiphon.composition import Settings
from antiphon.vocabulary.access import (
    LOCAL_TENANT,
    NOBODY,
    OWNER,
    Principal,
    scopes_of,
)
from antiphon.vocabulary.errors import (
    ConfigurationError,
    NotFoundError,
    UnauthorizedError,
)
from antiphon.vocabulary.imports import split_names

_FROM_ELSEWHERE = (
    "This request came through a proxy, or by a name that is not this machine's own. Such callers need a key, and "
    "there is none yet: the owner of the service makes one with `antiphon keys add NAME --tenant TENANT`, or says with "
    "ANTIPHON_ANYBODY_MAY what anybody may do."
)


class Callers:
    """The callers of a service.

    Args:
        state: Where it is shared with other nodes what callers have spent; None: with none.

    Attributes:
        without_key: Who everybody is as long as no key was made.
        shared: Keeps the keys the same as other nodes'; None: they are this node's own.
    """

    def __init__(
        self, settings: Settings, state: cluster.SharedState | None = None
    ) -> None:
        self._file = AccessFile(settings.data_dir)
        self.keys = Keys(self._file)
        ledger: Ledger | None = None
        self.shared: SharedAccess | None = None
        if state is not None:
            ledger = SharedLedger(state)
            self.shared = shared_access(self._file, state)
        self.quotas = Quotas(self._file, ledger=ledger)
        self.without_key = without_key(settings)

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        """Returns who a caller is by the key that they sent; None: they sent none.

        Args:
            from_here: The request was sent to this machine by its own name, and no proxy says that it passed it on.

        Raises:
            UnauthorizedError: A key is asked for, and this is none that counts.
        """
        if self.keys.are_asked_for:
            return self.keys.principal(key)
        if not self._lets_in(from_here):
            raise UnauthorizedError(_FROM_ELSEWHERE)
        return self.without_key

    def public_principal(self, *, from_here: bool = True) -> Principal:
        """Returns who a caller is to what asks nobody for a key."""
        if self.keys.are_asked_for or not self._lets_in(from_here):
            return NOBODY
        return self.without_key

    def _lets_in(self, from_here: bool) -> bool:
        """Returns True if a caller without a key is let in: nobody from elsewhere becomes the owner unasked."""
        return from_here or self.without_key is not OWNER

    async def opener_of(self, query_id: str, tenant: str | None) -> Principal:
        """Returns who goes on with a query that a process left behind: whoever began it, with the rights of today."""
        anybody = Principal(tenant=tenant or LOCAL_TENANT, scopes=frozenset())
        key_id = await self.quotas.key_under_way(anybody, query_id)
        return self.asker(key_id or "", tenant)

    def asker(self, key_id: str, tenant: str | None) -> Principal:
        """Returns who asked by a key, with the rights of today; with none that is known here, anybody of the tenant."""
        try:
            found = self.keys.find(key_id)
        except NotFoundError:
            if tenant is None or tenant == LOCAL_TENANT:
                return self.without_key
            return Principal(tenant=tenant, scopes=frozenset())
        return Principal(
            tenant=found.tenant, scopes=scopes_of(found.scopes), key_id=found.key_id
        )

    def close(self) -> None:
        self._file.close()


async def shares_of(settings: Settings, file: AccessFile) -> Sequence[Share]:
    """Returns what each key and tenant has used today: on all nodes, where the settings name NATS servers.

    Raises:
        BusyError: They do not answer.
    """
    async with _shared_state(settings) as state:
        ledger = SharedLedger(state) if state is not None else None
        quotas = Quotas(file, ledger=ledger)
        found: dict[tuple[str, str], Share] = {}
        for key in Keys(file).listed():
            caller = Principal(tenant=key.tenant, scopes=frozenset(), key_id=key.key_id)
            for share in (await quotas.report(caller)).shares:
                found[share.holder, share.name] = share
    return list(found.values())


async def share_keys(settings: Settings, *, at_start: bool = False) -> None:
    """Makes the keys of the data folder the same as other nodes', where the settings name NATS servers.

    Args:
        at_start: The servers may have been started just now, and are waited for.

    Raises:
        RemoteError: They do not answer.
        ConfigurationError: They cannot be reached, or the file cannot be used.
    """
    file = AccessFile(settings.data_dir, COMMAND_WAIT_MS)
    try:
        async with _shared_state(settings) as state:
            if state is None:
                return
            shared = shared_access(file, state)
            if at_start:
                await shared.sync_at_start()
            else:
                await shared.sync()
    finally:
        file.close()


@asynccontextmanager
async def _shared_state(
    settings: Settings,
) -> AsyncIterator[cluster.SharedState | None]:
    if settings.nats_url is None:
        yield None
        return
    connection = cluster.LateConnection(
        settings.nats_url,
        name="antiphon keys",
        prefix=settings.nats_prefix,
        replicas=settings.nats_replicas,
    )
    try:
        # Where there is no server that is said at once, and not tried again.
        await connection.get()
        yield cluster.SharedState(connection)
    finally:
        await connection.close()


def shared_access(file: AccessFile, state: cluster.SharedState) -> SharedAccess:
    """Returns the keys and limits of a file, to be kept the same as those of all nodes."""
    return SharedAccess(file, state.value("access.", "keys", Access))


def without_key(settings: Settings) -> Principal:
    """Returns who everybody is where no key was made: the owner, unless the settings say what anybody may do."""
    scopes = scopes_of(split_names(settings.anybody_may))
    if not scopes:
        return OWNER
    return Principal(tenant=LOCAL_TENANT, scopes=scopes, sees_all=True)


def has_keys(settings: Settings) -> bool:
    """Returns True if a key was ever made for the data folder: then callers are asked for one.

    Raises:
        ConfigurationError: One was, and the keys are lost or cannot be read.
    """
    file = AccessFile(settings.data_dir)
    try:
        keys = Keys(file)
        if keys.are_lost:
            raise ConfigurationError(
                f"Callers of this service need a key, as {MODE_FILE} in {settings.data_dir} says, but the file of keys "
                f"beside it, {FILE_NAME}, is missing or holds none. So nothing is served: without keys everybody would "
                "be the owner. Bring the file back from a backup, or make new keys with `antiphon keys add NAME "
                "--tenant TENANT`. To do without keys from now on, run `antiphon keys reset`."
            )
        return keys.are_asked_for
    finally:
        file.close()


def check_listening(settings: Settings) -> None:
    """Refuses to serve others than this machine without keys, unless the settings say in so many words who may come.

    Raises:
        ConfigurationError: Nobody has said who may use the service, or by which names it goes; or the keys are lost.
    """
    keyed = has_keys(settings)
    if is_loopback(settings.host):
        return
    if not settings.anybody_may and not keyed:
        raise ConfigurationError(
            f"Whoever reaches {settings.host} could read every conversation and spend your money, so nothing is served "
            "there without keys: make one with `antiphon keys add NAME --tenant TENANT`, or say with "
            "ANTIPHON_ANYBODY_MAY what anybody may do, such as ANTIPHON_ANYBODY_MAY=ask."
        )
    if "allowed_hosts" not in settings.model_fields_set:
        raise ConfigurationError(
            f"On {settings.host} the service must know its names, so that no other site's page can pass for it: set "
            "ANTIPHON_ALLOWED_HOSTS to those that callers use, with commas between, such as answers.example,127.0.0.1."
        )


def is_loopback(host: str) -> bool:
    """Returns True if `host` is this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"
