"""What a README's table of contents adds to the order of names, or gives where names have none."""

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
from antiphon.knowledge.readers.formats import format_of

_SHARE = 0.6
"""Of the documents as many are in a table of contents."""
_FEWEST = 3


def from_contents(
    listing: Listing, folder: str, contents: Contents, order: Navigation | None
) -> Navigation | None:
    """Returns the order of a folder by its README's links and the names of its files.

    Args:
        order: By names; None where they tell none.
    """
    links = [link for link in contents.links if _may_be_lesson(link.file, folder)]
    if order is None:
        return _of_links(listing, folder, links)
    if _lists_below(order, links):
        return _of_links(listing, folder, links, order.source) or order
    titles = {link.file: link.title for link in links if link.title}
    entries = tuple([_titled(listing, entry, titles) for entry in order.entries])
    return order._replace(entries=entries)


def _may_be_lesson(path: str, folder: str) -> bool:
    inside = path[len(folder) :].lstrip("/")
    parts = inside.split("/")
    if any(why_not_in(part) for part in parts[:-1]):
        return False
    stem = stem_of(parts[-1])
    if len(parts) == 1 and why_not_at_the_top(stem):
        return False
    return not translated(stem)


def _titled(listing: Listing, entry: Entry, titles: dict[str, str]) -> Entry:
    """Gives a lesson the title by which the README links to it, or to the file about its folder."""
    places = [entry.file]
    if listing.is_folder(entry.file):
        places.append(listing.about(entry.file))
    for place in places:
        if not entry.title and titles.get(place):
            return entry._replace(title=titles[place])
    return entry


def _lists_below(order: Navigation, links: Sequence[Link]) -> bool:
    """Returns True if the README lists lessons in the folders that names make lessons: these are modules then."""
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
    """Returns True for a folder with a README in one of numbered folders."""
    folder = posixpath.dirname(path) if is_about(path) else path
    return any(
        folder.startswith(f"{file}/") and (is_about(path) or "." not in folder)
        for file in files_of(entry)
    )


def _of_links(
    listing: Listing,
    folder: str,
    links: Sequence[Link],
    source: str = "the table of contents in its README",
) -> Navigation | None:
    """Makes a table of contents of links, if they lead to most of the documents."""
    linked = _covered(listing, links)
    every = [path for path in listing.documents(folder) if _counts(path, folder)]
    if len(links) < _FEWEST or len(linked & set(every)) < _SHARE * len(every):
        return None
    return Navigation(
        source=source,
        folder=folder,
        entries=_grouped(links),
        takes_folders=True,
    )


def _counts(path: str, folder: str) -> bool:
    form = format_of(path)
    is_own = is_about(path) and posixpath.dirname(path) == folder
    return bool(form and form.is_lesson and not is_own and _may_be_lesson(path, folder))


def _covered(listing: Listing, links: Sequence[Link]) -> set[str]:
    covered: set[str] = set()
    for link in links:
        covered.add(link.file)
        if listing.is_folder(link.file):
            covered.update(listing.documents(link.file))
        elif is_about(link.file) and posixpath.dirname(link.file):
            covered.update(listing.documents(posixpath.dirname(link.file)))
    return covered


def _grouped(links: Sequence[Link]) -> tuple[Entry, ...]:
    """Makes one lesson of the links under each numbered heading, and of each link under no such one."""
    entries: list[Entry] = []
    for link in links:
        entry = Entry(title=link.title, file=link.file)
        if not link.heading:
            entries.append(entry)
        elif entries and entries[-1].title == link.heading and not entries[-1].file:
            last = entries[-1]
            entries[-1] = last._replace(entries=(*last.entries, entry))
        else:
            entries.append(Entry(title=link.heading, entries=(entry,)))
    return tuple(entries)
