"""Handwritten PDF files that no library would produce: broken pages, fonts without a map, glyphs of several letters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
NO_PAGE = b"(this is no page)"


def pdf_of_objects(objects: Sequence[bytes]) -> bytes:
    """A PDF of these objects; the first is its root."""
    body = b"%PDF-1.4\n"
    places = []
    for number, each in enumerate(objects, start=1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        table += b"%010d 00000 n \n" % place
    trailer = b"trailer\n<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF"
    return body + table + trailer % (len(objects) + 1, len(body))


def pdf_of_pages(
    *contents: bytes, font: bytes = HELVETICA, more: Sequence[bytes] = ()
) -> bytes:
    """A PDF of pages with these contents; `/F` is the font, and `more` holds the objects from number 4 on.

    A page may be `NO_PAGE`.
    """
    numbers = count(4 + len(more))
    pages: list[bytes] = []
    objects: list[bytes] = []
    for content in contents:
        number = next(numbers)
        pages.append(b"%d 0 R" % number)
        if content == NO_PAGE:
            objects.append(content)
            continue
        objects.append(
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F 3 0 R>>>>/Contents %d 0 R>>"
            % next(numbers)
        )
        objects.append(_stream(content))
    tree = b"<</Type/Pages/Kids[%s]/Count %d>>" % (b" ".join(pages), len(pages))
    root = b"<</Type/Catalog/Pages 2 0 R>>"
    return pdf_of_objects([root, tree, font, *more, *objects])


def text(*lines: bytes) -> bytes:
    """The content of a page with these lines; escapes everything except letters and spaces."""
    shown = b" T* ".join([b"<%s> Tj" % line.hex().encode() for line in lines])
    return b"BT /F 12 Tf 14 TL 72 700 Td %s ET" % shown


PICTURE = b"q 200 0 0 200 72 400 cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q"
"""The content of a page that consists of a picture."""


def font_of_codes(codes: int) -> bytes:
    """A font with this many codes, from 1 on, that maps none to a letter."""
    names = b"".join([b"/g%d" % code for code in range(1, codes + 1)])
    return (
        b"<</Type/Font/Subtype/Type1/BaseFont/ABCDEF+Own/Encoding<</Type/Encoding/Differences[1%s]>>>>"
        % names
    )


def map_of(codes: dict[int, str]) -> bytes:
    """The stream in which a font maps its codes to letters."""
    rows = b"\n".join(
        [
            b"<%02x> <%s>" % (code, letters.encode("utf-16-be").hex().encode())
            for code, letters in codes.items()
        ]
    )
    return _stream(
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n"
        b"1 begincodespacerange <00> <ff> endcodespacerange\n%d beginbfchar\n%s\nendbfchar\nendcmap end end"
        % (len(codes), rows)
    )


def _stream(content: bytes) -> bytes:
    return b"<</Length %d>>stream\n%s\nendstream" % (len(content), content)
