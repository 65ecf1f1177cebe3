"""What of a PDF is indexed, at the reader's door: its words in order, whole, and nothing that is no text."""

from __future__ import annotations

from pathlib import Path

import fpdf
import pytest

from antiphon.knowledge.naming import is_no_title
from antiphon.knowledge.parsing import parse_content
from antiphon.knowledge.readers import pdf
from antiphon.knowledge.readers.content import (
    Content,
    UnreadableError,
)
from antiphon.knowledge.values import Section
from tests.document_files import FIRST, SECOND
from tests.pdf_files import (
    NO_PAGE,
    PICTURE,
    font_of_codes,
    map_of,
    pdf_of_pages,
    text,
)

DATA = Path(__file__).parents[2] / "data"
MAPPED = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 4 0 R>>"
UNMAPPED_WORDS = (
    b"the log keeps every letter that was sent to a mailbox",
    b"and its readers remember how far they have come",
    b"so none of them is lost between two lighthouses",
    b"whoever comes later begins with the oldest entry",
    b"while somebody else still writes another message",
)
SHIFTED = [
    bytes(each - 29 if each > 32 else each for each in line) for line in UNMAPPED_WORDS
]
CODES = bytes(range(1, 20))


def words(content: Content) -> str:
    """All text, its lines joined by one space."""
    return " ".join(line.text for line in content.lines if line.text.strip())


def section(content: Content) -> Section:
    (only,) = parse_content(content).sections
    return only


def written(*pages: str) -> bytes:
    """A PDF as a library writes it, a line of text a line of the page."""
    document = fpdf.FPDF()
    document.set_font("Helvetica", size=12)
    for page in pages:
        document.add_page()
        document.multi_cell(0, text=page)
    return bytes(document.output())


def test_a_file_that_its_publisher_encrypted_and_everybody_may_read_is_read() -> None:
    content = pdf.read((DATA / "aes-empty-password.pdf").read_bytes())

    assert words(content) == "A publisher's file has no password for its readers."


FINE = text(FIRST.encode())
LOSSES = {
    "a broken page": ((FINE, NO_PAGE, FINE), ("page 2 could not be read",)),
    "pictures": (
        (FINE, PICTURE, PICTURE, b""),
        ("pages 2 and 3 are pictures without text",),
    ),
    "many pictures": (
        (FINE, *[PICTURE] * 5),
        ("5 pages are pictures without text",),
    ),
    "letters of no language": (
        (FINE, text(*SHIFTED)),
        ("text in a font without a map on page 2",),
    ),
    "words without spaces": (
        (FINE, *[text(*[f"{FIRST}{SECOND}".replace(" ", "").encode()] * 3)] * 4),
        ("words without spaces between them on 4 pages",),
    ),
    "names of glyphs": (
        (FINE, text(b"/G01/G02/G03/G14/G05", b"(cid:12)(cid:7)(cid:45) (cid:19)")),
        ("text in a font without a map on page 2",),
    ),
}


@pytest.mark.parametrize("kind", LOSSES)
def test_what_cannot_be_read_is_named_and_the_rest_is_indexed(kind: str) -> None:
    pages, losses = LOSSES[kind]

    content = pdf.read(pdf_of_pages(*pages))

    assert content.losses == losses
    assert set(words(content).split(FIRST)) <= {"", " "}
    assert [line.place for line in content.lines if line.place][-1] == (
        f"page {len(pages)}"
    )


def test_text_in_a_font_without_a_map_is_left_out_line_by_line() -> None:
    letters = {3: "\uf0b7"} | {code: chr(code) for code in range(32, 127)}
    page = text(b"Before it.", CODES, CODES[::-1], b"\x03 An item of a list.")

    content = pdf.read(pdf_of_pages(page, font=MAPPED, more=[map_of(letters)]))

    assert words(content) == "Before it. \u2022 An item of a list."
    assert content.losses == ("text in a font without a map on page 1",)


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ((PICTURE, PICTURE), "its pages are images; run text recognition"),
        ((text(CODES),), "have no map to letters; run text recognition"),
        ((b"", b"q Q"), "it holds no text$"),
        ((), "it holds no text$"),
        ((NO_PAGE, NO_PAGE), "none of its pages could be read"),
    ],
)
def test_a_file_of_which_nothing_is_left_is_refused_with_the_reason(
    pages: tuple[bytes, ...], reason: str
) -> None:
    with pytest.raises(UnreadableError, match=reason):
        pdf.read(pdf_of_pages(*pages, font=font_of_codes(30)))


