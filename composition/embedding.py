"""Chooses the embedder that the settings name, and loads it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import mul

from antiphon.composition.settings import Settings
from antiphon.knowledge import installed_embedders, load_embedder, overview
from antiphon.vocabulary.errors import ConfigurationError, how_to_install
from antiphon.vocabulary.ports import Embedder

KEPT_VECTORS = 2_000


def embedder_of(settings: Settings) -> Embedder:
    """Loads the embedder that the settings name.

    Raises:
        ConfigurationError: It is not installed.
    """
    return load_embedder(embedder_name(settings))


def embedder_name(settings: Settings) -> str:
    """Returns `minilm` or `onnx`; for `auto` the one that built the index, if it is installed, else the first that is.

    Raises:
        ConfigurationError: No embedder is installed.
    """
    # A name that is set is taken even where it is not installed: loading it then says what to install.
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


class Vectors:
    """The embedder's vectors of the texts that were compared last."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vector = lru_cache(maxsize=KEPT_VECTORS)(self._embed)

    def likeness(self, question: str, texts: Sequence[str]) -> list[float]:
        """Returns how like each text is to the question by meaning: their cosine, -1 to 1. Blocks."""
        asked = self._vector(question)
        # Vectors are of unit length, so that their product is the cosine.
        return [sum(map(mul, asked, self._vector(text))) for text in texts]

    def _embed(self, text: str) -> tuple[float, ...]:
        return tuple(self._embedder.embed([text])[0])
