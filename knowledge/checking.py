"""Checks of an indexing run that need neither an embedder nor Chroma, so that a mistake shows early."""

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
    """Checks that the paths hold, or held, documents.

    Args:
        only: True to remove all indexed documents from elsewhere.

    Raises:
        KnowledgeError: They do not, `only` would remove too much, or the catalogue cannot be read.
    """
    known = known_paths(data_dir)
    find = find_only if only else find_files
    found = find(paths, known, _unplanned, choice or Choice())
    if found.files or any(is_under(path, found.roots) for path in known):
        return
    raise KnowledgeError(f"nothing was indexed: {why_nothing(found)}")


def _unplanned(_: str, files: Sequence[str]) -> Layout:
    """Takes each file for a document, because only the process for hostile files works out their layout."""
    return Layout(documents=tuple([file for file in files if format_of(file)]))


def check_server(url: str | None) -> None:
    """Checks that the Chroma server answers, if the settings name one.

    Raises:
        ConfigurationError: Its setting is no address.
        KnowledgeError: It does not answer.
    """
    if url is not None:
        reached_server(url)
