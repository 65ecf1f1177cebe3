"""Reads the tables of contents of book generators: Jupyter Book, MyST, Quarto, mdBook and GitBook."""

from __future__ import annotations

import posixpath
import re
import tomllib
from typing import Any

from antiphon.knowledge.layout.entries import Entries, first_text, mapping, persons
from antiphon.knowledge.layout.listing import Listing
from antiphon.knowledge.layout.navigation import Entry, Navigation

_HEADING = re.compile(r"#{1,3}\s{1,20}(?P<title>\S.{0,299}?)\s{0,20}#{0,20}$")
_ITEM = re.compile(
    r"(?P<indent>[ \t]{0,99})(?P<mark>[-*+]|\d{1,3}[.)])?\s{0,20}"
    r"\[(?P<title>[^\n]{0,300}?)\]\((?P<file>[^()\n]{0,300})\)"
)


def jupyter_book(listing: Listing, folder: str) -> Navigation:
    """Reads Jupyter Book's `_toc.yml`, with the title of `_config.yml`."""
    toc = listing.values(posixpath.join(folder, "_toc.yml"))
    reading = Entries(listing, folder)
    if isinstance(toc, list):
        # The old format: one list, whose first file is the book's own page.
        entries = reading.entries(toc)
    else:
        fields = mapping(toc)
        entries = ()
        for name in ("parts", "chapters", "sections"):
            entries += reading.entries(_as_parts(fields.get(name), name))
        root = reading.file(fields.get("root"))
        entries = (Entry(file=root, is_outside=True), *entries)
    config = mapping(listing.values(posixpath.join(folder, "_config.yml")))
    return Navigation(
        source="_toc.yml",
        folder=folder,
        entries=_without_page_of_the_book(entries),
        title=first_text(config, "title"),
        link=first_text(mapping(config.get("html")), "baseurl"),
        instructor=persons(config.get("author")),
        is_whole=True,
    )


def _as_parts(value: Any, name: str) -> Any:
    """Marks the parts of a book, including those without a caption."""
    if name != "parts" or not isinstance(value, list):
        return value
    return [{"part": "", **mapping(each)} for each in value]


def _without_page_of_the_book(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    if entries and entries[0].file and not entries[0].entries:
        return (entries[0]._replace(is_outside=True), *entries[1:])
    return entries


def myst(listing: Listing, folder: str) -> Navigation:
    config = mapping(listing.values(posixpath.join(folder, "myst.yml")))
    project = mapping(config.get("project"))
    entries = Entries(listing, folder).entries(project.get("toc"))
    return Navigation(
        source="myst.yml",
        folder=folder,
        entries=_without_page_of_the_book(entries),
        title=first_text(project, "title"),
        instructor=persons(project.get("authors")),
        is_whole=True,
    )


def quarto(listing: Listing, folder: str) -> Navigation:
    """Reads `_quarto.yml`: the chapters of a book, or the sidebar of a website."""
    config = mapping(listing.values(posixpath.join(folder, "_quarto.yml")))
    book, website = mapping(config.get("book")), mapping(config.get("website"))
    reading = Entries(listing, folder)
    entries = reading.entries(book.get("chapters"))
    for sidebar in _sidebars(website.get("sidebar")):
        entries += reading.entries(mapping(sidebar).get("contents"))
    appendices = reading.entries(book.get("appendices"))
    own = book or website
    return Navigation(
        source="_quarto.yml",
        folder=folder,
        entries=(
            *[_numbered_in_quarto(entry, listing, reading) for entry in entries],
            *[entry._replace(is_outside=True) for entry in appendices],
        ),
        title=first_text(own, "title"),
        link=first_text(own, "site-url"),
        instructor=persons(own.get("author")),
        is_whole=True,
    )


def _sidebars(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _numbered_in_quarto(entry: Entry, listing: Listing, reading: Entries) -> Entry:
    """Moves out of the lessons what the book does not number: its first page, and chapters marked unnumbered."""
    below = [_numbered_in_quarto(each, listing, reading) for each in entry.entries]
    is_outside = False
    if entry.file and not below:
        heading = re.search(r"^#\s.{0,300}$", listing.head(entry.file), re.MULTILINE)
        is_unnumbered = heading is not None and re.search(
            r"\{[^}]*(\.unnumbered|(?<=[{ ])-(?=[ }]))[^}]*\}", heading[0]
        )
        is_outside = reading.is_own_page(entry.file) or bool(is_unnumbered)
    return entry._replace(entries=tuple(below), is_outside=is_outside)


def mdbook(listing: Listing, folder: str) -> Navigation:
    """Reads mdBook's `SUMMARY.md`, in the folder that `book.toml` names."""
    try:
        config = tomllib.loads(listing.text(posixpath.join(folder, "book.toml")))
    except ValueError:
        config = {}
    book = mapping(config.get("book"))
    source = first_text(book, "src") or "src"
    where = posixpath.normpath(posixpath.join(folder, source))
    where = "" if where == "." else where
    navigation = summary(listing, where)
    return navigation._replace(
        title=first_text(book, "title"),
        instructor=persons(book.get("authors")),
    )


def summary(listing: Listing, folder: str) -> Navigation:
    """Reads a `SUMMARY.md`, which GitBook has too: its list holds chapters, and indented items belong to one."""
    reading = Entries(listing, folder)
    parts: list[tuple[str, list[Entry]]] = [("", [])]
    for line in listing.text(posixpath.join(folder, "SUMMARY.md")).split("\n"):
        heading, item = _HEADING.match(line), _ITEM.match(line)
        if heading is not None:
            parts.append((heading["title"], []))
        elif item is not None:
            _put(parts[-1][1], item, reading)
    entries: list[Entry] = []
    for title, below in parts:
        if title.casefold() in ("", "summary", "table of contents"):
            entries += below
        else:
            entries.append(Entry(title=title, entries=tuple(below), is_part=True))
    return Navigation(
        source="SUMMARY.md", folder=folder, entries=tuple(entries), is_whole=True
    )


def _put(entries: list[Entry], item: re.Match[str], reading: Entries) -> None:
    """Appends one line of a summary, on its own level or below the last chapter."""
    file = reading.file(item["file"].strip("<> "))
    title = item["title"].replace("`", "").replace("*", "")
    entry = Entry(title=title, file=file)
    if item["indent"] and entries:
        last = entries[-1]
        entries[-1] = last._replace(entries=(*last.entries, entry))
    else:
        # Lines outside the list are the pages before and after the chapters, which have no number.
        is_outside = item["mark"] is None or reading.is_own_page(file)
        entries.append(entry._replace(is_outside=is_outside))
