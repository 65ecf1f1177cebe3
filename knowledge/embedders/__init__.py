"""Embedders behind one port, loaded by name so that only the chosen one's packages are needed."""

from knowledge.embedders.choosing import load_embedder

__all__ = ["load_embedder"]
