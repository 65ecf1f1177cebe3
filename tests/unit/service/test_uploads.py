"""Files that callers send: their names, what is refused, and what is undone."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from antiphon.service import SentFile
from antiphon.service.uploads import (
    MOST_FILE_BYTES,
    Upload,
    kept_path,
    remove_document,
)


def sent(name: str, content: bytes = b"text") -> SentFile:
    return SentFile(name=name, content=io.BytesIO(content))


def upload(data_dir: Path, *files: SentFile) -> Upload:
    """An upload that has taken the files in."""
    made = Upload(data_dir)
    made.receive(files)
    return made


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("notes.txt", "notes.txt"),
        ("course/01-logs.md", "course/01-logs.md"),
        ("C:\\Users\\me\\notes.txt", "C_/Users/me/notes.txt"),
        ("../../etc/passwd.txt", "etc/passwd.txt"),
        ("/etc/passwd.txt", "etc/passwd.txt"),
        (".hidden.txt", "hidden.txt"),
        ("a/./b/../c.txt", "a/b/c.txt"),
        ("con\x00trol\x1b[31m\u202etxt.exe.txt", "control[31mtxt.exe.txt"),
        ("a/b/c/d/e/f.txt", "b/c/d/e/f.txt"),
        ("x" * 400 + ".txt", "x" * 116 + ".txt"),
        ("ü" * 400 + ".md", "ü" * 58 + ".md"),
        ("a\u0308.txt", "ä.txt"),
    ],
)
def test_a_name_is_kept_as_far_as_it_is_harmless(name: str, kept: str) -> None:
    assert str(kept_path(name)) == kept


@pytest.mark.parametrize("name", ["", "/", "..", "a/..", "folder/", " . ", "\x00"])
def test_what_is_no_name_is_refused(name: str) -> None:
    assert kept_path(name) is None


def test_a_file_of_no_known_format_and_one_that_is_too_large_are_refused(
    tmp_path: Path,
) -> None:
    made = upload(
        tmp_path,
        sent("run.sh"),
        sent("large.txt", b"x" * (MOST_FILE_BYTES + 1)),
        sent("good.txt"),
        sent("good.txt"),
        sent(".."),
    )

    assert made.names == ("good.txt",)
    assert [(each.name, each.reason.split(":")[0]) for each in made.refused] == [
        ("run.sh", "it is in no format that can be read"),
        ("large.txt", "it is larger than 30 MB"),
        ("good.txt", "another file of this name came with it"),
        ("..", "it has no name that a file can be kept under"),
    ]


def test_files_are_placed_for_the_owner_alone(tmp_path: Path) -> None:
    made = upload(tmp_path, sent("a/b.txt"))

    made.place()

    kept = tmp_path / "documents" / "a" / "b.txt"
    assert kept.read_bytes() == b"text"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_file_that_could_not_be_read_is_taken_back_and_the_one_before_it_returns(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "old.txt").write_text("before")
    made = upload(
        tmp_path, sent("old.txt", b"broken"), sent("new/x.txt"), sent("y.txt")
    )
    made.place()

    results = made.results(
        [
            (str(folder / "old.txt"), f"the same title as {folder}/y.txt"),
            (str(folder / "new"), "no text"),
        ]
    )

    assert [(each.name, each.status, each.reason) for each in results] == [
        ("old.txt", "refused", "the same title as y.txt"),
        ("new/x.txt", "refused", "no text"),
        ("y.txt", "added", ""),
    ]
    assert (folder / "old.txt").read_text() == "before"
    assert not (folder / "new").exists()
    assert (folder / "y.txt").exists()


def test_a_file_that_was_read_in_part_says_what_is_missing(tmp_path: Path) -> None:
    made = upload(tmp_path, sent("a.pdf"), sent("b.pdf"))
    made.place()

    results = made.results(
        [], [(str(tmp_path / "documents" / "a.pdf"), "page 14 could not be read")]
    )

    assert [(each.name, each.status, each.reason) for each in results] == [
        ("a.pdf", "added", "page 14 could not be read"),
        ("b.pdf", "added", ""),
    ]


def test_the_same_file_again_is_unchanged_and_a_run_undone_leaves_it(
    tmp_path: Path,
) -> None:
    first = upload(tmp_path, sent("a.txt"))
    first.place()
    first.close()
    again = upload(tmp_path, sent("a.txt"), sent("b.txt"))
    again.place()

    status = [each.status for each in again.results([])]
    again.undo()
    again.close()

    assert status == ["unchanged", "added"]
    assert [path.name for path in (tmp_path / "documents").iterdir()] == ["a.txt"]
    assert list((tmp_path / ".incoming").iterdir()) == []


def test_a_file_where_a_folder_is_wanted_is_refused_and_nothing_else(
    tmp_path: Path,
) -> None:
    made = upload(tmp_path, sent("a.md"), sent("a.md/b.md"), sent("c.md"))

    assert made.names == ("a.md", "c.md")
    assert made.refused[0].reason.startswith("it could not be stored")


def test_only_what_a_caller_has_added_is_deleted_with_its_course(
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("mine")
    upload(tmp_path, sent("a/b.txt"), sent("c.txt")).place()
    folder = (tmp_path / "documents").resolve()

    for path in (elsewhere.resolve(), folder / "a" / "b.txt", folder, folder / ".."):
        remove_document(path, tmp_path)

    assert elsewhere.exists()
    assert [path.name for path in folder.iterdir()] == ["c.txt"]


def test_a_course_of_numbered_files_is_deleted_without_what_lies_beside_it(
    tmp_path: Path,
) -> None:
    upload(tmp_path, sent("01-a.md"), sent("02-b.vtt"), sent("c.txt")).place()
    folder = tmp_path / "documents"

    remove_document(folder, tmp_path)

    assert [path.name for path in folder.iterdir()] == ["c.txt"]


def test_a_course_of_folders_is_deleted_whole_and_its_neighbour_stays(
    tmp_path: Path,
) -> None:
    names = ("c/README.md", "c/1-a/README.md", "c/2-b/README.md", "c/words.md")
    upload(tmp_path, *map(sent, names), sent("d.md")).place()
    folder = (tmp_path / "documents").resolve()

    remove_document(folder / "c", tmp_path)

    assert [path.name for path in folder.iterdir()] == ["d.md"]
