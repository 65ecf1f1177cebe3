"""The libraries of tenants who have documents of their own, each in a folder of the data folder."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from pathlib import Path

import structlog

from antiphon.access.layered_library import LayeredLibrary
from antiphon.composition import Indexes
from antiphon.vocabulary.errors import ServiceError
from antiphon.vocabulary.private_files import make_private_folder

log = structlog.get_logger(__name__)

FOLDER = "tenants"
"""The folder in the data folder that holds each tenant's own documents and index."""


@dataclass(frozen=True)
class TenantLibrary:
    """One tenant's documents, over the shared ones.

    Attributes:
        data_dir: The folder of their own index and documents.
    """

    library: LayeredLibrary
    data_dir: Path


def tenant_folder(data_dir: Path, tenant: str) -> Path:
    """Returns the folder of a tenant's own documents and index."""
    return data_dir / FOLDER / tenant


class TenantLibraries:
    """The tenants' libraries that are open."""

    def __init__(self, indexes: Indexes) -> None:
        self._folder = indexes.data_dir / FOLDER
        self._indexes = indexes
        self._open: dict[str, TenantLibrary] = {}
        self._lock = threading.Lock()

    def open_all(self) -> None:
        """Opens the libraries on disk; blocks, so call it before the service begins."""
        if self._folder.is_dir():
            for folder in sorted(self._folder.iterdir()):
                # One tenant's damaged index must not keep everybody else from their answers.
                try:
                    self.refresh(folder.name)
                except ServiceError as error:
                    log.warning(
                        "tenant_without_index", tenant=folder.name, error=str(error)
                    )

    @property
    def are_there(self) -> bool:
        """True if a tenant has documents of their own."""
        return bool(self._open)

    def of(self, tenant: str) -> TenantLibrary | None:
        """Returns a tenant's library; None for one without documents of their own."""
        return self._open.get(tenant)

    def refresh(self, tenant: str) -> bool:
        """Opens a tenant's library, or changes to its new index; blocks. Raises as `Library.open` does."""
        with self._lock:
            found = self._open.get(tenant)
            if found is not None:
                return found.library.refresh()
            folder = self._folder / tenant
            make_private_folder(self._folder)
            make_private_folder(folder)
            library = LayeredLibrary(self._indexes.open(folder), self._indexes.shared)
            self._open[tenant] = TenantLibrary(library, folder)
            return True
