"""What a process has once, however many callers it answers: its resources, its bus, its doors, its tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial
from typing import Any

from antiphon import cluster as on_nats
from antiphon.access import Callers, Metering
from antiphon.bus import Bus
from antiphon.composition import (
    ServiceResources,
    Settings,
    Totals,
    build,
    open_cluster,
    with_sharing,
)
from antiphon.service.admission import Admission, watch_loop
from antiphon.service.probing import Probe
from antiphon.service.readiness import Readiness, readiness_of
from antiphon.service.state import service_state
from antiphon.service.tenant_documents import TenantDocuments
from antiphon.service.tenant_resources import TenantResources
from antiphon.service.upkeep import (
    Loading,
    check_model_key,
    keep_traces,
    refresh_library,
)
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.workers import BegunHere, QueueAdmission


class Runtime:
    """The parts that all callers share. Make one a process with `open`, and `close` it.

    Attributes:
        totals: The sums of every query's outcome.
        begun: The queries that workers in other processes were given here; empty where there are none.
        queue_admission: The door to those workers; None where this process works on queries itself.
    """

    def __init__(self, settings: Settings, resources: ServiceResources) -> None:
        self.settings = settings
        self.resources = resources
        self.totals = Totals()
        self.admission = Admission(
            settings.concurrent_queries, settings.most_wait_s, lambda: bus.under_way
        )
        # Not `self.bus` above: a session that somebody holds would hold the service.
        self.bus = bus = Bus(
            resources.store,
            resources.shared.clock,
            resources.shared.catalog,
            self.admission.ended,
        )
        self.callers = Callers(settings, _state_of(resources))
        self.metering = Metering(self.callers.quotas, resources.store)
        self.loading = Loading(resources.later)
        # Where workers search, this process answers for storing alone.
        searched = resources.library if resources.sharing is None else None
        self.probe = Probe(resources.store, searched)
        self.tenants = TenantResources(resources)
        self.documents = TenantDocuments(settings, resources)
        self.begun = BegunHere()
        self.queue_admission: QueueAdmission | None = None
        if resources.sharing is not None:
            self.queue_admission = QueueAdmission(
                resources.sharing.queue, settings.queue_wait_s
            )
        self.metrics = resources.telemetry.metrics
        if self.metrics is not None:
            self.metrics.watch(partial(service_state, self))
        self._upkeep: list[asyncio.Task[None]] = []
        self._begin_upkeep()

    @classmethod
    async def open(
        cls, settings: Settings, subscribers: Sequence[Subscriber], *, loads_later: bool
    ) -> Runtime:
        """Opens everything that the settings name. Takes and raises what `Antiphon.open` does."""
        cluster = await open_cluster(settings)
        try:
            # Loading an embedder and opening an index take seconds, in which the loop may have other things to do.
            resources = await asyncio.to_thread(
                build, settings, subscribers, loads_later=loads_later, cluster=cluster
            )
            opened = cls(settings, await with_sharing(resources, cluster, settings))
            await opened._share()
        except BaseException:
            if cluster is not None:
                await cluster.close()
            raise
        return opened

    async def _share(self) -> None:
        """Begins to hear of workers, and to share keys: before anybody is let in who has none."""
        if self.resources.sharing is not None and self.queue_admission is not None:
            await self.resources.sharing.signals.hear_reports(self.queue_admission.hear)
        shared = self.callers.shared
        if shared is not None:
            await shared.sync_at_start()
            self.keep(shared.keep_same(), "share the keys")

    def admit(self) -> None:
        """Refuses (BusyError) where no further query may begin: too many run, or what they need is being loaded."""
        self.admission.check()
        self.loading.check()

    def keep(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Does what goes on beside queries, until the service ends."""
        self._upkeep.append(asyncio.create_task(work, name=name))

    def check_model_key(self) -> None:
        """Starts checking the key for the model's server, if one is asked."""
        key = self.resources.model_key
        if key is not None:
            checking = check_model_key(key, self.resources.shared.clock)
            self.keep(checking, "check the model's key")

    def _begin_upkeep(self) -> None:
        library, store = self.resources.library, self.resources.store
        self.keep(refresh_library(library), "watch the index")
        self.keep(watch_loop(self.admission), "watch the loop")
        if self.resources.sharing is not None:
            self.keep(self.resources.sharing.queue.watch(), "watch the queue")
        if self.settings.keep_days is not None or self.settings.keep_mb is not None:
            keeping = keep_traces(store, self.settings, self.resources.shared.clock)
            self.keep(keeping, "keep the traces")

    @property
    def queries_running(self) -> int:
        """The queries that are not over: those that are worked on here, and those that workers were given here."""
        return len(self.bus.sessions) + len(self.begun.traces)

    def readiness(
        self, resources: ServiceResources | None = None, *, in_full: bool = True
    ) -> Readiness:
        """Reports the readiness to answer questions now, and what is missing where there is none.

        Args:
            resources: Those of a caller; None: those of the process.
            in_full: Quote the model's server where it refuses the key.
        """
        return readiness_of(
            resources or self.resources,
            self.loading,
            self.probe,
            closing=self.admission.closing,
            in_full=in_full,
        )

    async def leave(self) -> None:
        """Ends every query; the resources stay open, for they may be another service's too."""
        # First of all, so that no query begins while others end.
        self.admission.close()
        await self.begun.close()
        await self.documents.close()
        await self.probe.close()
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        await self.bus.close()
        await self.metering.close()
        self.callers.close()

    async def close(self) -> None:
        """Ends every query and lets go of everything."""
        await self.leave()
        await self.resources.close()


def _state_of(resources: ServiceResources) -> on_nats.SharedState | None:
    if resources.sharing is None:
        return None
    return resources.sharing.state
