"""What is indexed, read without an embedder and without the vector index."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from antiphon.knowledge.course import Course
from antiphon.knowledge.embedders import embedder_called
from antiphon.knowledge.generations import CATALOGUE, Generations
from antiphon.knowledge.reading import CatalogueReader
from antiphon.vocabulary.values import Value


class Overview(Value, frozen=True, kw_only=True):
    """The index in use. `embedder` is what `load_embedder` takes, or None where this version knows no such one."""

    embedder: str | None
    courses: tuple[Course, ...]


def overview(data_dir: Path) -> Overview | None:
    """What is indexed in the data folder; None where nothing is.

    Raises:
        KnowledgeError: The data folder or the catalogue cannot be read.
    """
    generations = Generations(data_dir)
    number = generations.current()
    if not number:
        return None
    with closing(CatalogueReader(generations.folder(number) / CATALOGUE)) as reader:
        return Overview(embedder=embedder_called(reader.embedder), courses=reader.courses())
