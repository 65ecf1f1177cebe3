"""Indexing on real files, SQLite and Chroma, with a small embedder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from antiphon.knowledge import (
    IndexProgress,
    IndexSummary,
    Library,
    index_paths,
    index_size,
    remove_course,
)
from antiphon.knowledge.generations import Generations
from antiphon.vocabulary.errors import (
    ConfigurationError,
    KnowledgeError,
    NotFoundError,
)
from tests.course_files import write_course
from tests.fakes_knowledge import HashingEmbedder


@pytest.fixture
def courses(tmp_path: Path) -> Path:
    for name in ("apple", "pear"):
        write_course(tmp_path / "courses", name)
    return tmp_path / "courses"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def titles(data: Path, embedder: str = "hashing") -> list[str]:
    library = Library.open(data, HashingEmbedder(embedder))
    found = [course.title for course in library.courses()]
    library.close()
    return found


def counts(summary: IndexSummary) -> tuple[int, int, int, int]:
    return summary.added, summary.unchanged, summary.changed, summary.removed


def test_only_what_changed_is_embedded_again(courses: Path, data: Path) -> None:
    first = index_paths([courses], data, HashingEmbedder())
    embedder = HashingEmbedder()
    write_course(courses, "pear", extra="And a new end.")
    write_course(courses, "plum")

    second = index_paths([courses], data, embedder)

    assert (counts(first), first.generation) == ((2, 0, 0, 0), 1)
    assert (counts(second), second.generation) == ((1, 1, 1, 0), 2)
    assert embedder.embedded
    assert not [text for text in embedder.embedded if "Apple" in text]


def sentences(embedded: list[str]) -> list[str]:
    """Leaves out the titles, which are few and embedded with each change."""
    return [text for text in embedded if text.endswith(".")]


def test_only_the_changed_sentences_of_a_changed_file_are_embedded(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())
    embedder = HashingEmbedder()
    write_course(courses, "pear", extra="And a new end.")

    index_paths([courses], data, embedder)

    assert sentences(embedder.embedded) == ["And a new end."]


def test_a_file_that_was_renamed_is_not_embedded_again(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())
    embedder = HashingEmbedder()
    (courses / "pear.txt").rename(courses / "conference.txt")

    summary = index_paths([courses], data, embedder)

    assert (summary.added, summary.removed) == (1, 1)
    assert sentences(embedder.embedded) == []


def test_sentences_that_two_courses_share_are_embedded_once(
    courses: Path, data: Path
) -> None:
    copy = (courses / "pear.txt").read_text().replace("The Pear Course", "Conference")
    (courses / "conference.txt").write_text(copy)
    embedder = HashingEmbedder()

    index_paths([courses], data, embedder)

    embedded = sentences(embedder.embedded)
    assert len(embedded) == len(set(embedded))
    library = Library.open(data, HashingEmbedder())
    found = {one.course for one in library.search("pearranking7", limit=2)}
    library.close()
    assert found == {"The Pear Course", "Conference"}


def test_nothing_is_built_if_nothing_changed(courses: Path, data: Path) -> None:
    index_paths([courses], data, HashingEmbedder())
    embedder = HashingEmbedder()

    again = index_paths([courses], data, embedder)

    assert (counts(again), again.generation) == ((0, 2, 0, 0), 1)
    assert embedder.embedded == []


def test_a_removed_file_goes_and_only_under_the_paths_indexed(
    courses: Path, data: Path, tmp_path: Path
) -> None:
    elsewhere = write_course(tmp_path / "elsewhere", "plum")
    index_paths([courses, elsewhere], data, HashingEmbedder())
    (courses / "pear.txt").unlink()
    elsewhere.unlink()

    summary = index_paths([courses], data, HashingEmbedder())

    assert counts(summary) == (0, 1, 0, 1)
    assert titles(data) == ["The Apple Course", "The Plum Course"]


def test_a_bad_file_is_named_and_the_rest_goes_on(courses: Path, data: Path) -> None:
    (courses / "bad.txt").write_bytes(b"\x00\x01")
    write_course(courses, "pear")
    (courses / "twin.txt").write_text((courses / "apple.txt").read_text())

    summary = index_paths([courses, courses / "none.txt"], data, HashingEmbedder())

    assert summary.added == 2
    assert {Path(path).name for path, _ in summary.failed} == {
        "bad.txt",
        "twin.txt",
        "none.txt",
    }
    assert all(reason for _, reason in summary.failed)


def test_an_empty_folder_is_an_empty_library(tmp_path: Path, data: Path) -> None:
    (tmp_path / "courses").mkdir()

    summary = index_paths([tmp_path / "courses"], data, HashingEmbedder())

    assert (summary.chunks, summary.generation) == (0, 0)
    assert titles(data) == []


def test_a_library_whose_last_document_is_gone_is_empty(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())
    for path in courses.iterdir():
        path.unlink()

    assert index_paths([courses], data, HashingEmbedder()).removed == 2
    assert titles(data) == []


def test_progress_counts_up_to_the_end(courses: Path, data: Path) -> None:
    told: list[IndexProgress] = []

    summary = index_paths([courses], data, HashingEmbedder(), progress=told.append)

    assert {(one.stage, one.total) for one in told} == {
        ("files", 2),
        ("documents", 2),
        ("vectors", summary.chunks),
    }
    assert [one.done for one in told if one.stage == "documents"] == [0, 1, 2]
    assert told[-1] == IndexProgress(
        stage="vectors", done=summary.chunks, total=summary.chunks
    )


def test_another_embedder_is_refused_with_the_command_that_mends_it(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())

    with pytest.raises(ConfigurationError, match=r"'other'.*antiphon index --rebuild"):
        index_paths([courses], data, HashingEmbedder("other"))
    with pytest.raises(ConfigurationError, match="antiphon index --rebuild"):
        Library.open(data, HashingEmbedder("other"))


def test_a_rebuild_embeds_everything_again_even_documents_whose_files_are_elsewhere_and_gone(
    courses: Path, data: Path, tmp_path: Path
) -> None:
    elsewhere = write_course(tmp_path / "elsewhere", "plum")
    before = index_paths([courses, elsewhere], data, HashingEmbedder())
    elsewhere.unlink()

    summary = index_paths([courses], data, HashingEmbedder("other"), rebuild=True)

    assert summary.chunks == before.chunks
    assert titles(data, "other") == [
        "The Apple Course",
        "The Pear Course",
        "The Plum Course",
    ]


def test_the_error_names_a_damaged_catalogue_and_a_rebuild_mends_it(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())
    (Generations(data).folder(1) / "catalogue.sqlite").write_bytes(
        b"no database" * 1_000
    )

    with pytest.raises(KnowledgeError, match="antiphon index --rebuild"):
        index_paths([courses], data, HashingEmbedder())
    with pytest.raises(KnowledgeError, match="antiphon index --rebuild"):
        Library.open(data, HashingEmbedder())
    assert index_paths([courses], data, HashingEmbedder(), rebuild=True).generation == 2
    assert len(titles(data)) == 2


@pytest.mark.parametrize("damage", ["missing", "garbage"])
def test_the_error_names_a_damaged_vector_index_and_a_run_rebuilds_it_without_embedding(
    courses: Path, data: Path, damage: str
) -> None:
    index_paths([courses], data, HashingEmbedder())
    chroma = Generations(data).folder(1) / "chroma"
    for path in chroma.iterdir():
        if path.is_file():
            path.write_bytes(b"garbage" * 1_000)
    if damage == "missing":
        chroma.rename(data / "away")

    with pytest.raises(KnowledgeError, match="antiphon index --rebuild"):
        Library.open(data, HashingEmbedder())
    embedder = HashingEmbedder()

    assert index_paths([courses], data, embedder).generation == 2
    assert embedder.embedded == []
    assert len(titles(data)) == 2


def test_a_second_indexer_is_refused_while_one_runs(courses: Path, data: Path) -> None:
    refused: list[str] = []

    def meanwhile(texts: Sequence[str]) -> None:
        with pytest.raises(KnowledgeError, match="another `antiphon index`") as raised:
            index_paths([courses], data, HashingEmbedder())
        refused.append(str(raised.value))

    index_paths([courses], data, HashingEmbedder(before=meanwhile))

    assert refused


def test_only_the_generation_in_use_and_the_one_before_are_kept(
    courses: Path, data: Path
) -> None:
    for turn in range(4):
        write_course(courses, "pear", extra=f"Turn {turn}.")
        index_paths([courses], data, HashingEmbedder())

    assert Generations(data).numbers() == [3, 4]
    assert not Generations(data).building.exists()


def test_the_error_names_a_data_folder_that_cannot_be_written(
    courses: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(KnowledgeError, match=r"cannot be written.*ANTIPHON_DATA_DIR"):
        index_paths([courses], tmp_path / "data", HashingEmbedder())


def test_hostile_titles_and_texts_are_only_text(tmp_path: Path, data: Path) -> None:
    title = "'); DROP TABLE chunks; -- \" NEAR * {}"
    (tmp_path / "courses").mkdir()
    (tmp_path / "courses/a.txt").write_text(
        f"Course Title: {title}\nLesson 1: ' OR 1=1\nRobert'); DROP TABLE words;--"
    )

    index_paths([tmp_path / "courses"], data, HashingEmbedder())
    library = Library.open(data, HashingEmbedder())

    assert [
        passage.course for passage in library.search('drop" OR "table', course=title)
    ] == [title]
    assert library.search("drop", course="x' OR '1'='1") == []
    library.close()


def test_a_course_goes_and_the_others_keep_their_passages(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())

    summary = remove_course("the APPLE course", data)

    library = Library.open(data, HashingEmbedder())
    found = library.search("pearmailbox1", limit=50)
    library.close()
    assert (counts(summary), summary.generation) == ((0, 1, 0, 1), 2)
    assert {passage.course for passage in found} == {"The Pear Course"}
    assert titles(data) == ["The Pear Course"]


def test_a_course_that_went_comes_back_when_its_file_is_indexed_again(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())
    remove_course("The Apple Course", data)

    summary = index_paths([courses], data, HashingEmbedder())

    assert counts(summary) == (1, 1, 0, 0)


def test_the_last_course_can_be_removed(courses: Path, data: Path) -> None:
    index_paths([courses / "pear.txt"], data, HashingEmbedder())

    summary = remove_course("The Pear Course", data)

    assert (titles(data), summary.chunks) == ([], 0)


def test_a_course_is_removed_beside_what_a_killed_run_left(
    courses: Path, data: Path
) -> None:
    index_paths([courses], data, HashingEmbedder())

    def die(_: Sequence[str]) -> None:
        raise KeyboardInterrupt

    write_course(courses, "pear", extra="And a new end.")
    write_course(courses, "plum")
    with pytest.raises(KeyboardInterrupt):
        index_paths([courses], data, HashingEmbedder(before=die))

    summary = remove_course("The Apple Course", data)

    assert counts(summary) == (0, 1, 0, 1)
    assert titles(data) == ["The Pear Course"]


@pytest.mark.parametrize("is_indexed", [True, False])
def test_a_course_that_is_not_there_cannot_be_removed(
    is_indexed: bool, courses: Path, data: Path
) -> None:
    if is_indexed:
        index_paths([courses], data, HashingEmbedder())

    with pytest.raises(NotFoundError):
        remove_course("The Plum Course", data)

    assert data.exists() == is_indexed


def test_indexing_with_only_drops_all_that_is_not_named(
    courses: Path, data: Path, tmp_path: Path
) -> None:
    write_course(tmp_path / "elsewhere", "plum")
    index_paths([courses, tmp_path / "elsewhere"], data, HashingEmbedder())

    summary = index_paths([courses], data, HashingEmbedder(), only=True)

    assert counts(summary) == (0, 2, 0, 1)
    assert titles(data) == ["The Apple Course", "The Pear Course"]


def test_a_mistyped_path_beside_only_removes_nothing(courses: Path, data: Path) -> None:
    index_paths([courses], data, HashingEmbedder())

    for paths in ([courses / "aple.txt"], [courses / "apple.txt", courses / "x.txt"]):
        with pytest.raises(KnowledgeError, match="nothing was removed"):
            index_paths(paths, data, HashingEmbedder(), only=True)

    assert titles(data) == ["The Apple Course", "The Pear Course"]


def test_the_size_of_the_index_in_use_is_that_of_its_files(
    courses: Path, data: Path
) -> None:
    assert index_size(data) == 0

    index_paths([courses], data, HashingEmbedder())

    catalogue = data / "knowledge/generations/1/catalogue.sqlite"
    assert index_size(data) > catalogue.stat().st_size > 0
