"""Files that can be read, and what is said of those that cannot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antiphon.knowledge import loading
from antiphon.knowledge.loading import content_hash, load_document
from antiphon.vocabulary.errors import DocumentError


def test_a_document_without_a_title_is_named_after_its_file(tmp_path: Path) -> None:
    (tmp_path / "deep_water-diving.txt").write_text("Text.")

    assert load_document(str(tmp_path / "deep_water-diving.txt")).title == "deep water diving"


def test_a_single_line_of_27000_characters_is_read_whole(tmp_path: Path) -> None:
    line = "A sentence of some words. " * 1_040
    (tmp_path / "long.txt").write_text(f"Lesson 1: Long\n{line}")

    assert load_document(str(tmp_path / "long.txt")).sections[0].text == line.strip()


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.txt", b"", "no text"),
        ("blank.txt", b" \r\n\t\n", "no text"),
        ("header.txt", b"Course Title: A\nLesson 1: B\n", "no text"),
        ("image.txt", b"\x89PNG\0\0", "binary"),
        ("script.pdf", b"%PDF-1.7", "only .txt and .md"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_reason(
    tmp_path: Path, name: str, data: bytes, reason: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)

    with pytest.raises(DocumentError, match=reason) as raised:
        load_document(str(path))

    assert raised.value.path == str(path)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="cannot be read: No such file"):
        load_document(str(tmp_path / "none.txt"))


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")

    with pytest.raises(DocumentError, match="not a regular file"):
        load_document(str(tmp_path / "pipe.txt"))


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.txt").open("wb") as file:
        file.truncate(loading.LARGEST_BYTES + 1)

    with pytest.raises(DocumentError, match="larger than 50 MB"):
        load_document(str(tmp_path / "huge.txt"))


def test_the_hash_follows_the_bytes() -> None:
    assert content_hash(b"a") == content_hash(b"a") != content_hash(b"b")
