"""Folds the deciding components of a query over its trace: the basis of replay, resume and fork."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from antiphon.composition import Deciders, catalog_of, deciders_of
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.containment import failure_of
from antiphon.vocabulary.deciding import Decider
from antiphon.vocabulary.events import (
    REVIEWER,
    Event,
    HandlerFailed,
    Recorded,
    ToolsSettled,
)
from antiphon.vocabulary.subscribers import Subscriber


class Emission(NamedTuple):
    """An event that a decider emitted, and the `seq` of the event that it was handling."""

    cause: int
    event: Event

    def stands_for(self, recorded: Recorded[Event]) -> bool:
        """Returns True if `recorded` has the same kind and the same cause, even with other fields."""
        return self.cause == recorded.cause and type(self.event) is type(recorded.event)


class RuleFailure(NamedTuple):
    """An exception of a rule, with the handler's name in the record of the failure."""

    handler: str
    error: Exception


class Fold:
    """Computes the states of a query's deciders event by event; pure, without bus or session.

    Args:
        deciders: The deciders, in the order in which they get an event.

    Attributes:
        emitted: Their emissions that have not been taken yet, in order.
        states: The current state of each decider.
    """

    def __init__(self, deciders: Deciders) -> None:
        self._deciders = deciders
        self.emitted: deque[Emission] = deque()
        self.states: dict[type[Decider[Any]], Any] = {
            decider: decider.initial for decider in deciders
        }

    def hear(
        self, recorded: Recorded[Event], failed: frozenset[str] = frozenset()
    ) -> list[RuleFailure]:
        """Applies the rules for one event.

        Args:
            failed: Handlers (`Class.on_event`) that failed at this event when it was recorded. The reason may be gone
                by now, so their rules are skipped, as a rule that fails changes nothing.

        Returns:
            The rules that raised now but did not then.
        """
        kind = type(recorded.event)
        failures: list[RuleFailure] = []
        for decider in self._deciders:
            rule = decider.rules.get(kind)
            if rule is None:
                continue
            name = decider.handler_name(kind)
            if name in failed:
                continue
            try:
                state, events = rule(self.states[decider], recorded)
            except BaseException as error:  # noqa: BLE001 - the bus edge of a replay: the exception is the finding
                failures.append(RuleFailure(name, failure_of(error)))
                continue
            self.states[decider] = state
            for event in events:
                self.emitted.append(Emission(recorded.seq, event))
        return failures

    def take(self, recorded: Recorded[Event]) -> None:
        """Takes the recorded emission, and those before it, which the rules of that time did not emit."""
        for place, emission in enumerate(self.emitted):
            if isinstance(recorded.event, ToolsSettled):
                # A trace of older rules has it with another cause, and elsewhere among the emissions.
                if emission.event == recorded.event:
                    del self.emitted[place]
                    return
            elif emission.stands_for(recorded):
                for _ in range(place + 1):
                    self.emitted.popleft()
                return


def failures_by_event(events: Sequence[Recorded[Event]]) -> dict[int, frozenset[str]]:
    """Returns the names of the handlers that failed, by the event at which they failed."""
    found: dict[int, set[str]] = {}
    for recorded in events:
        if isinstance(recorded.event, HandlerFailed):
            found.setdefault(recorded.event.event_seq, set()).add(
                recorded.event.handler
            )
    return {seq: frozenset(names) for seq, names in found.items()}


def decided_events(subscribers: Sequence[Subscriber] = ()) -> frozenset[type[Event]]:
    """Returns the events that only deciders emit; all others in a trace came from outside them."""
    decided = set(_decided_by(catalog_of(subscribers), deciders_of(subscribers)))
    for subscriber in subscribers:
        if subscriber.reviews and subscriber.decider is None:
            # Some reviews come from an acting component, and an event does not show from which kind it came.
            reviews = catalog_of(subscribers).emitted_by(REVIEWER)
            decided.difference_update(reviews)
    return frozenset(decided)


# A process has one catalog and one set of deciders, tests have a few.
@lru_cache(maxsize=8)
def _decided_by(catalog: Catalog, deciders: Deciders) -> frozenset[type[Event]]:
    decided: set[type[Event]] = set()
    for decider in deciders:
        decided.update(decider.emits or catalog.emitted_by(decider.role))
    return frozenset(decided)
