"""Forks and resumes queries for callers over the network, within their permissions and spending limits."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Container, Sequence
from typing import Any

from antiphon.composition import (
    Allowance,
    Interceptor,
    Metering,
    Need,
    Query,
    Resources,
    Settings,
    need_of,
    within,
)
from antiphon.composition.spending import ended_charges_in, total_of
from antiphon.history import Change, ForkPlan, Mode
from antiphon.history.history import History
from antiphon.history.planning import settings_in
from antiphon.service.network_forks import IMPORTED, limited_changes
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import ForbiddenError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.values import Value


class _Fork(Value, frozen=True, kw_only=True):
    """A fork within the limits."""

    events: Sequence[Recorded[Event]]
    at: int | None
    changes: tuple[Change, ...]


class Continuing:
    """The forks and resumed queries of one caller, over the traces that the caller sees.

    Args:
        running: The ids of the queries that run in this process.
        admit: Refuses (BusyError) if no further query may begin.
    """

    def __init__(
        self,
        principal: Principal,
        settings: Callable[[], Settings],
        resources: Resources,
        store: TraceStore,
        history: History,
        metering: Metering,
        running: Container[str],
        admit: Callable[[], None],
    ) -> None:
        self._principal = principal
        self._settings = settings
        self._resources = resources
        self._store = store
        self._history = history
        self._metering = metering
        self._running = running
        self._admit = admit

    async def fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None,
    ) -> Query:
        """Forks a query as `History.fork` does, within the limits of network_forks.py.

        Raises:
            ForbiddenError: A change is not allowed over the network.
            QuotaError: The caller's share is used up.
        """
        fork = await self._limited(query_id, at, changes, interceptor)
        need, spent = Need(), Allowance(0, 0.0)
        # A fork by the recording alone spends nothing.
        if self._metering.counts(self._principal) and mode != "recorded":
            need, spent = await self._need_of(fork, mode, interceptor)
        fork_id = uuid.uuid4().hex
        async with self._metering.let_in(self._principal, fork_id, need) as allowance:
            fork = _within(fork, allowance, spent, interceptor)
            handle = await self._history.fork(
                query_id,
                fork.at,
                fork.changes,
                mode,
                interceptor,
                effects=self._settings().fork_effects,
                fork_id=fork_id,
            )
            self._metering.watch(self._principal, handle)
        return handle

    async def plan_fork(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        mode: Mode,
        interceptor: Interceptor | None,
    ) -> ForkPlan:
        """Reports the calls and the maximum cost of such a fork. Takes what `fork` takes, and raises as it does."""
        fork = await self._limited(query_id, at, changes, interceptor)
        return await self._history.plan_fork(
            query_id, fork.at, fork.changes, mode, interceptor
        )

    async def resume(self, query_id: str) -> Query:
        """Resumes an interrupted query as `History.resume` does, within the caller's share.

        Raises:
            ForbiddenError: It was imported, and the settings do not allow that.
            QuotaError: The caller's share is used up.
        """
        await self._check_own(query_id)
        self._admit()
        if not await self._metering.counted_all(self._principal, query_id):
            # Its share is still reserved, or a process works on it: nothing may take that share away.
            handle = await self._history.resume(query_id)
            self._metering.watch_resumed(self._principal, handle)
            return handle
        need = Need()
        if self._metering.counts(self._principal):
            settings = settings_in(await self._store.read(query_id))
            need = need_of(settings, self._resources)
        async with self._metering.let_in(self._principal, query_id, need):
            handle = await self._history.resume(query_id)
            self._metering.watch(self._principal, handle)
        return handle

    async def _limited(
        self,
        query_id: str,
        at: int | None,
        changes: Sequence[Change],
        interceptor: Interceptor | None,
    ) -> _Fork:
        """Returns a fork's event and changes within the limits."""
        await self._check_own(query_id)
        events = await self._store.read(query_id)
        limited = limited_changes(events, at, changes, self._settings())
        # A fork with nothing but faults begins before the event that it names, also with added limits.
        if limited and not changes and interceptor is not None:
            at = (at or 1) - 1
        elif at is None and not changes:
            limited = []
        return _Fork(events=events, at=at, changes=tuple(limited))

    async def _need_of(
        self, fork: _Fork, mode: Mode, interceptor: Interceptor | None
    ) -> tuple[Need, Allowance]:
        """Returns the most that a fork may need, and the part of its trace's spending that is its parent's."""
        plan = await self._history.plan_fork(
            fork.events[0].query_id, fork.at, fork.changes, mode, interceptor
        )
        need = need_of(settings_in(fork.events), self._resources, plan.calls)
        spent = total_of(ended_charges_in(fork.events[: plan.shared]))
        return need, Allowance(*spent)

    async def _check_own(self, query_id: str) -> None:
        if self._settings().fork_messages or query_id in self._running:
            return
        if await self._store.is_imported(query_id):
            raise ForbiddenError(IMPORTED)


def _within(
    fork: _Fork,
    allowance: Allowance,
    spent: Allowance,
    interceptor: Interceptor | None,
) -> _Fork:
    """Returns the fork with its trace's limits lowered to the sum of its own allowance and its parent's spending."""
    own = settings_in(fork.events)
    total = Allowance(
        _sum(allowance.tokens, spent.tokens), _sum(allowance.cost_usd, spent.cost_usd)
    )
    bound = within(own, total)
    changes = list(fork.changes)
    for name in ("max_total_tokens", "max_cost_usd"):
        most, was = getattr(bound, name), getattr(own, name)
        if most != was and (was is None or most < was):
            changes.append(Change(kind="setting", name=name, value=f"{most}"))
    at = fork.at
    # As in `_limited`: the named event must happen under the faults.
    if changes and not fork.changes and interceptor is not None:
        at = (at or 1) - 1
    return _Fork(events=fork.events, at=at, changes=tuple(changes))


def _sum(allowed: float | None, spent: float | None) -> Any:
    if allowed is None:
        return None
    return allowed + (spent or 0)
