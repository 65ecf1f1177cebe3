"""A file or folder from a course that is indexed as a whole, named on its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.knowledge import IndexSummary, Library, index_paths
from tests.fakes_knowledge import HashingEmbedder

EMBEDDER = HashingEmbedder()
FILES = ("README.md", "01-quays/README.md", "01-quays/tides.md", "02-ropes/README.md")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for name in FILES:
        place = tmp_path / "harbour" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"# {place.parent.name}\n\nThe {place.stem} is said here.\n")
    return tmp_path / "harbour"


def indexed(data: Path, *paths: Path, only: bool = False) -> IndexSummary:
    return index_paths(paths, data, EMBEDDER, only=only)


def titles(data: Path) -> list[str]:
    library = Library.open(data, EMBEDDER)
    try:
        return [course.title for course in library.courses()]
    finally:
        library.close()


@pytest.mark.parametrize("part", ["01-quays/tides.md", "02-ropes", "03-new.md"])
def test_a_part_of_an_indexed_course_makes_no_second_one(
    part: str, course: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    indexed(data, course)

    summary = indexed(data, course / part)

    [(path, reason)] = summary.failed
    assert path == str(course / part)
    assert f"of an indexed course, {course}: index that folder" in reason
    assert titles(data) == ["harbour"]


def test_a_part_that_is_named_beside_its_course_belongs_to_the_course(
    course: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"

    for _ in range(2):
        summary = indexed(data, course, course / "01-quays/tides.md")
        assert summary.failed == ()

    assert titles(data) == ["harbour"]


def test_a_part_may_take_the_place_of_the_course(course: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    indexed(data, course)

    summary = indexed(data, course / "01-quays/tides.md", only=True)

    assert (summary.added, summary.removed, summary.failed) == (1, 1, ())


def test_a_document_beside_a_course_is_indexed_by_itself(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name in ("01-quays.md", "02-ropes.md", "talk.txt"):
        (tmp_path / "harbour").mkdir(exist_ok=True)
        (tmp_path / "harbour" / name).write_text("# Said\n\nHere.\n")
    indexed(data, tmp_path / "harbour")
    (tmp_path / "harbour" / "talk.txt").write_text("Another talk is given.\n")

    summary = indexed(data, tmp_path / "harbour" / "talk.txt")

    assert (summary.changed, summary.failed) == (1, ())
