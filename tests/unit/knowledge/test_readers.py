"""Each format's own ways of saying what is a title, a lesson, text and a place."""

from __future__ import annotations

import json
import time

import pytest

from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers import (
    cues,
    markdown,
    notebook,
    plain_text,
    web_page,
)
from antiphon.knowledge.readers.content import Content, UnreadableError
from antiphon.knowledge.readers.formats import format_of, formats, read_content
from antiphon.knowledge.values import Parts
from tests.document_files import MADE


def lessons(parts: Parts) -> list[tuple[int | None, str, str]]:
    return [(each.number, each.title, each.text) for each in parts.sections]


def read_markdown(text: str) -> Parts:
    return parse_content(markdown.read(text.encode()))


@pytest.mark.parametrize("suffix", MADE)
def test_every_format_is_read_as_the_same_course(suffix: str) -> None:
    form = format_of(f"course{suffix}")

    assert form is not None
    assert parse_content(read_content(form, MADE[suffix]())).title == "Mailboxes"


def test_every_format_has_a_document_that_the_tests_make() -> None:
    assert {form.suffixes[0] for form in formats()} == set(MADE)


def test_a_missing_package_is_named_with_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = format_of("a.pdf")
    assert form is not None
    absent = form.__class__(
        name="PDF", suffixes=(".pdf",), reader=("not_there", "read"), places="page"
    )

    with pytest.raises(UnreadableError, match=r"pip install -e '\.\[documents\]'"):
        read_content(absent, b"%PDF-")


def test_front_matter_speaks_for_a_markdown_file() -> None:
    parts = read_markdown(
        "---\ntitle: Logs\nurl: https://a.example/\nauthor: Ada\n---\nText."
    )

    assert (parts.title, parts.link, parts.instructor) == (
        "Logs",
        "https://a.example/",
        "Ada",
    )
    assert lessons(parts) == [(None, "", "Text.")]


def test_the_only_first_heading_is_the_title_and_those_below_are_lessons() -> None:
    parts = read_markdown("# Course\nIntro.\n\n## One\nA.\n\n## Two\nB.")

    assert parts.title == "Course"
    assert lessons(parts) == [(None, "", "Intro."), (1, "One", "A."), (2, "Two", "B.")]


def test_several_first_headings_are_lessons_with_their_own_numbers() -> None:
    parts = read_markdown("# Week 3: Logs\nA.\n\n# Week 5: Queues\nB.")

    assert parts.title is None
    assert lessons(parts) == [(3, "Logs", "A."), (5, "Queues", "B.")]


def test_lines_that_call_themselves_lessons_come_before_headings() -> None:
    parts = read_markdown("# Course\n\n## Before\nX.\n\n### Lesson 4: Logs\nA.")

    assert [(each.number, each.title) for each in parts.sections] == [
        (None, ""),
        (4, "Logs"),
    ]


def test_a_heading_is_a_place_over_its_text_and_not_in_it() -> None:
    parts = read_markdown("# C\n\n## One\nA.\n\n### Deep\nB.\n\nC.")

    (section,) = parts.sections
    (mark,) = section.marks
    assert section.text == "A.\n\nB.\n\nC."
    assert (section.text[mark.start :], mark.place) == ("B.\n\nC.", "Deep")


def test_markup_goes_and_the_shape_of_lists_tables_and_code_stays() -> None:
    parts = read_markdown(
        "A *very* [long](https://a.example) `list`:\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n"
        "```\n# no heading\n```\n<!-- hidden --><b>End</b>"
    )

    assert parts.sections[0].text == (
        "A very long list:\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\n# no heading\n```\n\nEnd"
    )


def test_a_comment_that_does_not_end_hides_the_rest_and_takes_no_time() -> None:
    started = time.process_time()

    lines = markdown.read(b"# C\n\nSeen.\n\n" + b"<!--" * 200_000).lines

    assert [line.text for line in lines if line.text.strip()] == ["C", "Seen."]
    # A minute, where each beginning looked for its end.
    assert time.process_time() - started < 10


