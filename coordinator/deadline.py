"""Tells a query that its time runs out; the only part of the coordinator that meets the clock."""

from __future__ import annotations

from collections.abc import Callable

from coordinator import ledger
from vocabulary.events import DeadlineNeared, DeadlinePassed, QueryClosed, QueryReceived, Recorded
from vocabulary.ports import Clock, Publish, Spawn
from vocabulary.values import QuerySettings


class DeadlineTimer:
    """Says `DeadlineNeared` and `DeadlinePassed` at the times that the ledger names."""

    def __init__(self, publish: Publish, spawn: Spawn, clock: Clock) -> None:
        self._publish = publish
        self._spawn = spawn
        self._clock = clock
        self._stop: Callable[[], object] | None = None

    def on_query_received(self, said: Recorded[QueryReceived]) -> None:
        self._stop = self._spawn(self._watch(said.at, said.event.settings), background=True)

    def on_query_closed(self, _: Recorded[QueryClosed]) -> None:
        if self._stop is not None:
            self._stop()

    async def _watch(self, received_at: float, settings: QuerySettings) -> None:
        await self._sleep_until(received_at + ledger.neared_after_s(settings))
        self._publish(DeadlineNeared(left_s=ledger.reserve_s(settings) + ledger.margin_s(settings)))
        await self._sleep_until(received_at + ledger.passed_after_s(settings))
        self._publish(DeadlinePassed(left_s=ledger.margin_s(settings)))

    async def _sleep_until(self, at: float) -> None:
        await self._clock.sleep(max(0.0, at - self._clock.now()))
