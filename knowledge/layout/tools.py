"""Reads the tables of contents of publishing tools, and our own `course.yaml`."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable

from antiphon.knowledge.layout.books import (
    jupyter_book,
    mdbook,
    myst,
    quarto,
    summary,
)
from antiphon.knowledge.layout.entries import Entries, first_text, mapping
from antiphon.knowledge.layout.listing import Listing
from antiphon.knowledge.layout.navigation import Entry, Navigation, files_of
from antiphon.knowledge.layout.ordered import by_front_matter
from antiphon.knowledge.layout.own import COURSE_FILE, own, stored_navigation

_CONFIG = tuple([f"docusaurus.config.{ending}" for ending in ("js", "ts", "mjs")])
_TITLE = re.compile(r"""\btitle:\s*["'`]([^"'`\n]{1,200})["'`]""")
_MKDOCS = ("mkdocs.yml", "mkdocs.yaml")


def from_tool(listing: Listing, folder: str) -> Navigation | None:
    """Returns the table of contents from a file in this folder; None if there is none, or it lists nothing.

    The owner's stored layout comes first.
    """
    if folder in listing.stored:
        return stored_navigation(listing, folder)
    for name, read in _TOOLS:
        if not listing.has(posixpath.join(folder, name)):
            continue
        found = read(listing, folder)
        if found is not None and any(map(files_of, found.entries)):
            return found
    return None


def _mkdocs(listing: Listing, folder: str) -> Navigation | None:
    name = next(each for each in _MKDOCS if listing.has(posixpath.join(folder, each)))
    config = mapping(listing.values(posixpath.join(folder, name)))
    where = posixpath.normpath(
        posixpath.join(folder, first_text(config, "docs_dir") or "docs")
    )
    entries = Entries(listing, where).entries(config.get("nav"))
    own_page = listing.about(where)
    outside = [not entry.entries and entry.file == own_page for entry in entries]
    pairs = zip(entries, outside, strict=True)
    return Navigation(
        source=name,
        folder=where,
        entries=tuple([entry._replace(is_outside=is_out) for entry, is_out in pairs]),
        title=first_text(config, "site_name"),
        link=first_text(config, "site_url"),
        instructor=first_text(config, "site_author"),
        is_whole=True,
    )


def _docusaurus(listing: Listing, folder: str) -> Navigation | None:
    """Reads the first sidebar of Docusaurus' `sidebars.json`, or the places in the front matter of its pages.

    It does not run a sidebar that is a program.
    """
    where = posixpath.join(folder, "docs")
    config = "".join([listing.text(posixpath.join(folder, name)) for name in _CONFIG])
    title = _TITLE.search(config)
    found = Navigation("sidebars.json", where, _sidebar(listing, folder, where))
    if not found.entries:
        ordered = by_front_matter(listing, where, is_published=True)
        if ordered is None:
            return None
        found = ordered
    return found._replace(title=title[1] if title else "", is_whole=True)


def _sidebar(listing: Listing, folder: str, where: str) -> tuple[Entry, ...]:
    sidebars = mapping(listing.values(posixpath.join(folder, "sidebars.json")))
    reading = Entries(listing, where)
    for items in sidebars.values():
        if isinstance(items, dict):
            items = [{key: value} for key, value in items.items()]
        entries = reading.entries(items)
        if entries:
            return entries
    return ()


def _hugging_face(listing: Listing, folder: str) -> Navigation:
    """Reads `_toctree.yml`, with a unit and its pages on each line of the first level."""
    toctree = listing.values(posixpath.join(folder, "_toctree.yml"))
    entries = Entries(listing, folder).entries(toctree)
    return Navigation(
        "_toctree.yml", folder, entries, is_whole=True, groups_are_lessons=True
    )


def _carpentries(listing: Listing, folder: str) -> Navigation | None:
    """Reads the `config.yaml` of the Carpentries' workbench: episodes, and pages for learners and instructors."""
    config = mapping(listing.values(posixpath.join(folder, "config.yaml")))
    if "episodes" not in config:
        return None
    where = posixpath.join(folder, "episodes")
    entries = Entries(listing, where).entries(config["episodes"])
    if not entries:
        # An empty list means all of them, in the order of their names.
        entries = tuple([Entry(file=path) for path in listing.documents(where)])
    for name in ("learners", "instructors"):
        for path in listing.documents(posixpath.join(folder, name)):
            entries += (Entry(file=path, is_outside=True),)
    return Navigation(
        source="config.yaml",
        folder=where,
        entries=entries,
        title=first_text(config, "title"),
        link=first_text(config, "url"),
        is_whole=True,
    )


_TOOLS: tuple[tuple[str, Callable[[Listing, str], Navigation | None]], ...] = (
    (COURSE_FILE, own),
    ("_toc.yml", jupyter_book),
    ("myst.yml", myst),
    ("_quarto.yml", quarto),
    ("book.toml", mdbook),
    ("SUMMARY.md", summary),
    *[(name, _mkdocs) for name in _MKDOCS],
    *[(name, _docusaurus) for name in ("sidebars.json", *_CONFIG)],
    ("_toctree.yml", _hugging_face),
    ("config.yaml", _carpentries),
)