@pytest.mark.parametrize(
    ("letters", "shown"),
    [
        (("\u0645", "\ufefb", "\u0633"), "\u0633\u0644\u0627\u0645"),
        (("\u0645", "\u0644\u0627", "\u0633"), "\u0633\u0644\u0627\u0645"),
        (("\u0645", "\u0644", "\u0627", "\u0633"), "\u0633\u0627\u0644\u0645"),
        (("e", "\ufb03", "cient"), "efficient"),
        (("\ufb01", "ne", " \u2126"), "fine \u2126"),
    ],
)
def test_a_sign_that_joins_letters_is_its_letters_in_their_order(
    letters: tuple[str, ...], shown: str
) -> None:
    codes = dict(enumerate(letters, start=1))
    page = pdf_of_pages(text(bytes(codes)), font=MAPPED, more=[map_of(codes)])

    assert words(pdf.read(page)) == shown


def test_words_are_made_whole_and_keep_the_hyphens_of_their_own() -> None:
    content = pdf.read(
        written(
            "The infor-\nmation is stored. A self-\npublishing house tells it-\nself of publishing.",
            "Publishing by one's self is self-evident; the years 1990-\n2000 are not.",
        )
    )

    assert words(content) == (
        "The information is stored. A self-publishing house tells itself of publishing. "
        "Publishing by one's self is self-evident; the years 1990-2000 are not."
    )


def test_titles_that_stand_on_every_page_are_said_once_and_page_numbers_never() -> None:
    pages = [
        f"Course notes\nPart {n // 5}\nText of page x{n}x.\n42\nEnd.\n{n} of 9"
        for n in range(9)
    ]

    lines = [line.text for line in pdf.read(written(*pages)).lines if line.text]

    assert lines.count("Course notes") == 1
    assert not [line for line in lines if line.endswith("of 9") and line[0] > "0"]
    assert [line for line in lines if line.startswith("Text")] == [
        f"Text of page x{n}x." for n in range(9)
    ]
    assert lines.count("42") == 9


def test_letters_that_one_reader_sets_apart_are_read_by_the_other() -> None:
    shown = [
        b"3 Tc ( %s) Tj 0 Tc (%s) Tj" % (word[:-1].encode(), word[-1].encode())
        for word in f"{SECOND} {FIRST} {SECOND}".split()
    ]

    content = pdf.read(pdf_of_pages(b"BT /F 6 Tf 9 700 Td %s ET" % b" ".join(shown)))

    assert words(content) == f"{SECOND} {FIRST} {SECOND}"
    assert content.losses == ()


NO_TITLES = (
    "untitled",
    "Untitled document",
    "(anonymous)",
    "Microsoft Word - Document1",
    "PowerPoint Presentation",
    "slides.dvi",
    "D:/Work_Projects/notes.dvi",
    "Screenshot 2025-07-29 at 00.15.56.png",
    "report_final_2",
    "88300 162..177",
    " ",
)


@pytest.mark.parametrize("title", NO_TITLES)
def test_what_a_program_wrote_in_the_place_of_a_title_is_none(title: str) -> None:
    document = fpdf.FPDF()
    document.set_title(title)
    document.set_font("Helvetica", size=12)
    document.add_page()
    document.write(text=FIRST)

    assert parse_content(pdf.read(bytes(document.output()))).title is None


@pytest.mark.parametrize(
    "title",
    [
        "Node.js",
        "Notes on asp.net",
        "1984",
        "C++",
        "2001: A Space Odyssey",
        "Document design",
    ],
)
def test_a_title_that_people_wrote_is_one(title: str) -> None:
    assert not is_no_title(title)


def test_the_outline_names_the_places_of_the_text_below_it() -> None:
    document = fpdf.FPDF()
    document.set_font("Helvetica", size=12)
    document.add_page()
    document.start_section("1. Letters")
    document.write(text=f"Letters\n{FIRST}\n")
    document.start_section("Receivers", level=1)
    document.write(text="Receivers\nOne reads them.")
    document.add_page()
    document.write(text="More of it.")
    document.add_page()
    document.start_section("2. Lighthouses")
    document.write(text=SECOND)

    read = section(pdf.read(bytes(document.output())))

    assert [(mark.place, mark.heading) for mark in read.marks] == [
        ("page 1", "1. Letters"),
        ("page 1", "Receivers"),
        ("page 2", "Receivers"),
        ("page 3", "2. Lighthouses"),
    ]


def test_a_chapter_whose_title_is_no_text_takes_the_pages_from_nobody() -> None:
    document = fpdf.FPDF()
    document.set_font("Helvetica", size=12)
    for title, said in (("Broken", FIRST), ("Whole", SECOND)):
        document.add_page()
        document.start_section(title)
        document.write(text=said)
    # Half of a letter of UTF-16, as long as what stood there.
    data = bytes(document.output()).replace(b"/Title (Broken)", b"/Title<FEFFD80>")

    read = section(pdf.read(data))

    assert [(mark.place, mark.heading) for mark in read.marks] == [
        ("page 1", ""),
        ("page 2", "Whole"),
    ]
