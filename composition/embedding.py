"""Chooses the embedder that the settings name, and loads it."""

from __future__ import annotations

from antiphon.composition.settings import Settings
from antiphon.knowledge import (
    LateEmbedder,
    embedder_when_used,
    installed_embedders,
    load_embedder,
    overview,
)
from antiphon.vocabulary.errors import ConfigurationError, how_to_install
from antiphon.vocabulary.ports import Embedder


def embedder_of(settings: Settings) -> Embedder:
    """Loads the embedder that the settings name.

    Raises:
        ConfigurationError: It is not installed.
    """
    return load_embedder(embedder_name(settings), settings.embedding_model)


def late_embedder_of(settings: Settings) -> LateEmbedder:
    """Returns the embedder of `embedder_of`, which loads once there is something to embed. Raises likewise."""
    return embedder_when_used(embedder_name(settings), settings.embedding_model)


def embedder_name(settings: Settings) -> str:
    """Returns `minilm` or `onnx`; for `auto` the one that built the index, if it is installed, else the first that is.

    Raises:
        ConfigurationError: No embedder is installed.
    """
    # Only sentence-transformers runs models of any name; `Settings` refuses such a name for another embedder.
    if settings.embedding_model is not None:
        return "minilm"
    # A name that is set is returned even if it is not installed: the error of loading it says what to install.
    if settings.embedder != "auto":
        return settings.embedder
    installed = installed_embedders()
    if not installed:
        raise ConfigurationError(
            f"no embedder is installed: {how_to_install()} (or `onnx`, which is smaller)"
        )
    indexed = overview(settings.data_dir)
    if indexed is not None and indexed.embedder in installed:
        return indexed.embedder
    return installed[0]
