"""Embedders behind one port, loaded by name so that only the chosen one's packages are needed."""

from antiphon.knowledge.embedders.choosing import (
    LateEmbedder,
    check_weights,
    embedder_called,
    embedder_when_used,
    installed_embedders,
    load_embedder,
)

__all__ = [
    "LateEmbedder",
    "check_weights",
    "embedder_called",
    "embedder_when_used",
    "installed_embedders",
    "load_embedder",
]
