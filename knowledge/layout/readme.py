"""Adds a README's table of contents to the order of names, or uses it if names give no order."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from antiphon.knowledge.layout.contents import Contents, Link
from antiphon.knowledge.layout.furniture import (
    translated,
    why_not_at_the_top,
    why_not_in,
)
from antiphon.knowledge.layout.listing import Listing, is_about, stem_of
from antiphon.knowledge.layout.navigation import Entry, Navigation, files_of
from antiphon.knowledge.layout.ordered import ordered

_SHARE = 0.6
"""Least share of the documents that a table of contents must cover."""
_FEWEST = 3


def from_contents(
    listing: Listing, folder: str, contents: Contents, order: Navigation | None
) -> Navigation | None:
    """Returns the order of a folder by its README's links and the names of its files.

    Args:
        order: The order by names; None if they give none.
    """
    links = [link for link in contents.links if _may_be_lesson(link.file, folder)]
    if order is None:
        is_list = not _are_courses(listing, links)
        return _of_links(listing, folder, links) if is_list else None
    below = _of_links(listing, folder, links) if _lists_below(order, links) else None
    return below or _with_titles(listing, order, links)


def _may_be_lesson(path: str, folder: str) -> bool:
    inside = path[len(folder) :].lstrip("/")
    parts = inside.split("/")
    if any(why_not_in(part) for part in parts[:-1]):
        return False
    stem = stem_of(parts[-1])
    if len(parts) == 1 and why_not_at_the_top(stem):
        return False
    return not translated(stem)


def _are_courses(listing: Listing, links: Sequence[Link]) -> bool:
    """Returns True if most links lead to folders with an order of their own: a list of courses, not of lessons."""
    courses = 0
    for link in links:
        folder = _folder_of(listing, link.file)
        courses += bool(folder) and ordered(listing, folder, True) is not None
    return 2 * courses > len(links)


def _folder_of(listing: Listing, path: str) -> str:
    """Returns the target folder of a link to a folder or to the page about one; empty for any other file."""
    if listing.is_folder(path):
        return path
    return posixpath.dirname(path) if is_about(path) else ""


def _with_titles(
    listing: Listing, order: Navigation, links: Sequence[Link]
) -> Navigation:
    """Adds titles from a README to lessons in a known order."""
    entries: list[Entry] = []
    for entry in order.entries:
        title = entry.title or _title_of(listing, entry.file, links)
        entries.append(entry._replace(title=title))
    return order._replace(entries=tuple(entries))


def _title_of(listing: Listing, file: str, links: Sequence[Link]) -> str:
    """Returns the text of the link to a lesson, or the numbered heading above the links into its folder."""
    places = {file}
    if listing.is_folder(file):
        places.add(listing.about(file))
    for link in links:
        if link.title and link.file in places:
            return link.title
    for link in links:
        if link.heading and (link.file == file or link.file.startswith(f"{file}/")):
            return link.heading
    return ""


def _lists_below(order: Navigation, links: Sequence[Link]) -> bool:
    """Returns True if the README lists lessons inside the numbered folders, which are then modules."""
    if not order.takes_folders:
        return False
    deeper = 0
    modules = 0
    for entry in order.entries:
        inside = [link.file for link in links if _is_lesson_in(link.file, entry)]
        modules += len(inside) > 1
        deeper += len(inside)
    return 2 * modules > len(order.entries) and deeper > len(order.entries)


def _is_lesson_in(path: str, entry: Entry) -> bool:
    """Returns True for a folder, or its README, inside one of the numbered folders."""
    folder = posixpath.dirname(path) if is_about(path) else path
    return any(
        folder.startswith(f"{file}/") and (is_about(path) or "." not in folder)
        for file in files_of(entry)
    )


def _of_links(
    listing: Listing, folder: str, links: Sequence[Link]
) -> Navigation | None:
    """Makes a table of contents from links, if they cover most of the documents."""
    linked = _covered(listing, links)
    every = [
        path for path in listing.documents(folder) if _counts(listing, path, folder)
    ]
    if len(links) < _FEWEST or len(linked & set(every)) < _SHARE * len(every):
        return None
    return Navigation(
        source="the table of contents in its README",
        folder=folder,
        entries=_grouped(listing, links),
        takes_folders=True,
    )


def _counts(listing: Listing, path: str, folder: str) -> bool:
    is_own = is_about(path) and posixpath.dirname(path) == folder
    if is_own or not listing.may_be_lesson(path):
        return False
    return _may_be_lesson(path, folder)


def _covered(listing: Listing, links: Sequence[Link]) -> set[str]:
    covered: set[str] = set()
    for link in links:
        covered.add(link.file)
        folder = _folder_of(listing, link.file)
        if folder:
            covered.update(listing.documents(folder))
    return covered


def _grouped(listing: Listing, links: Sequence[Link]) -> tuple[Entry, ...]:
    """Makes one lesson of the links under each numbered heading, and one of each other link."""
    entries: list[Entry] = []
    for link in links:
        # The page about a folder of lessons is not a lesson.
        is_module = _is_module(_folder_of(listing, link.file), links)
        entry = Entry(title=link.title, file=link.file, is_outside=is_module)
        if not link.heading:
            entries.append(entry)
        elif entries and entries[-1].title == link.heading and not entries[-1].file:
            last = entries[-1]
            entries[-1] = last._replace(entries=(*last.entries, entry))
        else:
            entries.append(Entry(title=link.heading, entries=(entry,)))
    return tuple(entries)


def _is_module(folder: str, links: Sequence[Link]) -> bool:
    inside = [link for link in links if folder and link.file.startswith(f"{folder}/")]
    return sum(is_about(link.file) for link in inside) > 1
