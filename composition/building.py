"""Builds the shared resources from the settings. Blocks: call it from a thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from antiphon import cluster as on_nats
from antiphon import engine
from antiphon.bus import SystemClock
from antiphon.composition.embedding import embedder_of, late_embedder_of
from antiphon.composition.intake import rates_of, unpriced
from antiphon.composition.late_model import LateModel
from antiphon.composition.layered_library import LayeredLibrary
from antiphon.composition.limits import limits_of
from antiphon.composition.redaction import redaction_of
from antiphon.composition.remote import remote_parts
from antiphon.composition.resources import (
    LoadedLater,
    Resources,
    ServiceResources,
)
from antiphon.composition.settings import ANTHROPIC_URL, Settings
from antiphon.composition.subscribers import checked, load_subscribers
from antiphon.composition.telemetry import telemetry_of
from antiphon.composition.tenant_libraries import TenantLibraries
from antiphon.composition.tools import registry_of
from antiphon.composition.trace_store import open_trace_store
from antiphon.dispatcher import ToolCircuits
from antiphon.engine import (
    OFFLINE,
    SYSTEM_VERSION,
    CitationStyles,
    Profile,
)
from antiphon.knowledge import Library
from antiphon.language.evidence import Measures
from antiphon.traces import PROGRAM
from antiphon.vocabulary.errors import ConfigurationError, KnowledgeError
from antiphon.vocabulary.events import Reasoner
from antiphon.vocabulary.ports import Model
from antiphon.vocabulary.private_files import make_private_folder
from antiphon.vocabulary.program import program_version
from antiphon.vocabulary.settings import QuerySettings
from antiphon.vocabulary.subscribers import Subscriber


def build(
    settings: Settings,
    subscribers: Sequence[Subscriber] = (),
    *,
    loads_later: bool = False,
    cluster: on_nats.Cluster | None = None,
) -> ServiceResources:
    """Opens the index, the trace store and the way to the model.

    Args:
        subscribers: Components from outside, in addition to those that the settings name.
        loads_later: Leave embedder and SDK to be loaded behind the service: what is built needs only their names.
        cluster: Where traces are; None: in the data folder.

    Raises:
        ConfigurationError: The settings cannot work.
        KnowledgeError: The index cannot be read.
        TraceError: The trace store cannot be opened.
    """
    _make_folder(settings)
    # A mistake in a user's own module shows before anything is opened.
    components = checked([*load_subscribers(settings.subscribers), *subscribers])
    redaction = redaction_of(settings)
    embedder = late_embedder_of(settings)
    library = Library.open(settings.data_dir, embedder, settings.chroma_url)
    # The offline reasoner is there in any case: it answers where Claude is away.
    offline = LateModel(
        OFFLINE, lambda: engine.offline_model(_measures(library), library.courses)
    )
    primary = offline
    models: tuple[LateModel, ...] = (offline,)
    profiles: dict[Reasoner, Profile] = {}
    if settings.speaks_to_claude:
        check_reasoner(settings)
        primary = LateModel(None, partial(claude, settings))
        models = (primary, offline)
        profiles["primary"] = profile_of(settings)
    registry = registry_of(library, settings.tools)
    telemetry = telemetry_of(settings, registry.names)
    reasoner = primary.name or settings.model
    defaults = settings.query_settings()
    clock = SystemClock()
    limits = limits_of(settings, clock, defaults.deadline_s)
    asked_first: Model = primary
    # The offline reasoner runs in this process: nobody counts its calls.
    if primary is not offline:
        asked_first = limits.limited(primary)
    shared = Resources(
        clock=clock,
        models={"primary": asked_first, "fallback": offline},
        tools=registry,
        tool_definitions=registry.definitions(),
        styles=CitationStyles(profiles),
        provider_circuit=limits.circuit,
        tool_circuits=ToolCircuits(timeout_s=_time_of_tools(defaults)),
        redaction=redaction,
        subscribers=components,
        silence_s=settings.silence_s,
        observers=telemetry.observers(),
    )
    shared = replace(
        shared,
        remote=remote_parts(settings, shared.catalog, registry, shared.models),
    )
    problem = unpriced(defaults, rates_of(defaults, shared))
    if problem is not None:
        raise ConfigurationError(
            f"ANTIPHON_MAX_COST_USD is {settings.max_cost_usd:g}. {problem}"
        )
    later: tuple[LoadedLater, ...] = (*models, embedder)
    if not loads_later:
        for part in later:
            part.load()
        later = ()
    tenants = TenantLibraries(
        settings.data_dir,
        library,
        lambda folder: Library.open(folder, embedder, settings.chroma_url),
    )
    tenants.open_all()

    def over(another: LayeredLibrary) -> Resources:
        """Returns the same for a tenant's queries: the tools and the offline reasoner know their courses."""
        stands_in = LateModel(
            OFFLINE, lambda: engine.offline_model(_measures(library), another.courses)
        )
        asked = asked_first
        if asked is offline:
            asked = stands_in
        return replace(
            shared,
            models={"primary": asked, "fallback": stands_in},
            tools=registry_of(another, settings.tools),
        )

    return ServiceResources(
        shared=shared,
        store=open_trace_store(
            settings.data_dir,
            settings.durability,
            redaction,
            shared.catalog,
            settings.store_key,
            cluster,
            settings.claim_s,
        ),
        library=library,
        tenants=tenants,
        over=over,
        models=models,
        limits=limits,
        later=later,
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


def open_library(settings: Settings) -> Library:
    """Opens the index alone, without reasoner and traces; blocks for the seconds that an embedder takes to load.

    Raises:
        ConfigurationError: The settings cannot work, or the index belongs to another embedder.
        KnowledgeError: The index cannot be read.
    """
    return Library.open(settings.data_dir, embedder_of(settings), settings.chroma_url)


def _time_of_tools(settings: QuerySettings) -> float:
    """Returns the seconds that the settings leave a tool; a short deadline leaves it less than its own limit."""
    return min(settings.tool_timeout_s, settings.deadline_s / 4)


def _measures(library: Library) -> Measures:
    """Returns how the offline reasoner compares texts: terms by their rarity in the library, meanings by the embedder.

    It is the last resort: it must answer even without an index, where all terms are alike.
    """

    def weight(term: str) -> float:
        try:
            return library.weight(term)
        except KnowledgeError:
            return 1.0

    return Measures(weight, library.likeness)


def profile_of(settings: Settings) -> Profile:
    """Returns the abilities of the configured server."""
    citations = settings.citations
    # Elsewhere one small call finds out; Anthropic's own server is known to take them.
    if citations == "auto" and settings.anthropic_base_url in (None, ANTHROPIC_URL):
        citations = "native"
    return Profile(citations=citations, **dict.fromkeys(settings.lacking, False))


def speaker_of(settings: Settings) -> engine.AnthropicModel:
    """Returns the configured reasoner alone, without index and store."""
    if settings.speaks_to_claude:
        return claude(settings)
    return engine.offline_model()


def check_reasoner(settings: Settings) -> None:
    """Checks that the settings lead to a server.

    Raises:
        ConfigurationError: No key, token or address is set, or they come from different places.
    """
    if settings.mixed_sources:
        raise ConfigurationError(settings.mixed_sources)
    key, token = settings.anthropic_api_key, settings.anthropic_auth_token
    if key is None and token is None and settings.anthropic_base_url is None:
        raise ConfigurationError(
            "ANTIPHON_REASONER is `claude`, and neither ANTHROPIC_API_KEY nor ANTHROPIC_BASE_URL is set: set one, "
            "or use `offline`."
        )


def claude(settings: Settings) -> engine.AnthropicModel:
    """Returns a model at the configured server. Raises as `check_reasoner` does."""
    check_reasoner(settings)
    key, token = settings.anthropic_api_key, settings.anthropic_auth_token
    # The SDK sends no request without a key, which a compatible server may not want, and none with both.
    api_key: str | None = "none"
    auth_token: str | None = None
    if token is not None:
        api_key = None
        auth_token = token.get_secret_value()
    elif key is not None:
        api_key = key.get_secret_value()
    return engine.connect(
        api_key,
        settings.anthropic_base_url or ANTHROPIC_URL,
        auth_token=auth_token,
        silence_s=settings.silence_s,
    )


def _make_folder(settings: Settings) -> None:
    try:
        make_private_folder(settings.data_dir)
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {settings.data_dir} cannot be made ({error.strerror}): "
            "make it, or name another one with ANTIPHON_DATA_DIR."
        ) from error
