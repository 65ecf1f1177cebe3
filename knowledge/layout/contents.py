"""Reads the table of contents in a README: links to the files of the lessons, or headings of lectures."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from antiphon.knowledge.layout.listing import Listing
from antiphon.knowledge.layout.numbers import LESSON_WORDS, number_of_title
from antiphon.knowledge.naming import is_title

FEWEST_LECTURES = 3
_MOST_LINKS = 1_000
_MOST_PARTS = 14
_PAGES = (".md", ".markdown", ".mdx", ".html", ".htm")
# Found by patterns, without a parser: a stranger's README must not hold up all files beside it.
_LINK = (
    r"\[(?P<text>(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,300})\]"
    r"\(\s*<?(?P<target>[^()\s<>]{1,500}(?:\([^()\s]{0,100}\)[^()\s<>]{0,100})?)"
    r"""|<a\s[^<>]{0,300}?href=["'](?P<href>[^"'\n]{1,500})["'][^<>]{0,300}>(?P<shown>[^<>]{0,200})"""
)
_LINKS = re.compile(_LINK, re.IGNORECASE)
_PARTS = re.compile(
    r"^ {0,3}(?P<marks>#{1,6})[ \t]+(?P<heading>[^\n]{1,400})$"
    r"|^(?P<over>[^\n]{1,300})\n(?P<line>={3,}|-{3,})[ \t]*$"
    r"|<h(?P<level>[1-6])\b[^<>]{0,200}>(?P<tagged>(?:[^\0]){1,400}?)</h[1-6]>|"
    + _LINK,
    re.IGNORECASE | re.MULTILINE,
)
_TAG = re.compile(r"<[^<>]{0,300}>")
_MARKUP = re.compile(r"[*`]|\{[#.][^{}]{0,200}\}$|#{1,20}$")
_GENERIC = re.compile(
    r"(click )?(here|link|lesson|notebook|slides?|video|readme|code|more|details|more details|read( more)?|view|open"
    r"|start|go|notes?|pdf|html|source|learn( more)?|solution|exercises?|homework|assignment|nbviewer|colab|lab)",
    re.IGNORECASE,
)
_NO_WORDS = re.compile(r"[^\w]*")


class Link(NamedTuple):
    """A link of a README to a document of its folder.

    Attributes:
        title: Empty if its text does not describe the target.
        heading: The numbered heading above it, such as "Week 3: Trees"; empty if there is none.
    """

    title: str
    file: str
    heading: str = ""


class Contents(NamedTuple):
    """The order of the course, from a README."""

    title: str = ""
    links: tuple[Link, ...] = ()
    lectures: tuple[int, ...] = ()

    @property
    def holds_lectures(self) -> bool:
        """Returns True if it contains the lessons themselves, each under its heading."""
        return len(set(self.lectures)) >= FEWEST_LECTURES


def contents_of(listing: Listing, folder: str) -> Contents:
    """Reads the page about a folder: its links to documents, once each, in order; of several pages the fullest."""
    found = [_contents(listing, page) for page in listing.abouts(folder)]
    fullest = max(found, key=lambda each: len(each.links), default=Contents())
    titles = [each.title for each in found if each.title]
    return fullest._replace(title=titles[0] if titles else "")


def _contents(listing: Listing, path: str) -> Contents:
    reading = _Reading(listing, path)
    if path.lower().endswith(_PAGES):
        for shown, target, level in _parts(listing.text(path)):
            if level:
                reading.heading(shown, level)
            else:
                reading.link(shown, target)
    return reading.contents()


class _Reading:
    """The state of reading a README."""

    def __init__(self, listing: Listing, path: str) -> None:
        self._listing = listing
        self._path = path
        self._title = ""
        # The numbered heading of the current links, and its level.
        self._heading = ""
        self._level = 0
        self._lectures: list[int] = []
        self._links: dict[str, Link] = {}

    def heading(self, text: str, level: int) -> None:
        if level <= self._level:
            self._heading = ""
        number = number_of_title(text)
        if number is not None and number.word in LESSON_WORDS:
            self._heading, self._level = text, level
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


def _parts(text: str) -> Iterator[tuple[str, str, int]]:
    """Yields the headings, with their level, and the links, with their target."""
    for found in _PARTS.finditer(_without_code(text)):
        heading = found["heading"] or found["over"] or found["tagged"]
        if heading is None:
            yield _link(found)
            continue
        yield _plain(heading), "", _level(found)
        for link in _LINKS.finditer(heading):
            yield _link(link)


def _level(found: re.Match[str]) -> int:
    if found["marks"]:
        return len(found["marks"])
    if found["level"]:
        # Many people put an HTML heading with the title above the first Markdown heading.
        return 1 if found["level"] in "12" else int(found["level"])
    return 1 if found["line"].startswith("=") else 2


def _link(found: re.Match[str]) -> tuple[str, str, int]:
    text = found["text"] if found["target"] else found["shown"]
    return _plain(text or ""), found["target"] or found["href"], 0


def _plain(text: str) -> str:
    """Returns the visible text of a heading or a link."""
    shown = _LINKS.sub(lambda link: link["text"] or link["shown"] or "", text)
    shown = _MARKUP.sub("", _TAG.sub(" ", shown).strip())
    return " ".join(shown.replace(")", "", shown.count(")") - shown.count("(")).split())


def _without_code(text: str) -> str:
    """Empties the lines of code blocks, in which the mark of a heading begins a comment."""
    lines: list[str] = []
    is_code = False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith(("```", "~~~"))
        lines.append("" if is_code or is_fence else line)
        is_code ^= is_fence
    return "\n".join(lines)


def _document(listing: Listing, folder: str, target: str) -> str:
    """Returns the document of the listing that a link leads to; empty if it leads elsewhere."""
    path = unquote(re.split(r"[?#]", target, maxsplit=1)[0])
    if "://" in path:
        return _by_address(listing, path)
    if not path or path.startswith("mailto:"):
        return ""
    found = listing.find(folder, path)
    return "" if found == folder else found


def _by_address(listing: Listing, address: str) -> str:
    """Returns the document with this address on the website of its repository."""
    parts = address.split("://", 1)[1].strip("/").split("/")[1:]
    # The path follows the owner, the repository and the branch.
    for at in range(1, min(len(parts), _MOST_PARTS)):
        place = "/".join(parts[at:])
        if listing.has(place) and listing.is_document(place):
            return place
        if listing.is_folder(place) and "tree" in parts[:at]:
            return listing.about(place) or place
    return ""


def _with_titles(links: Sequence[Link]) -> tuple[Link, ...]:
    """Empties texts that are no titles: "here", and those of links to several files."""
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
