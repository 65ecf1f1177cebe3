"""PDF: the text of each page, without the lines that stand on all of them."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence

import pypdf
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError

from antiphon.knowledge.readers.archives import not_a
from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    UnreadableError,
    content_of,
)
from antiphon.knowledge.readers.plain_text import clean

MOST_PAGES = 5_000
# The mark may stand behind what a mail or web server put before it.
_HEAD_BYTES = 1_024
# A line is a running title where it is the first or last one on so many pages, and on half of all.
_FEWEST_REPEATS = 4
_DIGITS = re.compile(r"[0-9]+")
_ENCRYPTED = "it is encrypted; save it anew without a password"


def read(data: bytes) -> Content:
    """Reads a PDF; a place is its page, counted from 1 as viewers and `#page=` do."""
    if b"%PDF-" not in data[:_HEAD_BYTES]:
        raise not_a("a PDF file", data)
    try:
        return _read(data)
    except (FileNotDecryptedError, DependencyError) as error:
        raise UnreadableError(_ENCRYPTED) from error
    except PyPdfError as error:
        raise UnreadableError(f"it is broken: {error}") from error


def _read(data: bytes) -> Content:
    document = pypdf.PdfReader(io.BytesIO(data))
    # Many are encrypted with an empty password, which every viewer tries.
    if document.is_encrypted and not document.decrypt(""):
        raise UnreadableError(_ENCRYPTED)
    about = document.metadata
    title = clean(about.title) if about and about.title else None
    return content_of(_lines(_pages(document)), {}, title)


def _pages(document: pypdf.PdfReader) -> list[list[str]]:
    """Returns the lines of each page."""
    count = len(document.pages)
    if count > MOST_PAGES:
        raise UnreadableError(
            f"it has {count} pages; at most {MOST_PAGES} are read: split it"
        )
    pages = []
    is_blank = True
    for page in document.pages:
        text = clean(page.extract_text())
        is_blank = is_blank and not text.strip()
        pages.append([line.strip() for line in text.split("\n")])
    if is_blank and count:
        raise UnreadableError(
            "it holds no text: its pages are images; run text recognition (OCR) over it first"
        )
    return pages


def _lines(pages: Sequence[Sequence[str]]) -> list[Line]:
    running = _running_lines(pages)
    lines: list[Line] = []
    for number, page in enumerate(pages, start=1):
        lines.append(Line("", place=f"page {number}", fragment=f"page={number}"))
        for text in page:
            if _shape(text) not in running:
                lines.append(Line(text))
    return _without_hyphens(lines)


def _running_lines(pages: Sequence[Sequence[str]]) -> set[str]:
    """Finds titles and page numbers that stand at the top or the bottom of most pages."""
    counts: Counter[str] = Counter()
    for page in pages:
        full = [line for line in page if line]
        edges = {*full[:1], *full[-1:]}
        counts.update({_shape(line) for line in edges})
    fewest = max(_FEWEST_REPEATS, len(pages) // 2)
    return {shape for shape, count in counts.items() if count >= fewest}


def _shape(line: str) -> str:
    """Returns a line without what differs from page to page."""
    return _DIGITS.sub("#", line)


def _without_hyphens(lines: Sequence[Line]) -> list[Line]:
    """Joins words that a line's end divides."""
    joined: list[Line] = []
    for line in lines:
        before = joined[-1] if joined else BLANK
        divided = len(before.text) > 1 and before.text[-2].isalpha()
        if divided and before.text.endswith("-") and line.text[:1].islower():
            head, _, rest = line.text.partition(" ")
            joined[-1] = before._replace(text=before.text[:-1] + head)
            line = line._replace(text=rest)
        joined.append(line)
    return joined
