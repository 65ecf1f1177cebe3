"""Course scripts as they really come."""

from __future__ import annotations

from antiphon.knowledge.joining import join_lines
from antiphon.knowledge.parsing import parse_content, parse_script
from antiphon.knowledge.readers import Content, Line, content_of


def test_text_before_the_first_lesson_is_kept_outside_the_lessons() -> None:
    script = parse_script("Course Title: A\nAbout this course.\nLesson 1: B\nText.")

    assert [(one.number, one.text) for one in script.sections] == [
        (None, "About this course."),
        (1, "Text."),
    ]


def joined(text: str) -> str:
    return join_lines(text.split("\n"))


def test_code_stays_as_it_is() -> None:
    assert (
        joined("Run:\n```\na = 1\n    b = 2\n```\nDone.")
        == "Run:\n```\na = 1\n    b = 2\n```\nDone."
    )


def test_a_heading_that_is_not_the_title_stands_over_its_text() -> None:
    lines = [Line("Let's swim", level=1), Line("The lake is warm.")]

    other = parse_content(Content(lines=lines, title="Ducks"))
    same = parse_content(Content(lines=lines, title="Let's Swim"))

    assert other.title == "Ducks"
    assert [mark.heading for mark in other.sections[0].marks] == ["Let's swim"]
    assert [section.marks for section in same.sections] == [()]


def test_a_heading_too_long_for_one_is_text() -> None:
    receipt = content_of([Line("one ball " * 50, level=2), Line("Thank you.")], {})

    (section,) = parse_content(receipt).sections

    assert section.text.count("one ball") == 50
