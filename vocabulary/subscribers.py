"""Components from outside: deciding or acting, with events of their own, part of every query."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.deciding import Decider
from antiphon.vocabulary.events import Event, Live
from antiphon.vocabulary.ports import Clock, Ports, Subscription

HearLive = Callable[[Live], None]
"""Hears what live followers see: text as it streams. It returns at once and raises nothing: the call waits for it."""


def _to_nobody(_: HearLive) -> None:
    """Subscribes nobody: nothing streams if components are only inspected."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The ports, clock and catalog that an acting component from outside is handed for one query.

    Attributes:
        ports: The query's session: publish an event, emit live text, spawn work that ends with the query.
        clock: The time; with the system's own nobody could test the component, or inject faults into it.
        catalog: Every event that exists, for a component that hears all of them.
        hear_live: Subscribes to the text that streams, which is no event and is not recorded.
    """

    ports: Ports
    clock: Clock
    catalog: Catalog
    hear_live: Callable[[HearLive], None] = _to_nobody


Act = Callable[[Surroundings], Sequence[Subscription]]
"""Builds the subscriptions of an acting component for one query."""


@dataclass(frozen=True)
class Subscriber:
    """A component from outside; a factory named in `ANTIPHON_SUBSCRIBERS` returns one.

    Attributes:
        name: Its name in traces, logs and settings; unique among subscribers.
        events: Events of its own, which are recorded, replayed and followed like any other.
        decider: The rules by which it decides; None: it decides nothing.
        act: Builds, for each query, its subscriptions and everything that it does outside the process; None: it does
            nothing.
        reviews: True if it answers every `ReviewRequested` with a `DraftReviewed` in its own name.
    """

    name: str
    events: tuple[type[Event], ...] = ()
    decider: type[Decider[Any]] | None = None
    act: Act | None = None
    reviews: bool = False