def test_words_in_angle_brackets_are_text_and_tags_of_html_are_not() -> None:
    data = (
        b"# The <unk> token\n\nRun git checkout <branch>, a <b>List</b><T>.<br>Then <s> ends </s>.<!-- gone -->\n\n"
        b"<your-name>\nis yours\n\n<div class=x>In <unk> <p>a box</div>\n\n<script>\nevil()\n</script>\n"
    )

    lines = markdown.read(data).lines

    assert [" ".join(line.text.split()) for line in lines if line.text.strip()] == [
        "The <unk> token",
        "Run git checkout <branch>, a List<T>.",
        "Then <s> ends </s>.",
        "<your-name>",
        "is yours",
        "In <unk> a box",
    ]


def test_a_page_has_neither_menu_nor_script_and_its_headings_lead_to_anchors() -> None:
    page = (
        b"<title>T</title><link rel=canonical href=https://a.example/p><nav>Menu</nav>"
        b"<h1>Course</h1><h2 id=one>One</h2><p>First<br>line. <b>Bold</b> tail.</p><script>x</script>tail"
        b"<ul><li>a</li><li>b</li></ul><table><tr><th>x</th><td>y</td></tr></table><pre>  code\n    more</pre>"
    )

    parts = parse_content(web_page.read(page))

    assert (parts.title, parts.link) == ("Course", "https://a.example/p")
    assert parts.sections[0].link == "https://a.example/p#one"
    assert lessons(parts) == [
        (
            1,
            "One",
            "First line. Bold tail.\n\ntail\n- a\n- b\n\n| x | y |\n\n```\n  code\n    more\n```",
        )
    ]


def test_only_the_main_part_of_a_page_is_read() -> None:
    page = b"<h1>The site</h1><main><h1>Course</h1><p>Text.</p></main><p>Cookies?</p>"

    parts = parse_content(web_page.read(page))

    assert (parts.title, parts.sections[0].text) == ("Course", "Text.")


def test_a_page_in_another_encoding_is_read_as_it_says() -> None:
    page = "<meta charset=koi8-r><p>Привет</p>".encode("koi8-r")

    assert parse_content(web_page.read(page)).sections[0].text == "Привет"


def test_captions_that_roll_up_say_each_line_once_and_nothing_of_their_markup() -> None:
    content = cues.read_vtt(
        b"WEBVTT\n\nNOTE made by hand\n\n00:01.000 --> 00:03.000\n<v Ada>One <i>line</i>\n\n"
        b"00:03.000 --> 00:05.000\nOne line\nand more.\n\n01:00:05.000 --> 01:00:09.000\nLate."
    )

    (section,) = parse_content(content).sections
    assert section.text == "One line\n\nand more. Late."
    assert [mark.place for mark in section.marks] == ["at 0:01", "at 1:00:05"]


def test_a_transcript_may_name_its_lessons_and_their_links() -> None:
    content = cues.read_vtt(
        b"WEBVTT\n\nNOTE\nCourse Title: Logs\nLesson 1: Start\nLesson Link: https://a.example/1\n\n"
        b"00:00.000 --> 00:04.000\nHello.\n\nNOTE Lesson 2: End\n\n02:05.000 --> 02:09.000\nBye."
    )

    parts = parse_content(content)

    assert lessons(parts) == [(1, "Start", "Hello."), (2, "End", "Bye.")]
    assert parts.sections[0].marks[0].link == "https://a.example/1#t=0"
    assert [mark.place for mark in parts.sections[1].marks] == ["at 2:05"]


def test_an_old_notebook_is_read_too() -> None:
    sheet = {"cells": [{"cell_type": "code", "input": ["x = 1"]}]}
    data = json.dumps({"worksheets": [sheet]}).encode()

    assert parse_content(notebook.read(data)).sections[0].text == "```\nx = 1\n```"


def test_chinese_lines_are_joined_without_a_space() -> None:
    parts = parse_content(plain_text.read("你好、\n世界。".encode()))

    assert parts.sections[0].text == "你好、世界。"


def test_no_content_has_no_section() -> None:
    assert parse_content(Content(lines=[])).sections == ()
