"""Removes one course from the index, which embeds nothing: all others are copied with their vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from antiphon.knowledge.layout import COURSE_FILE
from antiphon.knowledge.layout_store import course_layout
from antiphon.knowledge.named import title_meant
from antiphon.knowledge.target import Target
from antiphon.knowledge.values import KnownDocument


class RecordedEmbedder:
    """A placeholder for the embedder of an index, in a run that embeds nothing."""

    dimensions = 0
    max_tokens = 0

    def __init__(self, name: str) -> None:
        self.name = name

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise AssertionError(f"{len(texts)} texts to embed, while a course is removed")

    def count_tokens(self, text: str) -> int:
        raise AssertionError(f"{text!r} to count, while a course is removed")


def path_of(title: str, known: Mapping[str, KnownDocument]) -> str:
    """Finds the document of a course.

    Raises:
        NotFoundError: There is none.
    """
    paths = {document.title: path for path, document in known.items()}
    return paths[title_meant(title, paths)]


def without(path: str, known: Mapping[str, KnownDocument]) -> Target:
    """Returns the known documents except one."""
    others = sorted(known.keys() - {path})
    hashes = {each: known[each].content_hash for each in others}
    return Target(
        hashes=hashes,
        fresh=frozenset(),
        added=0,
        unchanged=len(hashes),
        changed=0,
        removed=1,
        failed=(),
    )


def files_of_document(path: Path, folder: Path, data_dir: Path) -> list[Path]:
    """Returns the files of a document in a folder: for a course of several files, those of its layout."""
    if not path.is_dir():
        return [path]
    layout = course_layout(str(path), str(folder), data_dir)
    if layout is None:
        return []
    files = [*layout.course.files, COURSE_FILE]
    return [path.joinpath(file).resolve() for file in files]
