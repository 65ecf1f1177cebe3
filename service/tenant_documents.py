"""The documents that callers add and remove: everybody's, or those that only their tenant sees."""

from __future__ import annotations

import asyncio
from functools import partial

from antiphon.composition import ServiceResources, Settings
from antiphon.composition.tenant_libraries import tenant_folder
from antiphon.service.documents import Documents
from antiphon.service.tenant_resources import is_apart
from antiphon.vocabulary.access import Principal


class TenantDocuments:
    """The jobs of each tenant. One job is done at a time, whoever's it is."""

    def __init__(self, settings: Settings, service: ServiceResources) -> None:
        self._settings = settings
        self._service = service
        self._turn = asyncio.Lock()
        self._shared = Documents(settings, service.library.refresh, self._turn)
        self._own: dict[str, Documents] = {}

    def of(self, principal: Principal) -> Documents:
        """Returns those that a caller may change."""
        if not is_apart(principal):
            return self._shared
        return self._of_tenant(principal.tenant)

    async def resume(self) -> None:
        """Goes on with the jobs that a process which died had accepted, everybody's and each tenant's."""
        await self._shared.resume()
        for folder in sorted(tenant_folder(self._settings.data_dir, "").glob("*/")):
            await self._of_tenant(folder.name).resume()

    def _of_tenant(self, tenant: str) -> Documents:
        if tenant not in self._own:
            apart = {"data_dir": tenant_folder(self._settings.data_dir, tenant)}
            self._own[tenant] = Documents(
                self._settings.model_copy(update=apart),
                partial(self._refresh, tenant),
                self._turn,
            )
        return self._own[tenant]

    def _refresh(self, tenant: str) -> None:
        if self._service.tenants is not None:
            self._service.tenants.refresh(tenant)

    async def close(self) -> None:
        """Ends what runs."""
        for documents in (self._shared, *self._own.values()):
            await documents.close()
