"""Course scripts as they really come."""

from __future__ import annotations

import pytest

from antiphon.knowledge.joining import join_lines
from antiphon.knowledge.parsing import parse_content, parse_script
from antiphon.knowledge.readers import Content, Line, content_of

SCRIPT = """Course Title: Practical Search
Course Link: https://example.org/search
Course Instructor: Ada Byron

Lesson 0: Introduction
Lesson Link: https://example.org/search/0
Welcome to the
course. It is short.

It has two paragraphs.

Lesson 1: Ranking
No link here.
"""


def test_header_lessons_links_and_text_are_read() -> None:
    script = parse_script(SCRIPT)

    assert (script.title, script.link, script.instructor) == (
        "Practical Search",
        "https://example.org/search",
        "Ada Byron",
    )
    assert [(one.number, one.title, one.link) for one in script.sections] == [
        (0, "Introduction", "https://example.org/search/0"),
        (1, "Ranking", None),
    ]


def test_hard_wrapped_lines_are_joined_and_paragraphs_kept() -> None:
    assert (
        parse_script(SCRIPT).sections[0].text
        == "Welcome to the course. It is short.\n\nIt has two paragraphs."
    )


def test_a_text_without_lessons_is_one_section_without_a_number() -> None:
    script = parse_script("Just some notes.\nOn two lines.")

    assert script.title is None
    assert [(one.number, one.text) for one in script.sections] == [
        (None, "Just some notes. On two lines.")
    ]


def test_text_before_the_first_lesson_is_kept_outside_the_lessons() -> None:
    script = parse_script("Course Title: A\nAbout this course.\nLesson 1: B\nText.")

    assert [(one.number, one.text) for one in script.sections] == [
        (None, "About this course."),
        (1, "Text."),
    ]


def test_markdown_headings_are_headings() -> None:
    script = parse_script(
        "# Course Title: A\n\n## Lesson 2: **Bold** ideas\n\n**Lesson Link:** https://a.example/2\n\nText."
    )

    assert script.title == "A"
    assert script.sections[0].number == 2
    assert script.sections[0].link == "https://a.example/2"


@pytest.mark.parametrize(
    "link",
    ["javascript:alert(1)", "file:///etc/passwd", "https://a b", "", "//host/path"],
)
def test_only_web_addresses_are_links(link: str) -> None:
    script = parse_script(
        f"Course Title: A\nCourse Link: {link}\nLesson 1: B\nLesson Link: {link}\nText."
    )

    assert script.link is None
    assert script.sections[0].link is None
    assert script.sections[0].text == "Text."


def test_a_line_too_long_for_a_heading_is_text_and_nothing_of_it_is_lost() -> None:
    line = "Lesson 1: " + "many words " * 2_500

    script = parse_script(line)

    assert [(one.number, one.text) for one in script.sections] == [(None, line.strip())]


def test_a_sentence_that_speaks_of_a_lesson_opens_none() -> None:
    script = parse_script(
        "Lesson 1: A\nAs we saw in\nlesson 3 the index grows.\nLesson 12345: is no lesson."
    )

    assert [one.number for one in script.sections] == [1]


def test_a_course_line_far_down_is_text() -> None:
    text = "\n\n".join(["Text."] * 20) + "\n\nCourse Title: not a header"

    assert parse_script(text).title is None


def joined(text: str) -> str:
    return join_lines(text.split("\n"))


def test_list_items_keep_their_lines_and_take_their_wrapped_ends() -> None:
    assert (
        joined("Two things:\n- one that\n  goes on\n- two\n\nAfter.")
        == "Two things:\n- one that goes on\n- two\n\nAfter."
    )


def test_code_stays_as_it_is() -> None:
    assert (
        joined("Run:\n```\na = 1\n    b = 2\n```\nDone.")
        == "Run:\n```\na = 1\n    b = 2\n```\nDone."
    )


def test_headings_and_tables_are_not_run_into_the_text() -> None:
    assert (
        joined("# Title\nText\nmore\n| a | b |\n| 1 | 2 |")
        == "# Title\nText more\n| a | b |\n| 1 | 2 |"
    )


def test_blank_lines_are_one_between_paragraphs_and_none_at_the_ends() -> None:
    assert joined("\n\n a \n \n\n\n b\n\n") == "a\n\nb"


def test_of_a_file_of_headings_alone_these_are_the_text() -> None:
    headings = [("Subjects", 1), ("Anchors", 2), ("Ropes", 2), ("Hemp", 3)]
    lines = [Line(text, level=level) for text, level in headings]

    parts = parse_content(Content(lines=lines))

    (section,) = parts.sections
    assert parts.title == "Subjects"
    assert section.text == "Subjects\n\nAnchors\n\nRopes\n\nHemp"
    assert (
        parse_content(Content(lines=[Line(""), Line("", place="page 1")])).sections
        == ()
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
