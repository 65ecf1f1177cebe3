"""Checks of an indexing run that need neither an embedder nor Chroma, so that a mistake shows at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from antiphon.knowledge.catalogue_file import known_paths
from antiphon.knowledge.chroma_server import reached_server
from antiphon.knowledge.finding import (
    Choice,
    find_files,
    find_only,
    is_under,
    why_nothing,
)
from antiphon.knowledge.layout import Layout
from antiphon.knowledge.readers.formats import format_of
from antiphon.vocabulary.errors import KnowledgeError


def check_paths(
    paths: Iterable[str | Path],
    data_dir: Path,
    *,
    only: bool = False,
    choice: Choice | None = None,
) -> None:
    """Checks that there are, or were, documents at the paths.

    Args:
        only: What is known from elsewhere is to go.

    Raises:
        KnowledgeError: There are none, `only` would remove too much, or the catalogue cannot be read.
    """
    known = known_paths(data_dir)
    find = find_only if only else find_files
    found = find(paths, known, _unplanned, choice or Choice())
    if found.files or any(is_under(path, found.roots) for path in known):
        return
    raise KnowledgeError(f"nothing was indexed: {why_nothing(found)}")


def _unplanned(_: str, files: Sequence[str]) -> Layout:
    """Takes each file for a document: their layout is told by the process that reads hostile files."""
    return Layout(documents=tuple([file for file in files if format_of(file)]))


def check_server(url: str | None) -> None:
    """Checks that a Chroma server answers, if one is named.

    Raises:
        ConfigurationError: It is not named by an address.
        KnowledgeError: It does not answer.
    """
    if url is not None:
        reached_server(url)
