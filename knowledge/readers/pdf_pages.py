"""Reads the text of each page of a PDF with pdfium, and with pypdf the pages that pdfium fails on or reads as garbage.

pdfium is faster by far, knows every encryption, and puts in the spaces that a page shows.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import pypdf
import pypdfium2
from pypdf.errors import DependencyError, FileNotDecryptedError, PyPdfError
from pypdfium2 import raw

from antiphon.knowledge.readers.content import UnreadableError
from antiphon.knowledge.readers.legible import Legible, legible
from antiphon.knowledge.readers.plain_text import clean, one_line

MOST_PAGES = 5_000
_MOST_CHAPTERS = 10_000
_ENCRYPTED = "it is encrypted; save it again without a password"
# pypdf may take a second a page, so after this many useless tries it is not used again.
_MOST_IN_VAIN = 5
# It must be better by this factor, because rereading a page in another order has no value by itself.
_BETTER = 1.02
# A picture of words is an image, or drawn with many lines.
_FEWEST_STROKES = 50
_LINE_END_HYPHEN = re.compile(r"(?<=\w)[-\u00ad\u2010]\n(?=\w)")
HYPHEN = "\ufffe"
"""pdfium's mark for a word divided at the end of a line, in place of the line break."""
_JOINED_LETTERS = re.compile("[\ufb00-\ufb06\ufb13-\ufb17\ufb50-\ufdfb\ufe70-\ufefc]+")
# Alef and lam, in pdfium's order for their ligature; the article is spelled the same way.
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627]\u0644")


class Page(NamedTuple):
    """One page.

    Attributes:
        text: Its legible lines.
        is_unread: Neither reader could read it.
        is_garbled: True if text was left out because its font has no map to letters.
        is_run_together: True if text was left out because its words have no spaces between them.
        is_picture: True if it shows something but holds no text.
    """

    text: str = ""
    is_unread: bool = False
    is_garbled: bool = False
    is_run_together: bool = False
    is_picture: bool = False


class Chapter(NamedTuple):
    """An entry of the document's own outline, and its target page, counted from 1."""

    title: str
    page: int


class PdfText(NamedTuple):
    """The content of a PDF."""

    pages: list[Page]
    title: str = ""
    outline: tuple[Chapter, ...] = ()


class _Read(NamedTuple):
    """pdfium's result for a page: None if it cannot read it, and whether the page shows anything."""

    text: str | None
    has_text: bool = False
    is_shown: bool = False


def read_pdf(data: bytes) -> PdfText:
    """Reads the pages of a PDF.

    Raises:
        UnreadableError: It is encrypted, has too many pages, or neither reader can open it.
    """
    second = _Second(data)
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            raise UnreadableError(_ENCRYPTED) from error
        return PdfText(second.pages(), second.title())
    try:
        count = len(document)
        _check_count(count)
        second.expect(count)
        pages = [
            _page(_pdfium_page(document, number), number, second)
            for number in range(count)
        ]
        return PdfText(pages, _title(document), tuple(_outline(document)))
    finally:
        document.close()


def _check_count(count: int) -> None:
    if count > MOST_PAGES:
        raise UnreadableError(
            f"it has {count} pages; at most {MOST_PAGES} are read: split it"
        )


def _pdfium_page(document: pypdfium2.PdfDocument, number: int) -> _Read:
    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return _Read(None)
    try:
        found = page.get_textpage()
        text = _in_reading_order(found, found.get_text_range())
        found.close()
        if text.strip():
            return _Read(text)
        return _shown(page)
    except pypdfium2.PdfiumError:
        return _Read(None)
    finally:
        page.close()


def _shown(page: pypdfium2.PdfPage) -> _Read:
    """Describes a page without text."""
    strokes = 0
    for each in islice(page.get_objects(max_depth=3), 10 * _FEWEST_STROKES):
        if each.type == raw.FPDF_PAGEOBJ_TEXT:
            return _Read("", has_text=True, is_shown=True)
        strokes += each.type == raw.FPDF_PAGEOBJ_PATH
        if each.type == raw.FPDF_PAGEOBJ_IMAGE or strokes > _FEWEST_STROKES:
            return _Read("", is_shown=True)
    return _Read("")


