"""This process as a member of those that share traces and queries over NATS."""

from __future__ import annotations

import socket
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from antiphon import cluster as on_nats
from antiphon import telemetry
from antiphon.access import AccessFile, KeyCallers
from antiphon.bus import Session
from antiphon.cluster import ClaimCounts, QueryQueue, QueuedQuery
from antiphon.composition import EndQuery, Settings, Totals
from antiphon.history.history import History
from antiphon.traces import Redaction
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.ports import Clock, TraceStore, WholeTraceStore
from antiphon.workers.opening import (
    connected,
    late_connection,
    limits_over,
    open_shared_store,
    queue_of,
)
from antiphon.workers.queue_admission import QueueAdmission
from antiphon.workers.queue_metrics import watch_queue
from antiphon.workers.remote_queries import BegunHere, RemoteQueries, followed
from antiphon.workers.shared_access import SharedAccess, shared_access
from antiphon.workers.shared_ledger import SharedLedger
from antiphon.workers.shared_trace import SharedTrace
from antiphon.workers.sweeping import Sweeper
from antiphon.workers.worker import Worker


class Membership:
    """The shared parts of the process, and the queries that it was asked. Satisfies `composition.Elsewhere`.

    Attributes:
        limits_of: Returns the limits of all processes.
        ledger: The record of what callers have used.
    """

    def __init__(
        self, cluster: on_nats.Cluster, queue: QueryQueue, settings: Settings
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        limits = late_connection(settings, "limits")
        self.limits_of = partial(limits_over, limits)
        self._state = on_nats.SharedState(limits)
        self.ledger = SharedLedger(self._state)
        self._keys: SharedAccess | None = None
        self._queue = queue
        self._signals = on_nats.NatsSignals(cluster)
        self._counts: ClaimCounts | None = None
        self._admission = QueueAdmission(queue, settings.queue_wait_s)
        self._begun = BegunHere()

    @classmethod
    async def open(cls, settings: Settings) -> Membership:
        """Connects to the servers that the settings name.

        Raises:
            ConfigurationError: They cannot be reached, or are too old.
            BusyError: They cannot be reached any more.
        """
        cluster = await connected(settings, f"antiphon on {socket.gethostname()}")
        try:
            return cls(cluster, await queue_of(cluster, settings), settings)
        except BaseException:
            await cluster.close()
            raise

    def open_store(
        self, settings: Settings, redaction: Redaction, catalog: Catalog
    ) -> on_nats.JetStreamTraceStore:
        """Opens the trace store of all processes."""
        return open_shared_store(self._cluster, settings, redaction, catalog)

    async def begin(self, keys: AccessFile, metrics: telemetry.Metrics | None) -> None:
        """Begins to listen to workers' reports and to share keys, before the process admits its first caller.

        Args:
            metrics: Counts what the process does with the queue; None: the service keeps no metrics.

        Raises:
            RemoteError: The servers do not answer.
            ConfigurationError: The file of keys cannot be used.
        """
        if metrics is not None:
            self._counts = watch_queue(metrics, self._queue)
        await self._signals.hear_reports(self._admission.hear)
        self._keys = shared_access(keys, self._state)
        await self._keys.sync_at_start()

    @property
    def trouble(self) -> str | None:
        """The reason why nothing can be stored or queued now, in a sentence; None: it can."""
        return self._queue.trouble

    @property
    def under_way(self) -> Mapping[str, SharedTrace]:
        """The traces of the queries that this process was asked and that are not over."""
        return self._begun.traces

    def runner(
        self,
        caller: Principal,
        store: TraceStore,
        clock: Clock,
        totals: Totals,
        end: EndQuery,
    ) -> RemoteQueries:
        """Returns a runner that has workers work on a caller's queries.

        Raises:
            ConfigurationError: The traces of `store` cannot be followed.
        """
        return RemoteQueries(
            caller,
            self._settings,
            self._queue,
            self._signals,
            self._admission,
            followed(store),
            end,
            clock,
            totals,
            self._begun,
        )

    def worker(
        self,
        name: str,
        store: WholeTraceStore,
        callers: KeyCallers,
        history_of: Callable[[Principal], History],
        sessions: Mapping[str, Session],
    ) -> tuple[Worker, Sweeper]:
        """Returns the worker for queries of the queue, and the sweeper for those that no worker would reach.

        The other arguments are those of `Worker`.

        Args:
            history_of: Returns the recorded queries as a caller sees them.
        """

        def history_for(query: QueuedQuery) -> History:
            return history_of(callers.asker(query.key_id, query.tenant))

        worker = Worker(
            name,
            self._queue,
            self._signals,
            self._counts,
            followed(store),
            history_for,
            sessions,
            places=self._settings.worker_queries,
            most_claims=self._settings.most_claims,
            drain_s=self._settings.drain_s,
            can_answer=lambda: callers.have_documents,
        )
        sweeper = Sweeper(
            self._queue,
            self._counts,
            history_for,
            store,
            store.label_of,
            self._settings.claim_s,
        )
        return worker, sweeper

    async def look(self, is_wanted: Callable[[str], bool]) -> None:
        """Reads the new events in the traces of the wanted queries."""
        await self._begun.look(is_wanted)

    def upkeep(self) -> Sequence[tuple[str, Coroutine[Any, Any, None]]]:
        """Returns the background work, with a name for each part."""
        upkeep = [("watch the queue", self._queue.watch())]
        if self._keys is not None:
            upkeep.append(("share the keys", self._keys.keep_same()))
        return upkeep

    async def leave(self) -> None:
        """Stops following the queries, which workers go on with."""
        await self._begun.close()

    async def close(self) -> None:
        """Closes the connection."""
        await self._cluster.close()
