"""The parts that a process has once for all callers: resources, bus, admission and background tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from antiphon.bus import Bus
from antiphon.composition import (
    Callers,
    DocumentFolder,
    Elsewhere,
    ServiceResources,
    Settings,
    Totals,
)
from antiphon.composition.running import TraceElsewhere
from antiphon.service.admission import Admission, watch_loop
from antiphon.service.documents import Documents
from antiphon.service.metrics_of_state import service_state
from antiphon.service.probing import Probe
from antiphon.service.readiness import Readiness, readiness_of
from antiphon.service.upkeep import (
    Loading,
    check_model_key,
    keep_traces,
    refresh_library,
)


class Runtime:
    """The parts that all callers share. Make one a process, and `close` it.

    Attributes:
        totals: The sums of every query's outcome.
        elsewhere: The processes that work on the queries; None: this one does.
    """

    def __init__(
        self,
        settings: Settings,
        resources: ServiceResources,
        callers: Callers,
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.settings = settings
        self.resources = resources
        self.callers = callers
        self.elsewhere = elsewhere
        self.totals = Totals()
        self.admission = Admission(
            settings.concurrent_queries, settings.most_wait_s, lambda: bus.under_way
        )
        # The lambda above does not use `self.bus`, or a session that somebody holds would keep the whole service alive.
        self.bus = bus = Bus(
            resources.store,
            resources.shared.clock,
            resources.shared.catalog,
            self.admission.ended,
        )
        self.loading = Loading(resources.later)
        # If other processes search, this one probes only storing.
        searched = resources.library if self.elsewhere is None else None
        self.probe = Probe(resources.store, searched)
        self._documents: dict[Path, Documents] = {}
        self._indexing = asyncio.Lock()
        self.metrics = resources.telemetry.metrics
        if self.metrics is not None:
            self.metrics.watch(partial(service_state, self))
        self._upkeep: list[asyncio.Task[None]] = []
        self._begin_upkeep()

    def documents_in(self, folder: DocumentFolder) -> Documents:
        """Returns the jobs of a folder's documents; one job at a time runs, over all folders."""
        if folder.path not in self._documents:
            settings = self.settings.model_copy(update={"data_dir": folder.path})
            self._documents[folder.path] = Documents(
                settings, folder.refresh, self._indexing
            )
        return self._documents[folder.path]

    async def resume_documents(self) -> None:
        """Resumes the jobs that a dead process had accepted."""
        for folder in self.callers.folders():
            await self.documents_in(folder).resume()

    def admit(self) -> None:
        """Refuses (BusyError) if no further query may begin: too many run, or a part that they need is loading."""
        self.admission.check()
        self.loading.check()

    def keep(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Runs background work until the service ends."""
        self._upkeep.append(asyncio.create_task(work, name=name))

    def check_model_key(self) -> None:
        """Starts checking the key for the model's server, if there is one."""
        key = self.resources.model_key
        if key is not None:
            checking = check_model_key(key, self.resources.shared.clock)
            self.keep(checking, "check the model's key")

    def _begin_upkeep(self) -> None:
        library, store = self.resources.library, self.resources.store
        self.keep(refresh_library(library), "watch the index")
        self.keep(watch_loop(self.admission), "watch the loop")
        watchdog = self.resources.telemetry.loop_watchdog()
        self.keep(watchdog.run(), "watch for blocking code")
        if self.resources.tool_servers is not None:
            self.keep(self.resources.tool_servers.keep(), "keep the MCP servers")
        if self.elsewhere is not None:
            for name, work in self.elsewhere.upkeep():
                self.keep(work, name)
        if self.settings.keep_days is not None or self.settings.keep_mb is not None:
            keeping = keep_traces(store, self.settings, self.resources.shared.clock)
            self.keep(keeping, "keep the traces")

    @property
    def queries_running(self) -> int:
        """The number of open queries: those that run here, and those that this process has handed to others."""
        return len(self.bus.sessions) + len(self.under_way_elsewhere)

    @property
    def under_way_elsewhere(self) -> Mapping[str, TraceElsewhere]:
        """The traces of open queries that were asked here and that other processes work on."""
        if self.elsewhere is None:
            return {}
        return self.elsewhere.under_way

    def readiness(
        self, resources: ServiceResources | None = None, *, in_full: bool = True
    ) -> Readiness:
        """Reports the readiness to answer questions now, and what is missing if there is none.

        Args:
            resources: Those of a caller; None: those of the process.
            in_full: Whether to quote the model's server if it refuses the key.
        """
        return readiness_of(
            resources or self.resources,
            self.loading,
            self.probe,
            self.elsewhere,
            closing=self.admission.closing,
            in_full=in_full,
        )

    async def leave(self) -> None:
        """Ends every query, but keeps the resources open, because another service may use them."""
        # First, so that no query begins while others end.
        self.admission.close()
        if self.elsewhere is not None:
            await self.elsewhere.leave()
        for documents in list(self._documents.values()):
            await documents.close()
        await self.probe.close()
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        await self.bus.close()
        await self.callers.metering.close()
        self.callers.close()

    async def close(self) -> None:
        """Ends every query and releases all resources."""
        await self.leave()
        await self.resources.close()
        if self.elsewhere is not None:
            await self.elsewhere.close()
