"""Files that can be read, and what is said of those that cannot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from antiphon.knowledge.loading import content_hash, load_document
from antiphon.knowledge.readers.content import UnreadableError
from antiphon.knowledge.readers.plain_text import decode
from antiphon.vocabulary.errors import DocumentError


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("empty.txt", b"", "no text"),
        ("blank.txt", b" \r\n\t\n", "no text"),
        ("header.txt", b"Course Title: A\nLesson 1: B\n", "no text"),
        ("image.txt", b"\x89PNG\0\0", "binary"),
        ("slides.key", b"x", "ends in none of .txt, .md"),
        ("script.pdf", b"%PDF-1.7", "broken"),
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
        file.truncate(50_000_001)

    with pytest.raises(DocumentError, match="larger than 50 MB"):
        load_document(str(tmp_path / "huge.txt"))


def test_the_hash_follows_the_bytes() -> None:
    assert content_hash(b"a") == content_hash(b"a") != content_hash(b"b")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "NUL"),
        (bytes(range(1, 32)) * 20, "control characters"),
        (b"\xff\xfea", "UTF-16"),
    ],
)
def test_bytes_that_are_no_text_are_refused_with_the_reason(
    data: bytes, reason: str
) -> None:
    with pytest.raises(UnreadableError, match=reason):
        decode(data)
