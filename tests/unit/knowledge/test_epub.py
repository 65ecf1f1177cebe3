"""EPUB books: their chapters in order, and what is none of them."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest

from antiphon.knowledge.readers import epub
from antiphon.knowledge.readers.content import UnreadableError
from tests.document_files import FIRST, SECOND
from tests.document_files import epub as book

CONTAINER = "META-INF/container.xml"
ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"'
    ' xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
    '<e:EncryptionMethod Algorithm="{}"/></e:EncryptedData></encryption>'
)
NCX = (
    '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Old letters</text>'
    '</navLabel><content src="text/a.xhtml"/></navPoint></navMap></ncx>'
)


def changed(**entries: str | None) -> bytes:
    """The book with other entries; None takes one out."""
    with zipfile.ZipFile(BytesIO(book())) as archive:
        found = {name: archive.read(name).decode() for name in archive.namelist()}
    file = BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in {**found, **entries}.items():
            if text is not None:
                archive.writestr(name, text)
    return file.getvalue()


def package() -> str:
    with zipfile.ZipFile(BytesIO(book())) as archive:
        return archive.read("book/p.opf").decode()


def test_chapters_are_read_in_order_with_titles_of_their_own_or_of_the_contents() -> (
    None
):
    content = epub.read(book())

    assert (content.title, content.instructor) == ("Mailboxes", "Ada")
    assert [(line.level, line.text) for line in content.lines if line.text] == [
        (1, "Letters"),
        (0, FIRST),
        (1, "Lighthouses"),
        (2, "Protocols"),
        (0, SECOND),
    ]


def test_an_older_book_has_its_contents_in_another_form() -> None:
    item = '<item id="n" href="toc.ncx" media-type="application/x-dtbncx+xml"/><item id="x"'
    older = package().replace('<item id="n"', item, 1)

    lines = epub.read(changed(**{"book/p.opf": older, "book/toc.ncx": NCX})).lines

    assert "Old letters" in [line.text for line in lines if line.level == 1]


def test_lists_of_a_books_parts_are_no_text_and_its_imprint_is() -> None:
    contents = '<section epub:type="toc"><h2>Contents</h2><p>Protocols</p></section>'
    imprint = '<section epub:type="imprint"><h2>Imprint</h2><p>Printed.</p></section>'
    pages = f"<html><body>{contents}{imprint}</body></html>"

    lines = epub.read(changed(**{"book/text/a.xhtml": pages})).lines

    assert [line.text for line in lines if line.text][:2] == ["Imprint", "Printed."]
    assert "Contents" not in [line.text for line in lines]


def test_scrambled_fonts_keep_nobody_from_reading() -> None:
    fonts = ENCRYPTION.format("http://www.idpf.org/2008/embedding")

    assert epub.read(changed(**{"META-INF/encryption.xml": fonts})).title == "Mailboxes"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (changed(**{"META-INF/encryption.xml": ENCRYPTION.format("http://x/aes128-cbc")}), "protected by its seller"),
        (changed(**{CONTAINER: None}), "is not an EPUB book"),
        (changed(**{CONTAINER: "<container/>"}), "names no list of its chapters"),
        (changed(**{CONTAINER: "no"}), "broken"),
        (changed(**{"book/p.opf": None}), "names no list of its chapters"),
        (changed(**{"book/text/b.xhtml": "<div>" * 5_000 + "deep"}), "nested too deeply"),
        (b"%PDF-1.4", "looks like a PDF file"),
    ],
)  # fmt: skip
def test_what_is_no_readable_book_is_refused_with_the_reason(
    data: bytes, reason: str
) -> None:
    with pytest.raises(UnreadableError, match=reason):
        epub.read(data)
