"""The resources that queries share, and the interceptor that may replace them for one query."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

# Imported as a module: code that only names these classes must not load what searching needs.
from antiphon import knowledge
from antiphon.bus import Components
from antiphon.composition.late_model import OpenModel
from antiphon.composition.limits import Limits
from antiphon.composition.model_key import ModelKey
from antiphon.composition.subscribers import catalog_of
from antiphon.composition.telemetry import NO_TELEMETRY, Telemetry
from antiphon.coordinator import ProviderCircuit
from antiphon.dispatcher import (
    CourseCatalogue,
    CourseLibrary,
    Registry,
    ToolCircuits,
    ToolServers,
    ToolTimes,
)
from antiphon.engine import KNOWN_MODELS, CitationStyles, ModelSpeeds, ModelTable
from antiphon.knowledge import Course, LibraryState
from antiphon.traces import Redaction
from antiphon.vocabulary.catalog import Catalog
from antiphon.vocabulary.events import Event, Reasoner, Recorded
from antiphon.vocabulary.health import LastTry
from antiphon.vocabulary.performing import Outside
from antiphon.vocabulary.ports import Clock, Model, Ports, QueryStore, WholeTraceStore
from antiphon.vocabulary.settings import SILENCE_S
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import Passage, StoredText


class BuildOutside(Protocol):
    """Builds the outside of one query; a fork replaces it, and other processes and injected faults wrap it."""

    def __call__(self, resources: Resources, ports: Ports, /) -> Outside: ...


@dataclass(frozen=True)
class Resources:
    """The resources that all sessions share: the ports to the outside, their circuits, and their recent speeds.

    None of them holds a query's state.

    Attributes:
        subscribers: Components from outside; a trace names them.
        observers: Components that only look on, such as telemetry: no trace names them, and no replay needs them.
        model_table: The known models: the options that they accept, and the prices of their tokens.
        silence_s: Seconds without a byte after which a call gives up the primary model's server.
        owner: The tenant whose documents are searched beside the shared ones; empty: nobody's are.
        outside: Builds the performer of one query's requests; None: `live_outside` does.
    """

    clock: Clock
    models: Mapping[Reasoner, Model]
    tools: Registry
    tool_definitions: StoredText
    styles: CitationStyles | None = None
    chance: Callable[[], float] = random.random
    provider_circuit: ProviderCircuit = field(default_factory=ProviderCircuit)
    tool_circuits: ToolCircuits = field(default_factory=ToolCircuits)
    model_speeds: ModelSpeeds = field(default_factory=ModelSpeeds)
    tool_times: ToolTimes = field(default_factory=ToolTimes)
    redaction: Redaction = field(default_factory=Redaction)
    model_table: ModelTable = KNOWN_MODELS
    subscribers: tuple[Subscriber, ...] = ()
    observers: tuple[Subscriber, ...] = ()
    silence_s: float = SILENCE_S
    owner: str = ""
    outside: BuildOutside | None = None

    def tools_are_quick(self) -> bool:
        """Returns True if the tools have lately been so fast that starting them early gains nothing."""
        return self.tool_times.are_quick

    @property
    def catalog(self) -> Catalog:
        """All events: the built-in ones and those of the subscribers."""
        return catalog_of(self.subscribers)

    def with_own_circuits(self) -> Resources:
        """Returns the same resources with fresh circuits and times, for queries that faults break on purpose."""
        return replace(
            self,
            provider_circuit=ProviderCircuit(),
            tool_circuits=ToolCircuits(),
            model_speeds=ModelSpeeds(),
            tool_times=ToolTimes(),
        )


class CourseIndex(CourseCatalogue, Protocol):
    """The course index as the service itself uses it; satisfied by `knowledge.Library`."""

    @property
    def last_search(self) -> LastTry: ...

    def courses(self) -> tuple[Course, ...]: ...

    def search(
        self, query: str, course: str | None, lesson: int | None, limit: int
    ) -> list[Passage]: ...

    def describe(self) -> LibraryState: ...

    def refresh(self) -> bool: ...

    def close(self) -> None: ...


class SearchedLibrary(CourseLibrary, Protocol):
    """The courses that a query can search and list."""

    def courses(self) -> tuple[Course, ...]: ...


class Indexes:
    """The shared index, and others that are opened beside it.

    Args:
        open_index: Opens the index of a folder; blocks.

    Attributes:
        shared: The index that every caller sees, in `data_dir`.
        over: Returns the resources of queries over a library other than the shared one.
    """

    def __init__(
        self,
        data_dir: Path,
        shared: knowledge.Library,
        open_index: Callable[[Path], knowledge.Library],
        over: Callable[[SearchedLibrary], Resources],
    ) -> None:
        self.data_dir = data_dir
        self.shared = shared
        self.over = over
        self._open_index = open_index
        self._opened: list[knowledge.Library] = []

    def open(self, folder: Path) -> knowledge.Library:
        """Opens the index of a folder; blocks. Raises as `Library.open` does."""
        library = self._open_index(folder)
        self._opened.append(library)
        return library

    def close(self) -> None:
        """Closes all indexes but the shared one."""
        for library in self._opened:
            library.close()


class LoadedLater(Protocol):
    """A part that takes seconds to load; such as `knowledge.LateEmbedder`."""

    def load(self) -> None:
        """Loads the part unless it is loaded; blocks, and raises ServiceError if that fails."""


@dataclass(frozen=True)
class ServiceResources:
    """Everything that lives as long as the service.

    Attributes:
        shared: The part that queries use.
        models: The models to close with the service.
        reasoner: The name of the primary model, or `offline`.
        versions: Names and versions of everything that shapes a run, for the first event of each query.
        later: The parts to load in the background once the service runs, in this order.
        unload: Frees the embedder once everything is closed: a hundred megabytes, which a process that opens one
            service after another would keep, because the garbage collector sees only a few objects of it.
        indexes: Opens other indexes beside the shared one; None: there are no others.
        telemetry: The metrics and spans of the queries.
        close_outside: Closes the connections to processes that perform requests; None: there are none.
        limits: The limits of the provider; None: there are none.
        model_key: The state of the key for the model's server; None: no server is called.
        tool_servers: MCP servers, whose tools `shared` has as they were when it was made; None: there are none.
    """

    shared: Resources
    store: WholeTraceStore
    library: CourseIndex
    models: tuple[OpenModel, ...]
    reasoner: str
    versions: tuple[tuple[str, str], ...]
    later: tuple[LoadedLater, ...] = ()
    unload: Callable[[], None] = lambda: None
    indexes: Indexes | None = None
    telemetry: Telemetry = NO_TELEMETRY
    close_outside: Callable[[], Awaitable[None]] | None = None
    limits: Limits | None = None
    model_key: ModelKey | None = None
    tool_servers: ToolServers | None = None

    async def close(self) -> None:
        # In this order: what uses another part is closed before it, and memory is freed last.
        await asyncio.to_thread(self.telemetry.close)
        if self.indexes is not None:
            self.indexes.close()
        for model in self.models:
            await model.aclose()
        if self.limits is not None:
            await self.limits.close()
        if self.close_outside is not None:
            await self.close_outside()
        await self.store.close()
        self.library.close()
        self.unload()


class Interceptor(Protocol):
    """Replaces the ports, the store and the components of one query; faults/ injects failures with it."""

    @property
    def provider_open(self) -> bool:
        """True if the query should begin as if the provider's circuit were open."""

    @property
    def faults(self) -> tuple[str, ...]:
        """The injected faults in words, which the query's first event names."""

    def recall(self, prefix: Sequence[Recorded[Event]], /) -> None:
        """Takes in the trace of a query that is resumed or forked; called before the other methods."""

    def resources(self, resources: Resources, /) -> Resources: ...

    def store(self, store: QueryStore, /) -> QueryStore: ...

    def components(self, components: Components, /) -> Components: ...


class NoInterceptor:
    """Leaves a query as it is."""

    provider_open = False
    faults: tuple[str, ...] = ()

    def recall(self, _: Sequence[Recorded[Event]], /) -> None:
        """Does nothing."""

    def resources(self, resources: Resources, /) -> Resources:
        return resources

    def store(self, store: QueryStore, /) -> QueryStore:
        return store

    def components(self, components: Components, /) -> Components:
        return components
