"""Reads PDF: the text of each page, under the chapters of its outline, without repeating running titles."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from antiphon.knowledge.naming import is_no_title
from antiphon.knowledge.readers.archives import not_a
from antiphon.knowledge.readers.content import (
    BLANK,
    LONGEST_TITLE,
    Content,
    Line,
    UnreadableError,
    content_of,
)
from antiphon.knowledge.readers.pdf_pages import HYPHEN, Chapter, Page, read_pdf

# Data of a mail or web server may precede the mark.
_HEAD_BYTES = 1_024
# A line is a running title if it is among the outermost lines of this many pages, and of a third of all, because left
# and right pages have different ones.
_FEWEST_REPEATS = 4
_EDGE_LINES = 2
_DIGITS = re.compile(r"[0-9]+")
_DIVIDED = re.compile(rf"(\w{{1,50}}){HYPHEN}(?=(\w{{1,50}}))")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"\w+(?:-\w+)*")
_LONG_PART = 4
_FEW_PAGES = 3
_LEAST_TITLE = 6
# More titles than this on one page are no real outline.
_MOST_TITLES = 50


def read(data: bytes) -> Content:
    """Reads a PDF; its places are pages, counted from 1 as in viewers and `#page=`."""
    if b"%PDF-" not in data[:_HEAD_BYTES]:
        raise not_a("a PDF file", data)
    found = read_pdf(data)
    _check_text(found.pages)
    texts = _whole_words([page.text for page in found.pages])
    pages = [[line.strip() for line in text.split("\n")] for text in texts]
    lines = _lines(pages, found.outline)
    title = None if is_no_title(found.title) else found.title
    return content_of(lines, {}, title, _losses(found.pages))


def _check_text(pages: Sequence[Page]) -> None:
    if any(page.text.strip() for page in pages):
        return
    if any(page.is_garbled or page.is_run_together for page in pages):
        why = "the fonts of its text have no map to letters"
    elif any(page.is_picture for page in pages):
        why = "its pages are images"
    elif any(page.is_unread for page in pages):
        raise UnreadableError("it is broken: none of its pages could be read")
    else:
        raise UnreadableError("it holds no text")
    raise UnreadableError(
        f"it holds no text: {why}; run text recognition (OCR) over it first"
    )


def _losses(pages: Sequence[Page]) -> Iterator[str]:
    """Describes the parts of the pages that are not in the text."""
    unread = [page.is_unread for page in pages]
    if any(unread):
        yield f"{_named(unread)} could not be read"
    garbled = [page.is_garbled for page in pages]
    if any(garbled):
        yield f"text in a font without a map on {_named(garbled)}"
    together = [page.is_run_together for page in pages]
    if any(together):
        yield f"words without spaces between them on {_named(together)}"
    pictures = [page.is_picture for page in pages]
    if any(pictures):
        are = "is a picture" if sum(pictures) == 1 else "are pictures"
        yield f"{_named(pictures)} {are} without text"


def _named(flags: Sequence[bool]) -> str:
    """Names the pages with a flag, or counts them."""
    numbers = [str(at) for at, flag in enumerate(flags, start=1) if flag]
    if len(numbers) == 1:
        return f"page {numbers[0]}"
    if len(numbers) > _FEW_PAGES:
        return f"{len(numbers)} pages"
    return f"pages {', '.join(numbers[:-1])} and {numbers[-1]}"


def _lines(
    pages: Sequence[Sequence[str]], outline: Iterable[Chapter] = ()
) -> list[Line]:
    pages = _said_once(pages)
    titles = defaultdict(list)
    for chapter in outline:
        titles[chapter.page].append(chapter.title)
    lines: list[Line] = []
    for number, page in enumerate(pages, start=1):
        place = Line("", place=f"page {number}", fragment=f"page={number}")
        headings = _headings(page, titles[number])
        lines.append(place._replace(heading=headings.pop(-1, "")))
        for at, text in enumerate(page):
            if at not in headings:
                lines.append(Line(text))
                continue
            heading = place._replace(heading=headings[at])
            lines += [BLANK, heading, Line(text), BLANK]
    return lines


def _headings(texts: Sequence[str], titles: Sequence[str]) -> dict[int, str]:
    """Returns the line of a page for each title; at -1 the first title that is on no line."""
    found: dict[int, str] = {}
    if not titles:
        return found
    lines = [_plain(text) for text in texts]
    start = 0
    for title in titles[:_MOST_TITLES]:
        wanted = _plain(title)
        for at in range(start, len(lines)):
            if _is_title(lines[at], wanted):
                found[at] = title
                start = at + 1
                break
        else:
            found.setdefault(-1, title)
    return found


def _is_title(line: str, title: str) -> bool:
    """Returns True if a line is the title, its beginning, or the title with its number."""
    if len(line) < _LEAST_TITLE:
        return line == title
    return title.startswith(line) or line.endswith(title)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text[:LONGEST_TITLE].casefold()))


def _said_once(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """Keeps only the first of equal running titles, and removes page numbers."""
    running = _running_lines(pages)
    said: set[str] = set()
    kept_pages = []
    for page in pages:
        edges = _edges(page)
        kept = []
        for at, line in enumerate(page):
            shape = _shape(line)
            if at not in edges or shape not in running:
                kept.append(line)
            elif shape not in said and _LETTER.search(shape):
                said.add(shape)
                kept.append(line)
        kept_pages.append(kept)
    return kept_pages


def _running_lines(pages: Sequence[Sequence[str]]) -> set[str]:
    """Finds titles and page numbers at the top or the bottom of many pages."""
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_shape(page[at]) for at in _edges(page)})
    fewest = max(_FEWEST_REPEATS, len(pages) // 3)
    return {shape for shape, count in counts.items() if count >= fewest}


def _edges(page: Sequence[str]) -> set[int]:
    """Returns the indexes of a page's outermost lines that are not blank; none if it has few lines."""
    full = [at for at, line in enumerate(page) if line]
    count = min(_EDGE_LINES, len(full) // 4)
    return {*full[:count], *full[len(full) - count :]}


def _shape(line: str) -> str:
    """Returns a line without the parts that differ from page to page."""
    return _DIGITS.sub("#", line)


def _whole_words(texts: list[str]) -> list[str]:
    """Rejoins words divided at the ends of lines.

    They keep a real hyphen, as in "self-publishing", if the document has both parts as words but not the whole.
    """
    if not any(HYPHEN in text for text in texts):
        return texts
    known: set[str] = set()
    for text in texts:
        known.update(_WORD.findall(_DIVIDED.sub(" ", text).lower()))

    def whole(found: re.Match[str]) -> str:
        head, tail = found.groups()
        parts = {head.lower(), tail.lower()}
        if f"{head}{tail}".lower() in known:
            return head
        is_hyphenated = f"{head}-{tail}".lower() in known
        are_words = len(head) >= _LONG_PART and parts <= known
        if is_hyphenated or are_words or not f"{head[-1]}{tail[0]}".islower():
            return f"{head}-"
        return head

    return [_DIVIDED.sub(whole, text).replace(HYPHEN, "-") for text in texts]
