"""Tables: a long one is cut into passages, and each row still says what its columns are."""

from __future__ import annotations

from antiphon.knowledge.chunking import chunk_section
from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers import Content, Line
from antiphon.knowledge.values import Document, Section
from tests.fakes_knowledge import HashingEmbedder


def section_of(*lines: Line | str) -> Section:
    made = [line if isinstance(line, Line) else Line(line) for line in lines]
    (section,) = parse_content(Content(lines=made)).sections
    return section


def places(section: Section) -> list[tuple[str, str]]:
    return [(section.text[mark.start :].partition("\n")[0], mark.place) for mark in section.marks]  # fmt: skip


def test_rows_stand_under_their_header_and_what_follows_does_not() -> None:
    section = section_of(
        "Prices:", "", "| Type | Price |", "| Hemp | 9 |", "| Wire | 4 |", "", "They rise."
    )  # fmt: skip

    assert section.text == (
        "Prices:\n\n| Type | Price |\n|---|---|\n| Hemp | 9 |\n| Wire | 4 |\n\nThey rise."
    )
    assert places(section) == [("| Hemp | 9 |", "Type | Price"), ("They rise.", "")]


def test_a_page_or_a_heading_is_named_before_the_columns_and_again_behind_the_table() -> (
    None
):
    section = section_of(
        Line("", place="page 3", fragment="page=3"),
        *("| a | b |", "|---|:-:|", "| 1 | 2 |", "Behind."),
    )

    assert section.text.count("|---|:-:|") == 1
    assert places(section) == [
        ("| a | b |", "page 3"),
        ("| 1 | 2 |", "page 3: a | b"),
        ("Behind.", "page 3"),
    ]


def test_one_row_alone_and_code_are_no_tables() -> None:
    section = section_of("| a | b |", "", Line("| c |", is_code=True), Line("| d |", is_code=True))  # fmt: skip

    assert "---" not in section.text
    assert section.marks == ()


def test_a_header_and_the_dashes_below_it_are_one_sentence() -> None:
    rows = [f"| Rope {number} | {number} euro |" for number in range(60)]
    section = section_of("| Type | Price |", *rows)
    document = Document(path="/a", content_hash="", title="T", sections=(section,))

    chunks = chunk_section(document, section, HashingEmbedder())

    assert len(chunks) > 1
    assert chunks[0].sentences[0] == "| Type | Price |\n|---|---|"
    sentences = [each for chunk in chunks for each in chunk.sentences]
    assert sentences[1:] == rows
