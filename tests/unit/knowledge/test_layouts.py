"""Folders as people lay out courses: which courses and lessons come of each, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from antiphon.knowledge.finding import FoundFiles, find_files
from antiphon.knowledge.loading import load_changed, load_document, stamp_of
from tests.hostile_files import YAML_BOMBS
from tests.layouts import LAYOUTS, Laid, Lessons, made


def lay(folder: Path, laid: Laid) -> FoundFiles:
    files = laid.files
    if isinstance(files, str):
        files = {path: made(path) for path in files.split()}
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text or made(path))
    return find_files([folder], [])


def courses(found: FoundFiles) -> dict[str, Lessons]:
    """Reads the courses of several files: their titles and lessons."""
    read: dict[str, Lessons] = {}
    for course in found.courses:
        document = load_document(course.path, course)
        lessons = [
            (section.number, section.title)
            for section in document.sections
            if section.number is not None
        ]
        read[document.title] = lessons
    return read


@pytest.mark.parametrize("name", LAYOUTS)
def test_courses_and_lessons_are_those_that_a_reader_would_name(
    name: str, tmp_path: Path
) -> None:
    laid = LAYOUTS[name]
    folder = tmp_path / "folder"

    found = lay(folder, laid)

    assert courses(found) == laid.courses
    left_out = {str(Path(path).relative_to(folder)) for path, _ in found.left_out}
    assert set(laid.left_out.split()) <= left_out
    of_courses = {course.path for course in found.courses}
    documents = {
        str(Path(path).relative_to(folder))
        for path in found.files
        if path not in of_courses
    }
    assert documents == set(laid.documents.split())


def test_what_is_left_out_says_why(tmp_path: Path) -> None:
    found = lay(tmp_path, LAYOUTS["numbered folders with a README"])

    reasons = {
        str(Path(path).relative_to(tmp_path)): why for path, why in found.left_out
    }
    assert reasons["LICENSE.md"] == "a licence"
    assert reasons["requirements.txt"] == "a list of packages"
    assert reasons["01-steps/translations/pt-br/README.md"] == "a translation"


def test_files_of_one_lesson_are_read_in_order_and_named_where_they_are_cited(
    tmp_path: Path,
) -> None:
    laid = Laid(
        {
            "README.md": "# Course",
            "1-a/README.md": "# One\n\nFirst.",
            "1-a/extra.md": "# Extra\n\n## Deep\n\nSecond.",
            "2-b/README.md": "# Two",
            "GLOSSARY.md": "# Words\n\nThird.",
        },
        {},
    )
    [course] = lay(tmp_path, laid).courses

    outside, first, _ = load_document(course.path, course).sections

    assert (first.title, first.text) == ("One", "First.\n\nSecond.")
    [mark] = first.marks
    assert (mark.place, first.text[mark.start :]) == ("Extra, Deep", "Second.")
    assert (outside.number, outside.text, outside.marks[-1].place) == (
        None,
        "Third.",
        "Words",
    )


def test_a_file_that_cannot_be_read_is_named_and_the_rest_of_its_course_is_there(
    tmp_path: Path,
) -> None:
    laid = Laid({"1-a.md": "# One\n\nFirst.", "2-b.ipynb": "{"}, {})
    [course] = lay(tmp_path, laid).courses

    loaded = load_changed(course.path, None, course)

    assert [Path(path).name for path, _ in loaded.unread] == ["2-b.ipynb"]
    document = loaded.document
    assert document is not None
    assert [section.title for section in document.sections] == ["One", "b"]
    assert "2-b.ipynb could not be read" in document.losses[0]
    again = load_changed(course.path, document.content_hash, course)
    assert again.document is None
    assert again.unread == loaded.unread


def test_another_title_or_order_is_another_document(tmp_path: Path) -> None:
    laid = LAYOUTS["course.yaml"]
    [course] = lay(tmp_path, laid).courses
    before = load_document(course.path, course)
    plan = tmp_path / "course.yaml"
    plan.write_text(plan.read_text().replace("The end", "An end"))

    [changed] = find_files([tmp_path], []).courses

    assert stamp_of(course.path, course) != stamp_of(changed.path, changed)
    assert load_document(changed.path, changed).content_hash != before.content_hash


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mkdocs.yml", "nav: [" * 5_000),
        ("mkdocs.yml", YAML_BOMBS["lists"]),
        ("_config.yml", YAML_BOMBS["merged"]),
        ("mkdocs.yml", YAML_BOMBS["endless"]),
        ("mkdocs.yml", "nav: !!python/object/apply:os.system ['touch /tmp/x']\n"),
        ("_toctree.yml", "- local: ../../../etc/passwd\n- local: /etc/passwd\n"),
        ("book.toml", "[["),
        ("sidebars.json", '{"a": "' + "x" * 100_000),
        ("course.yaml", "- 1\n- 2\n"),
        ("_config.yml", "collections: 7\n"),
    ],
)
def test_a_broken_or_hostile_table_of_contents_is_none(
    name: str, text: str, tmp_path: Path
) -> None:
    found = lay(tmp_path, Laid({name: text, "a.md": "", "b.md": ""}, {}))

    assert found.courses == ()
    assert [Path(path).name for path in found.files] == ["a.md", "b.md"]


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        ("title: All: about logs\nlessons: [a.md]\n", "line 1: mapping values"),
        ("lessons: [a.md, b.md\n", "not well-formed YAML (line 2"),
        ("\0", "not well-formed YAML"),
        (YAML_BOMBS["merged"], "its aliases (`*name`) repeat more than 100,000"),
        ("title: T\n", "no list `lessons`"),
        ("lesson: [a.md]\n", "no list `lessons`"),
        ("lessons: {a.md: A}\n", "no list `lessons`"),
        ("lessons: [a.md, bb.md]\n", "no document of its folder: 'bb.md'"),
        ("lessons: [bb.md: B, a.md]\n", "'bb.md: B'"),
        ("lessons: [{lesson: 2, files: [a.md, bb.md]}]\n", "'bb.md'"),
        ("lessons: [a.md, 3, ../../etc/passwd]\n", "'3', '../../etc/passwd'"),
    ],
)
def test_what_cannot_be_followed_in_a_course_yaml_is_named(
    text: str, flaw: str, tmp_path: Path
) -> None:
    found = lay(tmp_path, Laid({"course.yaml": text, "a.md": "", "b.md": ""}, {}))

    [(path, reason)] = found.failed
    assert path == str(tmp_path / "course.yaml")
    assert flaw in reason


def test_a_course_yaml_of_which_all_is_followed_is_not_named(tmp_path: Path) -> None:
    text = "lessons: [{a.md: A}, {title: B, files: [b.md, c]}, {Part: [d.md]}]\n"
    files = {"course.yaml": text, "a.md": "", "b.md": "", "c/x.md": "", "d.md": ""}

    found = lay(tmp_path, Laid(files, {}))

    assert (found.failed, found.skipped) == ((), ())


def test_a_number_that_no_lesson_has_is_counted(tmp_path: Path) -> None:
    text = f"lessons: [{{lesson: 1, file: a.md}}, {{lesson: {10**20}, file: b.md}}]"
    files = {"course.yaml": text, "a.md": "", "b.md": ""}

    [course] = lay(tmp_path, Laid(files, {})).courses

    assert [lesson.number for lesson in course.lessons] == [1, 2]
