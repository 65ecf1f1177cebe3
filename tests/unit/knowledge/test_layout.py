"""When a folder is a course, and what its lessons are then."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.knowledge.finding import find_files
from antiphon.knowledge.loading import settled_stamp


def write(folder: Path, files: dict[str, str]) -> str:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return str(folder)


@pytest.mark.parametrize(
    "names",
    [
        ["01-a.md"],
        ["01-a.md", "02-b.md", "notes.md"],
        ["01-a.md", "01-b.md"],
        ["2019-a.md", "2020-b.md"],
        ["5-a.md", "6-b.md"],
        ["01-a.txt", "02-b.txt"],
    ],
)
def test_any_other_folder_is_a_folder_of_documents(
    names: list[str], tmp_path: Path
) -> None:
    folder = write(tmp_path / "folder", dict.fromkeys(names, "Text."))

    assert find_files([folder], []).courses == ()


def test_course_scripts_are_courses_of_their_own(tmp_path: Path) -> None:
    folder = write(tmp_path / "folder", {"1.md": "Course Title: A\n\nX.", "2.md": "Y."})

    assert find_files([folder], []).courses == ()


def test_what_was_written_a_moment_ago_is_not_known_by_its_times(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "course", {"1.md": "A."})

    assert settled_stamp(f"{folder}/1.md") == ""
