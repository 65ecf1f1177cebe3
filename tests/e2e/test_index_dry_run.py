"""`antiphon index --dry-run` and its patterns: the tree before anything is indexed, and only wanted files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.conftest import Shell


def write_course_of_folders(folder: Path) -> None:
    files = {
        "README.md": "# Birds\n\nAll about birds.",
        "LICENSE.md": "Do as you please.",
        "00-start/README.md": "# Where to begin\n\nLook up.",
        "01-flight/README.md": "# Chapter 1: Flight\n\nWings lift.",
        "01-flight/notes.md": "# Gliding\n\nAlbatrosses glide.",
        "drafts/later.md": "# Later\n\nNot yet.",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def test_a_dry_run_shows_courses_lessons_files_and_what_is_left_out_and_writes_nothing(
    shell: Shell, tmp_path: Path
) -> None:
    write_course_of_folders(tmp_path / "birds")
    data = tmp_path / "data"

    run = shell.run("index", "--dry-run", "birds", data_dir=data, folder=tmp_path)

    assert run.returncode == 0, run.stderr
    assert f"Birds (2 lessons): {tmp_path / 'birds'}" in run.stdout
    assert "0  Where to begin  <- 00-start/README.md" in run.stdout
    assert "1  Flight  <- 01-flight/README.md, 01-flight/notes.md" in run.stdout
    assert "outside lessons: README.md, drafts/later.md" in run.stdout
    assert "left out, a licence: LICENSE.md" in run.stdout
    assert "1 course, 2 lessons, 1 file left out." in run.stdout
    assert not data.exists()


def test_patterns_choose_files_and_the_lessons_are_asked_about_by_their_own_numbers(
    shell: Shell, tmp_path: Path
) -> None:
    write_course_of_folders(tmp_path / "birds")
    data = tmp_path / "data"
    patterns = ("--exclude", "drafts", "--include", "*.md")

    run = shell.run("index", *patterns, "birds", data_dir=data, folder=tmp_path)

    assert run.returncode == 0, run.stderr
    assert "left out: 2 files" in run.stderr
    found = shell.run(
        "search", "albatrosses", "--lesson", "1", data_dir=data, folder=tmp_path
    )
    assert "Albatrosses glide." in found.stdout
    assert (
        "Not yet."
        not in shell.run("search", "not yet", data_dir=data, folder=tmp_path).stdout
    )


def test_a_pattern_that_fits_no_file_indexes_nothing_and_says_so(
    shell: Shell, tmp_path: Path
) -> None:
    write_course_of_folders(tmp_path / "birds")

    run = shell.run(
        *("index", "--include", "*.pdf", "birds"),
        data_dir=tmp_path / "data",
        folder=tmp_path,
    )

    assert run.returncode == 1
    assert "no --include fits it" in run.stderr


def test_a_corrected_layout_is_followed_until_it_is_forgotten(
    shell: Shell, tmp_path: Path
) -> None:
    write_course_of_folders(tmp_path / "birds")
    data = tmp_path / "data"

    def run(*arguments: str) -> str:
        done = shell.run(*arguments, data_dir=data, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    shown = run("courses", "layout", "birds")
    merged = shown.replace("title: Flight", "title: How they fly")
    merged = merged.replace("leave_out: []", "leave_out: [drafts/*]")
    (tmp_path / "mine.yaml").write_text(merged)
    run("courses", "layout", "birds", "--save", "mine.yaml")

    corrected = run("index", "--dry-run", "birds")

    assert "title: Flight" in shown
    assert "1  How they fly  <- 01-flight/README.md, 01-flight/notes.md" in corrected
    assert "left out, `leave_out` of its layout: later.md" in corrected
    run("index", "birds")
    assert "How they fly" in run("courses", "--json")
    run("courses", "layout", "birds", "--forget")
    run("index", "birds")
    assert "How they fly" not in run("courses", "--json")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("lessons: [nothing.md]\n", "'nothing.md'"),
        ("lessons: [01-flight, nothing.md]\n", "'nothing.md'"),
        ("lessons: [01-flight\n", "not well-formed YAML (line 2"),
        ("title: Birds\n", "no list `lessons`"),
    ],
)
def test_a_layout_that_cannot_be_followed_is_not_stored(
    text: str, why: str, shell: Shell, tmp_path: Path
) -> None:
    write_course_of_folders(tmp_path / "birds")
    (tmp_path / "mine.yaml").write_text(text)

    run = shell.run(
        *("courses", "layout", "birds", "--save", "mine.yaml"),
        data_dir=tmp_path / "data",
        folder=tmp_path,
    )

    assert run.returncode == 1
    assert "The layout was not stored" in run.stderr
    assert why in run.stderr
    assert not (tmp_path / "data" / "layouts").exists()


def test_a_course_yaml_with_a_mistake_is_named(shell: Shell, tmp_path: Path) -> None:
    write_course_of_folders(tmp_path / "birds")
    (tmp_path / "birds" / "course.yaml").write_text("lessons: [01-fligth]\n")

    run = shell.run("index", "birds", data_dir=tmp_path / "data", folder=tmp_path)

    assert run.returncode == 0
    assert "course.yaml: its `lessons` name what is no document" in run.stderr
    assert "'01-fligth'" in run.stderr
