"""Builds the shared resources from the settings. Blocks: call it from a thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from antiphon.bus import SystemClock
from antiphon.composition.embedding import embedder_of, late_embedder_of
from antiphon.composition.intake import rates_of, unpriced
from antiphon.composition.limits import Limits, LimitsOf, limits_of
from antiphon.composition.reasoners import (
    Reasoners,
    offline_over,
    reasoners_of,
)
from antiphon.composition.redaction import redaction_of
from antiphon.composition.resources import (
    BuildOutside,
    Indexes,
    LoadedLater,
    Resources,
    SearchedLibrary,
    ServiceResources,
)
from antiphon.composition.settings import Settings
from antiphon.composition.subscribers import checked, load_subscribers
from antiphon.composition.telemetry import Telemetry, telemetry_of
from antiphon.composition.tools import (
    registry_of,
    tool_servers_of,
    with_tools_of_servers,
)
from antiphon.composition.trace_store import OpenStore, open_own_store
from antiphon.dispatcher import Registry, ToolCircuits, ToolServers
from antiphon.engine import (
    SYSTEM_VERSION,
    CitationStyles,
    ModelTable,
    read_prices,
)
from antiphon.knowledge import Library
from antiphon.traces import PROGRAM
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.ports import Clock
from antiphon.vocabulary.private_files import make_private_folder
from antiphon.vocabulary.program import program_version
from antiphon.vocabulary.settings import QuerySettings
from antiphon.vocabulary.subscribers import Subscriber


def build(
    settings: Settings,
    subscribers: Sequence[Subscriber] = (),
    *,
    loads_later: bool = False,
    open_store: OpenStore = open_own_store,
    limits_of: LimitsOf = limits_of,
    outside: BuildOutside | None = None,
    close_outside: Callable[[], Awaitable[None]] | None = None,
) -> ServiceResources:
    """Opens the index, the trace store and the way to the model.

    Args:
        subscribers: Components from outside, in addition to those that the settings name.
        loads_later: Leaves embedder and SDK to be loaded in the background: building needs only their names.
        open_store: Opens the trace store.
        limits_of: Returns the limits of the provider.
        outside: Builds the performer of one query's requests; None: models, tools and time as the settings say.
        close_outside: Closes the outside's connections, at the end; None: it has none.

    Raises:
        ConfigurationError: The settings cannot work.
        KnowledgeError: The index cannot be read.
        TraceError: The trace store cannot be opened.
    """
    _make_folder(settings)
    # First, so that a mistake in a user's own module shows before anything is opened.
    components = checked([*load_subscribers(settings.subscribers), *subscribers])
    embedder = late_embedder_of(settings)
    library = Library.open(settings.data_dir, embedder, settings.chroma_url)
    clock = SystemClock()
    reasoners = reasoners_of(settings, library, clock)
    registry = registry_of(library, settings.tools)
    tool_servers = tool_servers_of(settings.mcp)
    redaction = redaction_of(settings)
    telemetry = telemetry_of(settings, registry.names, redaction)
    limits = limits_of(settings, clock, settings.query_settings().deadline_s)
    shared = _shared(
        settings, clock, reasoners, limits, registry, components, telemetry
    )
    shared = replace(shared, outside=outside, redaction=redaction)
    later: tuple[LoadedLater, ...] = (*reasoners.models, embedder)
    if not loads_later:
        for part in later:
            part.load()
        later = ()
    indexes = Indexes(
        settings.data_dir,
        library,
        lambda folder: Library.open(folder, embedder, settings.chroma_url),
        partial(_over, settings, shared, reasoners, library, tool_servers),
    )
    reasoner = reasoners.primary.name or settings.model
    # A custom outside replaces any reasoner; one with connections to close is other processes with these settings.
    if outside is not None and close_outside is None:
        reasoner = _name_of(outside)
    return ServiceResources(
        shared=shared,
        store=open_store(settings, shared.redaction, shared.catalog),
        library=library,
        indexes=indexes,
        models=reasoners.models,
        close_outside=close_outside,
        limits=limits,
        model_key=reasoners.key,
        later=later,
        tool_servers=tool_servers,
        unload=embedder.unload,
        telemetry=telemetry,
        reasoner=reasoner,
        versions=(
            (PROGRAM, program_version()),
            ("system_prompt", SYSTEM_VERSION),
            ("reasoner", reasoner),
            ("tools", registry.definitions().key),
            ("embedder", embedder.name),
        ),
    )


def _name_of(outside: BuildOutside) -> str:
    """Returns the name of a custom outside, which traces give as the one that answered."""
    name = getattr(outside, "__qualname__", type(outside).__qualname__)
    return f"outside {name.partition('.')[0]}"


def _shared(
    settings: Settings,
    clock: Clock,
    reasoners: Reasoners,
    limits: Limits,
    registry: Registry,
    components: tuple[Subscriber, ...],
    telemetry: Telemetry,
) -> Resources:
    """Returns the part of the resources that queries use."""
    defaults = settings.query_settings()
    # The offline reasoner runs in this process: no provider limits its calls.
    is_offline = reasoners.primary is reasoners.offline
    primary = reasoners.primary if is_offline else limits.limited(reasoners.primary)
    shared = Resources(
        clock=clock,
        models={"primary": primary, "fallback": reasoners.offline},
        tools=registry,
        tool_definitions=registry.definitions(),
        styles=CitationStyles(reasoners.profiles),
        model_table=ModelTable(read_prices(settings.prices)),
        provider_circuit=limits.circuit,
        tool_circuits=ToolCircuits(timeout_s=_time_of_tools(defaults)),
        subscribers=components,
        silence_s=settings.silence_s,
        observers=telemetry.observers,
    )
    problem = unpriced(defaults, rates_of(defaults, shared))
    if problem is not None:
        raise ConfigurationError(
            f"ANTIPHON_MAX_COST_USD is {settings.max_cost_usd:g}. {problem}"
        )
    return shared


def _over(
    settings: Settings,
    shared: Resources,
    reasoners: Reasoners,
    library: Library,
    tool_servers: ToolServers | None,
    another: SearchedLibrary,
) -> Resources:
    """Returns the resources over another library, whose courses the tools and the offline reasoner then know."""
    stands_in = offline_over(another.courses, library)
    primary = shared.models["primary"]
    asked_first = stands_in if primary is reasoners.offline else primary
    tools = registry_of(another, settings.tools)
    if tool_servers is not None:
        tools = with_tools_of_servers(tools, tool_servers.tools)
    return replace(
        shared,
        models={"primary": asked_first, "fallback": stands_in},
        tools=tools,
        tool_definitions=tools.definitions(),
    )


def open_library(settings: Settings) -> Library:
    """Opens the index alone, without reasoner and traces; blocks for the seconds that an embedder takes to load.

    Raises:
        ConfigurationError: The settings cannot work, or the index belongs to another embedder.
        KnowledgeError: The index cannot be read.
    """
    return Library.open(settings.data_dir, embedder_of(settings), settings.chroma_url)


def _time_of_tools(settings: QuerySettings) -> float:
    """Returns the seconds that the settings allow a tool; a short deadline allows it less than its own limit."""
    return min(settings.tool_timeout_s, settings.deadline_s / 4)


def _make_folder(settings: Settings) -> None:
    try:
        make_private_folder(settings.data_dir)
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {settings.data_dir} cannot be made ({error.strerror}): "
            "make it, or name another one with ANTIPHON_DATA_DIR."
        ) from error
