"""Everything that queries share, and what may stand between one query and all of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Protocol

from antiphon.bus import Components
from antiphon.coordinator import ProviderCircuit
from antiphon.dispatcher import Registry, ToolCircuits
from antiphon.engine import AnthropicModel, CitationStyles, rate_of
from antiphon.knowledge import Course, LibraryState
from antiphon.traces import Redaction
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.events import Event, Reasoner, Recorded
from antiphon.vocabulary.ports import Clock, Model, QueryStore, TraceStore
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Rate, StoredText


@dataclass(frozen=True)
class Resources:
    """What all sessions share: the ports to the outside, and what is remembered of their health.

    None of them holds a query's state.
    """

    clock: Clock
    models: Mapping[Reasoner, Model]
    tools: Registry
    tool_definitions: StoredText
    styles: CitationStyles | None = None
    chance: Callable[[], float] = random.random
    provider_circuit: ProviderCircuit = field(default_factory=ProviderCircuit)
    tool_circuits: ToolCircuits = field(default_factory=ToolCircuits)
    redaction: Redaction = field(default_factory=Redaction)
    rate_of: Callable[[str, str | None], Rate | None] = rate_of
    subscribers: tuple[Subscriber, ...] = ()

    @property
    def catalog(self) -> Catalog:
        """Every event that there is."""
        return catalog_of(self.subscribers)


def catalog_of(subscribers: Sequence[Subscriber]) -> Catalog:
    """Returns the built-in events and those of the subscribers."""
    further: list[type[Event]] = []
    for subscriber in subscribers:
        further += subscriber.events
    return _extended(tuple(further))


# The same events are the same catalog, so that decoders which are made from it are made once; a process has one set of
# subscribers, tests have several.
@lru_cache(maxsize=16)
def _extended(further: tuple[type[Event], ...]) -> Catalog:
    return BUILT_IN.extended(further)


class CourseIndex(Protocol):
    """The courses as the service itself looks at them; `knowledge.Library` is one."""

    def courses(self) -> tuple[Course, ...]: ...

    def describe(self) -> LibraryState: ...

    def refresh(self) -> bool: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class ServiceResources:
    """Everything that lives as long as the service.

    Attributes:
        shared: What its queries are given of it.
        models: Those that are closed with the service.
        reasoner: Who answers: the model's name, or `offline`.
        versions: Names and versions of what shapes a run, for the first event of each query.
    """

    shared: Resources
    store: TraceStore
    library: CourseIndex
    models: tuple[AnthropicModel, ...]
    reasoner: str
    versions: tuple[tuple[str, str], ...]

    async def close(self) -> None:
        for model in self.models:
            await model.aclose()
        await self.store.close()
        self.library.close()


class Interceptor(Protocol):
    """Stands round one query: between it and its ports, its store, and those who hear it (faults/ breaks it so)."""

    @property
    def provider_open(self) -> bool:
        """True tells the query that the provider's circuit is open, whatever it is."""

    def recall(self, prefix: Sequence[Recorded[Event]], /) -> None:
        """Takes in what happened before the query goes on; called first, where there was anything."""

    def resources(self, resources: Resources, /) -> Resources: ...

    def store(self, store: QueryStore, /) -> QueryStore: ...

    def components(self, components: Components, /) -> Components: ...


class NoInterceptor:
    """Leaves a query as it is."""

    provider_open = False

    def recall(self, _: Sequence[Recorded[Event]], /) -> None:
        """Needs to know nothing."""

    def resources(self, resources: Resources, /) -> Resources:
        return resources

    def store(self, store: QueryStore, /) -> QueryStore:
        return store

    def components(self, components: Components, /) -> Components:
        return components
