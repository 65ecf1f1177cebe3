"""The table of contents that people write into a README: links to the files of the lessons, or headings of lectures."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token

from antiphon.knowledge.layout.listing import Listing, is_text
from antiphon.knowledge.layout.numbers import number_of_title
from antiphon.knowledge.naming import is_title

FEWEST_LECTURES = 3
_MOST_LINKS = 3_000
_MOST_PARTS = 14
_ANCHOR = re.compile(
    r"""<a\s[^<>]{0,300}?href=["']([^"']{1,500})["'][^<>]{0,300}>([^<>]{0,200})""", re.I
)
_HTML_HEADING = re.compile(r"<h[12]\b[^<>]{0,200}>(.{1,400}?)</h[12]>", re.I | re.S)
_TAG = re.compile(r"<[^<>]{0,300}>")
_GENERIC = re.compile(
    r"(click )?(here|link|lesson|notebook|slides?|video|readme|code|more|details|more details|read( more)?|view|open"
    r"|start|go|notes?|pdf|html|source|learn( more)?|solution|exercises?|homework|assignment|nbviewer|colab|lab)",
    re.IGNORECASE,
)
_NO_WORDS = re.compile(r"[^\w]*")


class Link(NamedTuple):
    """A link of a README to a document of its folder.

    Attributes:
        title: Empty where its text says nothing of what it leads to.
        heading: The numbered heading under which it stands, such as "Week 3: Trees"; empty under none.
    """

    title: str
    file: str
    heading: str = ""


class Contents(NamedTuple):
    """What a README tells of the course's order."""

    title: str = ""
    links: tuple[Link, ...] = ()
    lectures: tuple[int, ...] = ()

    @property
    def holds_lectures(self) -> bool:
        """Returns True if the lessons themselves stand in it, each under its heading."""
        return len(set(self.lectures)) >= FEWEST_LECTURES


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")


def contents_of(listing: Listing, folder: str) -> Contents:
    """Reads the page about a folder: its links to documents, once each, in their order; of several the fullest."""
    found = [_contents(listing, page) for page in listing.abouts(folder)]
    fullest = max(found, key=lambda each: len(each.links), default=Contents())
    titles = [each.title for each in found if each.title]
    return fullest._replace(title=titles[0] if titles else "")


def _contents(listing: Listing, path: str) -> Contents:
    text = listing.text(path)
    if is_text(path):
        tokens = [Token("html_block", "", 0, content=text)]
    elif path.lower().endswith((".md", ".markdown", ".mdx")):
        tokens = _parser().parse(text)
    else:
        return Contents()
    reading = _Reading(listing, path)
    for shown, target, level in _lines(tokens):
        if level:
            reading.heading(shown, level)
        else:
            reading.link(shown, target)
    return reading.contents()


class _Reading:
    """What was read of a README so far."""

    def __init__(self, listing: Listing, path: str) -> None:
        self._listing = listing
        self._path = path
        self._title = ""
        self._heading = ""
        self._lectures: list[int] = []
        self._links: dict[str, Link] = {}

    def heading(self, text: str, level: int) -> None:
        self._heading = ""
        number = number_of_title(text)
        if number is not None and number.word:
            self._heading = text
            self._lectures.append(number.number)
        if not self._title and level == 1 and is_title(text):
            self._title = text

    def link(self, text: str, target: str) -> None:
        folder = posixpath.dirname(self._path)
        file = _document(self._listing, folder, target)
        if file and file != self._path and len(self._links) < _MOST_LINKS:
            self._links.setdefault(file, Link(text, file, self._heading))

    def contents(self) -> Contents:
        links = _with_titles(list(self._links.values()))
        return Contents(self._title, links, tuple(self._lectures))


def _lines(tokens: Sequence[Token]) -> Iterator[tuple[str, str, int]]:
    """Yields the headings, with their level, and the links, with their target."""
    level = 0
    for token in tokens:
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "html_block":
            shown = _HTML_HEADING.search(token.content)
            if shown is not None:
                yield " ".join(_TAG.sub(" ", shown[1]).split()), "", 1
            for target, text in _ANCHOR.findall(token.content):
                yield " ".join(text.split()), target, 0
        elif token.type == "inline":
            if level:
                yield _text(token.children or ()), "", level
            yield from _links(token.children or ())
            level = 0


def _text(tokens: Sequence[Token]) -> str:
    shown = [each.content for each in tokens if each.type in ("text", "code_inline")]
    return " ".join("".join(shown).split())


def _links(tokens: Sequence[Token]) -> Iterator[tuple[str, str, int]]:
    opened: int | None = None
    for at, token in enumerate(tokens):
        if token.type == "link_open":
            opened = at
        elif token.type == "link_close" and opened is not None:
            target = str(tokens[opened].attrGet("href") or "")
            yield _text(tokens[opened:at]), target, 0
            opened = None
        elif token.type == "html_inline":
            for found in _ANCHOR.finditer(token.content):
                yield "", found[1], 0


def _document(listing: Listing, folder: str, target: str) -> str:
    """Returns the document of the listing that a link leads to; empty where it leads elsewhere."""
    path = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
    if "://" in path:
        return _by_address(listing, path)
    if not path or path.startswith("mailto:"):
        return ""
    found = listing.find(folder, path)
    return "" if found == folder else found


def _by_address(listing: Listing, address: str) -> str:
    """Returns the document whose address on the website of its repository this is."""
    parts = address.split("://", 1)[1].strip("/").split("/")[1:]
    # Behind the owner, the repository and the branch the address is the path.
    for at in range(1, min(len(parts), _MOST_PARTS)):
        place = "/".join(parts[at:])
        if listing.has(place) and listing.is_document(place):
            return place
        if listing.is_folder(place) and "tree" in parts[:at]:
            return listing.about(place) or place
    return ""


def _with_titles(links: Sequence[Link]) -> tuple[Link, ...]:
    """Empties the texts that are no titles: "here", and those that lead to several files."""
    texts = Counter(link.title.casefold() for link in links)
    titled: list[Link] = []
    for link in links:
        is_own = texts[link.title.casefold()] == 1 and _says_something(link.title)
        titled.append(link if is_own else link._replace(title=""))
    return tuple(titled)


def _says_something(text: str) -> bool:
    is_path = "/" in text and " " not in text
    if is_path or not is_title(text):
        return False
    return not _GENERIC.fullmatch(text) and not _NO_WORDS.fullmatch(text)
