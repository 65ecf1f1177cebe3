"""Tells a query that its time runs out; the only part of the coordinator that meets the clock."""

from __future__ import annotations

from collections.abc import Callable

from antiphon.coordinator import ledger
from antiphon.vocabulary.events import (
    DeadlineNeared,
    DeadlinePassed,
    Event,
    QueryClosed,
    QueryReceived,
    QueryResumed,
    Recorded,
)
from antiphon.vocabulary.ports import Clock, Publish, Spawn
from antiphon.vocabulary.values import QuerySettings


class DeadlineTimer:
    """Says `DeadlineNeared` and `DeadlinePassed` at the times that the ledger names."""

    def __init__(self, publish: Publish, spawn: Spawn, clock: Clock) -> None:
        self._publish = publish
        self._spawn = spawn
        self._clock = clock
        self._settings = QuerySettings()
        self._received_at = 0.0
        self._told: set[type[Event]] = set()
        self._stop: Callable[[], object] | None = None

    def recall(self, said: Recorded[Event]) -> None:
        """Takes in an event from before the query was interrupted: what was told is not told again."""
        event = said.event
        if isinstance(event, QueryReceived):
            self._settings, self._received_at = event.settings, said.at
        elif isinstance(event, QueryResumed):
            self._received_at += event.away_s
        elif isinstance(event, DeadlineNeared | DeadlinePassed):
            self._told.add(type(event))

    def on_query_received(self, said: Recorded[QueryReceived]) -> None:
        self.recall(said)
        self._begin()

    def on_query_resumed(self, said: Recorded[QueryResumed]) -> None:
        self.recall(said)
        self._begin()

    def on_query_closed(self, _: Recorded[QueryClosed]) -> None:
        if self._stop is not None:
            self._stop()

    def _begin(self) -> None:
        self._stop = self._spawn(self._watch(), background=True)

    async def _watch(self) -> None:
        settings = self._settings
        if DeadlineNeared not in self._told:
            await self._sleep_until(self._received_at + ledger.neared_after_s(settings))
            self._publish(DeadlineNeared(left_s=ledger.reserve_s(settings) + ledger.margin_s(settings)))
        if DeadlinePassed not in self._told:
            await self._sleep_until(self._received_at + ledger.passed_after_s(settings))
            self._publish(DeadlinePassed(left_s=ledger.margin_s(settings)))

    async def _sleep_until(self, at: float) -> None:
        await self._clock.sleep(max(0.0, at - self._clock.now()))
