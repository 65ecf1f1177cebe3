"""When a folder is a course, and what its lessons are then."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.knowledge.finding import find_files
from antiphon.knowledge.loading import load_document, settled_stamp
from antiphon.knowledge.values import Document


def write(folder: Path, files: dict[str, str]) -> str:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return str(folder)


def load_course(folder: str) -> Document:
    """Reads the one course that a folder is."""
    [course] = find_files([folder], []).courses
    return load_document(course.path, course)


def test_numbered_files_are_the_lessons_of_one_course(tmp_path: Path) -> None:
    folder = write(
        tmp_path / "log-course",
        {
            "index.md": "---\ntitle: All about logs\nlink: https://a.example\n---\nWelcome.",
            "01-start.md": "# Lesson 1: The start\nA.",
            "02-the_end.vtt": "WEBVTT\n\n00:00.000 --> 00:02.000\nBye.",
            "notes.txt": "Apart.",
        },
    )

    found = find_files([folder], [])
    document = load_course(folder)

    assert found.files == (folder, f"{folder}/notes.txt")
    assert (document.title, document.link) == ("All about logs", "https://a.example")
    assert [(each.number, each.title, each.text) for each in document.sections] == [
        (None, "", "Welcome."),
        (1, "The start", "A."),
        (2, "the end", "Bye."),
    ]
    assert document.sections[2].marks[0].place == "at 0:00"


def test_a_course_without_a_file_about_it_is_named_after_its_folder(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "log-course", {"1.md": "A.", "2.md": "B."})

    assert load_course(folder).title == "log course"


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


def test_a_changed_lesson_changes_its_course(tmp_path: Path) -> None:
    folder = write(tmp_path / "course", {"1.md": "A.", "2.md": "B."})
    before = load_course(folder)
    write(tmp_path / "course", {"2.md": "C."})

    assert load_course(folder).content_hash != before.content_hash


def test_what_was_written_a_moment_ago_is_not_known_by_its_times(
    tmp_path: Path,
) -> None:
    folder = write(tmp_path / "course", {"1.md": "A."})

    assert settled_stamp(f"{folder}/1.md") == ""
