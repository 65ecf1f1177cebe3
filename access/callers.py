"""Identifies the callers of a service: by their keys, or by its settings if they need none."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from antiphon.access.access_file import AccessFile
from antiphon.access.keys import Keys
from antiphon.access.ledgers import Ledger, UnderWay
from antiphon.access.listening import without_key
from antiphon.access.metering import KeyMetering, count_earlier
from antiphon.access.quotas import Quotas
from antiphon.access.streams import TenantStreams
from antiphon.access.tenant_libraries import tenant_folder
from antiphon.access.tenant_resources import TenantResources, is_apart
from antiphon.access.usage import UsageReport
from antiphon.composition import DocumentFolder, Query, ServiceResources, Settings, View
from antiphon.vocabulary.access import (
    LOCAL_TENANT,
    NOBODY,
    OWNER,
    Principal,
    scopes_of,
)
from antiphon.vocabulary.errors import NotFoundError, UnauthorizedError
from antiphon.vocabulary.ports import TraceStore

_FROM_ELSEWHERE = (
    "This request came through a proxy, or by a name that is not this machine's own. Such callers need a key, and "
    "there is none yet: the owner of the service makes one with `antiphon keys add NAME --tenant TENANT`, or says with "
    "ANTIPHON_ANYBODY_MAY what anybody may do."
)
_NONE_MADE = (
    "This request came with a key, and this service has made none: it is that of another service, or of another data "
    "folder. Send none, or have the owner make one with `antiphon keys add NAME --tenant TENANT`."
)


class KeyCallers:
    """The callers of a service, whose keys are in its data folder. Satisfies `composition.Callers`.

    Args:
        ledger: Holds what callers have used; None: the file does.

    Attributes:
        without_key: The principal of every caller as long as no key was made.
        file: Holds the keys.
    """

    def __init__(
        self,
        settings: Settings,
        resources: ServiceResources,
        ledger: Ledger | None = None,
    ) -> None:
        self._settings = settings
        self._resources = resources
        self._everybodys = DocumentFolder(settings.data_dir, resources.library.refresh)
        self._tenants = TenantResources(resources)
        self.file = AccessFile(settings.data_dir)
        self.keys = Keys(self.file)
        self.quotas = Quotas(self.file, ledger=ledger)
        self.streams = TenantStreams(settings.most_streams)
        self.metering = KeyMetering(self.quotas, resources.store)
        self.without_key = without_key(settings)

    def open(self) -> None:
        """Opens the documents of tenants; blocks, so call it before the service begins."""
        self._tenants.open()

    @property
    def have_documents(self) -> bool:
        """True if there is something to search, shared or a tenant's own."""
        libraries = self._tenants.libraries
        if libraries is not None and libraries.are_there:
            return True
        return self._resources.library.describe().chunks > 0

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        """Returns the caller to whom a key belongs; None: the request came without one.

        Args:
            from_here: The request names this machine by its own name, and no proxy says that it passed it on.

        Raises:
            UnauthorizedError: A key is needed, and this one is missing or not valid; or the caller sent a key to a
                service without keys, or came from elsewhere to one whose settings admit only its owner.
        """
        if self.keys.are_asked_for:
            return self.keys.principal(key)
        # A key of another service: letting its holder in as somebody else would hide the mistake.
        if key is not None:
            raise UnauthorizedError(_NONE_MADE)
        if not self._lets_in(from_here):
            raise UnauthorizedError(_FROM_ELSEWHERE)
        return self.without_key

    def public_principal(self, *, from_here: bool = True) -> Principal:
        """Returns the caller for endpoints that ask for no key."""
        if self.keys.are_asked_for or not self._lets_in(from_here):
            return NOBODY
        return self.without_key

    def _lets_in(self, from_here: bool) -> bool:
        """Returns True if a caller without a key is let in; one from elsewhere never becomes the owner."""
        return from_here or self.without_key is not OWNER

    def view_of(self, caller: Principal) -> View:
        """Returns the traces, documents and resources that a caller sees."""
        store: TraceStore = self._resources.store
        stored_as: Callable[[str], str] = str
        if not caller.sees_all:
            store = self._resources.store.seen_by(caller.tenant)
            stored_as = partial(_stored_as, caller.tenant)
        documents = self._everybodys
        if is_apart(caller):
            documents = self._folder_of_tenant(caller.tenant)
        return View(
            resources=self._tenants.of(caller),
            store=store,
            documents=documents,
            folder_of=partial(self._folder_of, caller),
            stored_as=stored_as,
        )

    def folders(self) -> Iterator[DocumentFolder]:
        """Yields the shared folder, then that of each tenant who has one."""
        yield self._everybodys
        for folder in sorted(tenant_folder(self._settings.data_dir, "").glob("*/")):
            yield self._folder_of_tenant(folder.name)

    def _folder_of_tenant(self, tenant: str) -> DocumentFolder:
        folder = tenant_folder(self._settings.data_dir, tenant)
        return DocumentFolder(folder, partial(self._refresh, tenant))

    def _refresh(self, tenant: str) -> None:
        if self._tenants.libraries is not None:
            self._tenants.libraries.refresh(tenant)

    def _folder_of(self, caller: Principal, course: str) -> Path:
        """Returns the folder of a course's documents."""
        own = self._tenants.library_of(caller)
        if own is not None and own.library.holds_itself(course):
            return own.data_dir
        return self._settings.data_dir

    async def usage(self, caller: Principal) -> UsageReport:
        """Returns what the caller's key and tenant have used today."""
        return await self.quotas.report(caller)

    async def count_others(self, query_of: Callable[[Principal, str], Query]) -> None:
        """Counts the use of queries whose process may be gone, until it is cancelled."""

        def find(query: UnderWay) -> tuple[Principal, Query]:
            caller = self.asker(query.key_id, query.tenant)
            return caller, query_of(caller, query.query_id)

        await count_earlier(self.quotas, self.metering, find)

    async def opener_of(self, query_id: str) -> Principal:
        """Returns the caller for whom to resume an interrupted query: the one who began it, with today's rights."""
        tenant = await self._resources.store.label_of(query_id)
        # Only names the tenant whose ledger to look in; without scopes it may do nothing.
        anybody = Principal(tenant=tenant or LOCAL_TENANT, scopes=frozenset())
        key_id = await self.quotas.key_under_way(anybody, query_id)
        return self.asker(key_id or "", tenant)

    def asker(self, key_id: str, tenant: str | None) -> Principal:
        """Returns a key's caller, with the rights of today; if the key is not known here, a caller of the tenant."""
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
        self.file.close()


def _stored_as(tenant: str, query_id: str) -> str:
    """Derives an id from the tenant's own: no tenant may learn that another has a trace with the same id."""
    return hashlib.sha256(f"{tenant}\0{query_id}".encode()).hexdigest()[:32]
