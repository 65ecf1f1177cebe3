"""Who the callers of a service are: those with a key, and those without, by its settings."""

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
        ledger: Where it is written down what callers have used; None: in the file.

    Attributes:
        without_key: Who everybody is as long as no key was made.
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
        """Opens the documents of tenants; blocks, and so is done before the service begins."""
        self._tenants.open()

    @property
    def have_documents(self) -> bool:
        """True if there is something to search, for everybody or for a tenant."""
        libraries = self._tenants.libraries
        if libraries is not None and libraries.are_there:
            return True
        return self._resources.library.describe().chunks > 0

    def principal_of(self, key: str | None, *, from_here: bool = True) -> Principal:
        """Returns who a caller is by the key that they sent; None: they sent none.

        Args:
            from_here: The request was sent to this machine by its own name, and no proxy says that it passed it on.

        Raises:
            UnauthorizedError: A key is required, and this is none that counts; or none was made, and one was sent.
        """
        if self.keys.are_asked_for:
            return self.keys.principal(key)
        if key is not None:
            raise UnauthorizedError(_NONE_MADE)
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

    def view_of(self, caller: Principal) -> View:
        """Returns what a caller sees."""
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
        """Yields everybody's, and that of each tenant who has one."""
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
        """Counts what queries use that were let in by a process which may be gone, until it is cancelled."""

        def find(query: UnderWay) -> tuple[Principal, Query]:
            caller = self.asker(query.key_id, query.tenant)
            return caller, query_of(caller, query.query_id)

        await count_earlier(self.quotas, self.metering, find)

    async def opener_of(self, query_id: str) -> Principal:
        """Returns who goes on with a query that a process left behind: whoever began it, with the rights of today."""
        tenant = await self._resources.store.label_of(query_id)
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
        self.file.close()


def _stored_as(tenant: str, query_id: str) -> str:
    """Returns an id made anew from a tenant's: that another one has a trace of that id must not show."""
    return hashlib.sha256(f"{tenant}\0{query_id}".encode()).hexdigest()[:32]
