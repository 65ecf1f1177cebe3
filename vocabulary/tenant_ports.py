"""The store of traces as a service with several tenants sees it."""

from __future__ import annotations

from typing import Protocol

from antiphon.vocabulary.ports import TraceStore


class TenantTraceStore(TraceStore, Protocol):
    """A store that holds the traces of several tenants, and sees them all."""

    def seen_by(self, tenant: str) -> TraceStore:
        """Returns the store as a tenant sees it: what is written by it is theirs, and nothing else is there."""

    async def tenant_of(self, query_id: str) -> str | None:
        """Returns whose trace it is; None where it is not there."""