def _in_reading_order(page: pypdfium2.PdfTextPage, text: str) -> str:
    """Reverses letters that pdfium writes backwards: the two of an Arabic ligature, which have the same place."""
    if _ALEF_LAM.search(text) is None:
        return text
    letters = list(text)
    for found in _ALEF_LAM.finditer(text):
        at = found.start()
        first = raw.FPDFText_GetCharIndexFromTextIndex(page, at)
        last = raw.FPDFText_GetCharIndexFromTextIndex(page, at + 1)
        if min(first, last) >= 0 and page.get_charbox(first) == page.get_charbox(last):
            letters[at : at + 2] = letters[at + 1], letters[at]
    return "".join(letters)


def _page(read: _Read, number: int, second: _Second) -> Page:
    """Chooses the better of the two readers' results for a page."""
    found = _judged(read.text) if read.text is not None else None
    if found is None or found.is_doubtful or read.has_text:
        other = second.page(number)
        if other is not None and _is_better(other, found):
            second.was_of_use()
            found = other
    if found is None:
        return Page(is_unread=True)
    return Page(
        text=found.text,
        is_garbled=found.is_garbled,
        is_run_together=found.is_run_together,
        is_picture=read.is_shown and not found.text.strip(),
    )


def _is_better(other: Legible, found: Legible | None) -> bool:
    return found is None or other.letters > _BETTER * found.letters


def _judged(text: str) -> Legible:
    marked = _LINE_END_HYPHEN.sub(HYPHEN, text.replace("\r\n", "\n"))
    found = legible(marked)
    # A search does not recognise the letters in ligatures.
    letters = _JOINED_LETTERS.sub(_apart, found.text)
    return found._replace(text=clean(letters))


def _apart(found: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", found.group())


class _Second:
    """The second reader, opened on demand."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._document: pypdf.PdfReader | None = None
        self._in_vain = 0
        self._count: int | None = None

    def expect(self, count: int) -> None:
        """Notes the number of pages: if the two readers count differently, their page numbers do not match."""
        self._count = count

    def page(self, number: int) -> Legible | None:
        """Returns its text of a page; None if it cannot read it, or has been useless too often."""
        if self._in_vain == _MOST_IN_VAIN:
            return None
        self._in_vain += 1
        try:
            pages = self._opened().pages
            if self._count is not None and len(pages) != self._count:
                return None
            return _judged(pages[number].extract_text())
        except Exception:  # noqa: BLE001 - an exception of a library about a broken file is no bug of ours
            return None

    def was_of_use(self) -> None:
        self._in_vain = 0

    def pages(self) -> list[Page]:
        """Returns all pages of a document that the first reader cannot open.

        Raises:
            UnreadableError: This one cannot open it either.
        """
        try:
            count = len(self._opened().pages)
        except (FileNotDecryptedError, DependencyError) as error:
            raise UnreadableError(_ENCRYPTED) from error
        except PyPdfError as error:
            raise UnreadableError(f"it is broken: {error}") from error
        _check_count(count)
        pages = []
        for number in range(count):
            self.was_of_use()
            pages.append(_page(_Read(None), number, self))
        return pages

    def title(self) -> str:
        try:
            about = self._opened().metadata
        except PyPdfError:
            return ""
        return one_line(about.title) if about and about.title else ""

    def _opened(self) -> pypdf.PdfReader:
        if self._document is None:
            document = pypdf.PdfReader(io.BytesIO(self._data))
            # Many are encrypted with an empty password, which every viewer tries.
            if document.is_encrypted and not document.decrypt(""):
                raise UnreadableError(_ENCRYPTED)
            self._document = document
        return self._document


def _title(document: pypdfium2.PdfDocument) -> str:
    try:
        return one_line(document.get_metadata_value("Title"))
    except UnicodeDecodeError:
        return ""


def _outline(document: pypdfium2.PdfDocument) -> Iterator[Chapter]:
    for entry in islice(document.get_toc(), _MOST_CHAPTERS):
        try:
            title = one_line(entry.get_title())
        except UnicodeDecodeError:
            # A single invalid title must not cost the reader the pages.
            continue
        target = entry.get_dest()
        page = None if target is None else target.get_index()
        if title and page is not None:
            yield Chapter(title, page + 1)
