"""Word documents (.docx): paragraphs by their styles, lists and tables."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import docx
from docx.document import Document
from docx.table import Table
from docx.text.paragraph import Paragraph

from antiphon.knowledge.readers.archives import check_office_file
from antiphon.knowledge.readers.content import BLANK, Content, Line, content_of
from antiphon.knowledge.readers.plain_text import clean, one_line

_HEADING = re.compile(r"heading ([1-9])$", re.IGNORECASE)


def read(data: bytes) -> Content:
    """Reads a Word document; a place is the heading above, for the file knows no pages."""
    check_office_file("a Word document", data, "word/document.xml")
    document = docx.Document(io.BytesIO(data))
    # A title on the page is the author's; that of the properties is often the template's.
    titles: list[str] = []
    lines = list(_lines(document, titles))
    properties = document.core_properties
    values = {"title": "".join(titles[:1])}
    # What wrote the file stands there too; "python-docx" is nobody's teacher, so the author is not taken.
    return content_of(lines, values, clean(properties.title).strip() or None)


def _lines(document: Document, titles: list[str]) -> Iterator[Line]:
    for block in document.iter_inner_content():
        if isinstance(block, Paragraph):
            yield from _paragraph(block, titles)
        else:
            yield from _table(block)


def _paragraph(paragraph: Paragraph, titles: list[str]) -> Iterator[Line]:
    text = clean(_visible_text(paragraph))
    style: str = getattr(paragraph.style, "name", None) or ""
    heading = _HEADING.match(style)
    if heading is not None:
        yield Line(" ".join(text.split()), level=int(heading.group(1)))
    elif style == "Title" and not titles and text.strip():
        titles.append(text)
    elif style.startswith("List"):
        yield Line(f"- {' '.join(text.split())}")
    else:
        for line in text.split("\n"):
            yield Line(line)
        # Between the items of a list there is none.
        yield BLANK


def _visible_text(paragraph: Paragraph) -> str:
    """Returns a paragraph without what is marked as hidden: no reader of the document sees it."""
    text = paragraph.text
    for run in paragraph.runs:
        if run.font.hidden:
            text = text.replace(run.text, "", 1)
    return text


def _table(table: Table) -> Iterator[Line]:
    yield BLANK
    for row in table.rows:
        cells: list[str] = []
        for cell in row.cells:
            text = one_line(cell.text)
            # A cell that spans several columns is there once for each.
            if not cells or cells[-1] != text:
                cells.append(text)
        yield Line(f"| {' | '.join(cells)} |")
    yield BLANK
