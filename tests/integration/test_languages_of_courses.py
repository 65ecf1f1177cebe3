"""Indexing detects the language of a course; an answer names it if a question in another language finds nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from antiphon.knowledge import index_paths, load_embedder, overview
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.generations import CATALOGUE, Generations
from antiphon.service import Antiphon, load_settings
from antiphon.vocabulary.ports import Embedder
from tests.fakes_knowledge import HashingEmbedder

GERMAN = """# Schiffe
## Der Anker
Der Anker wiegt neun Tonnen. Die Ankerkette ist dreihundert Meter lang und besteht aus Stahl.
## Das Segel
Das Grosssegel hat hundertzwanzig Quadratmeter.
"""
ENGLISH = """# Bees
## The hive
The hive holds forty thousand bees in summer, and the queen lays two thousand eggs a day.
"""
NUMBERS = "# 2024\n## 1\n12 14 15\n## 2\n7 8 9\n"
COURSES = {"Schiffe": GERMAN, "Bees": ENGLISH, "2024": NUMBERS}


def index(
    tmp_path: Path, titles: Iterable[str], embedder: Embedder | None = None
) -> Path:
    folder = tmp_path / "courses"
    folder.mkdir()
    for title in titles:
        (folder / f"{title}.md").write_text(COURSES[title])
    index_paths([folder], tmp_path / "data", embedder or HashingEmbedder())
    return tmp_path / "data"


def test_each_course_is_stored_with_its_language(tmp_path: Path) -> None:
    found = overview(index(tmp_path, COURSES))

    assert found is not None
    languages = {course.title: course.language for course in found.courses}
    assert languages == {"Schiffe": "de", "Bees": "en", "2024": None}


def test_a_course_indexed_again_without_its_file_keeps_its_language(
    tmp_path: Path,
) -> None:
    data = index(tmp_path, ["Schiffe"])
    (tmp_path / "courses" / "Schiffe.md").rename(tmp_path / "elsewhere.md")
    generations = Generations(data)
    reader = CatalogueReader(generations.folder(generations.current()) / CATALOGUE)

    document = reader.document(str(tmp_path / "courses" / "Schiffe.md"))

    assert document.language == "de"


@pytest.mark.parametrize(
    ("titles", "question", "said"),
    [
        (("Schiffe",), "What is a circuit breaker?", ["German"]),
        (("Schiffe",), "Was ist ein Vulkan in der Geologie?", []),
        (("Bees",), "What is a circuit breaker?", []),
        (("Bees",), "Was ist ein Vulkan in der Geologie?", ["English"]),
        (("Bees", "Schiffe"), "What is a circuit breaker?", []),
    ],
)
async def test_an_answer_that_finds_nothing_names_the_language_of_the_courses(
    titles: tuple[str, ...], question: str, said: list[str], tmp_path: Path
) -> None:
    data = index(tmp_path, titles, load_embedder("onnx"))
    settings = load_settings(data_dir=data, embedder="onnx", reasoner="offline")
    async with Antiphon.open(settings) as service:
        answer = await service.ask(question)

    assert "not in these courses" in answer.text
    stated = [each for each in ("German", "English") if f"is in {each}." in answer.text]
    assert stated == said
