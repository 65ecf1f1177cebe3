"""Reads the lists in which tools store a table of contents, in all their forms."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from antiphon.knowledge.layout.listing import Listing, is_about
from antiphon.knowledge.layout.navigation import Entry

_MOST_DEPTH = 8
_MOST_ENTRIES = 5_000
_HIGHEST_NUMBER = 999_999
_MOST_SHOWN = 80
_FIELDS = {
    *("title", "text", "label", "caption", "section", "file", "local", "href", "id"),
    *("path", "part", "sections", "chapters", "children", "contents", "items", "files"),
    *("type", "link", "glob", "pattern", "url", "lesson"),
}


class Entries:
    """Reads the entries of one table of contents; a hostile one may repeat the same list over and over.

    Attributes:
        missing: The entries that name no existing document.
    """

    def __init__(
        self, listing: Listing, folder: str, keeps_folders: bool = False
    ) -> None:
        """Reads entries of files in a folder; a named folder means the page about it, or itself if there is none."""
        self._listing = listing
        self._folder = folder
        self._keeps_folders = keeps_folders
        self._left = _MOST_ENTRIES
        self.missing: list[str] = []

    def file(self, target: Any) -> str:
        """Returns the document that a target means; empty if it is not in the listing."""
        if not isinstance(target, str):
            return ""
        exact = posixpath.normpath(posixpath.join(self._folder, target))
        if self._listing.has(exact) and self._listing.is_document(exact):
            return exact
        path = target.split("#")[0].strip()
        if not path or "://" in path:
            return ""
        place = posixpath.normpath(posixpath.join(self._folder, path))
        if self._keeps_folders and self._listing.is_folder(place):
            return place
        return self._listing.find(self._folder, path)

    def is_own_page(self, file: str) -> bool:
        """Returns True for the page about the whole folder, but not for those of the folders in it."""
        return is_about(file) and posixpath.dirname(file) == self._folder

    def entries(self, items: Any, depth: int = 0) -> tuple[Entry, ...]:
        """Reads a list in any of the tools' forms."""
        if not isinstance(items, list) or depth > _MOST_DEPTH:
            return ()
        found: list[Entry] = []
        for item in items:
            self._left -= 1
            if self._left < 0:
                break
            known = len(self.missing)
            entry = self._entry(item, depth)
            if entry is not None:
                found.append(entry)
            elif len(self.missing) == known:
                self.missing.append(_shown(item))
        return tuple(found)

    def _entry(self, item: Any, depth: int) -> Entry | None:
        if isinstance(item, str):
            file = self.file(item)
            return Entry(file=file) if file else None
        if not isinstance(item, dict):
            return None
        found = self._named(item, depth)
        return found if found.file or found.entries else None

    def _named(self, item: Mapping[Any, Any], depth: int) -> Entry:
        """Reads an entry that is a mapping: of fields, or from a title to a file or to the entries below it."""
        fields = {str(key): value for key, value in item.items()}
        if len(fields) == 1 and not fields.keys() & _FIELDS:
            [(title, value)] = fields.items()
            if isinstance(value, str):
                return self._pair(title, value)
            return Entry(title=title, entries=self.entries(value, depth + 1))
        return self._of_fields(fields, depth)

    def _pair(self, name: str, value: str) -> Entry:
        """Reads "title: file", or "file: title" as in our own tables of contents."""
        file = self.file(value)
        if file or not self.file(name):
            return Entry(title=name, file=file)
        return Entry(title=value, file=self.file(name))

    def _of_fields(self, fields: Mapping[str, Any], depth: int) -> Entry:
        part = fields.get("part")
        title = first_text(fields, "title", "text", "label", "caption", "section")
        target = first_text(fields, "file", "local", "href", "id", "path")
        if isinstance(part, str):
            # A book names a part by its title or by its own page.
            target = target or (part if self.file(part) else "")
            title = title or ("" if target else part)
        below: tuple[Entry, ...] = ()
        for name in ("sections", "chapters", "children", "contents", "items", "files"):
            below += self.entries(fields.get(name), depth + 1)
        file = self.file(target)
        is_part = "part" in fields or "caption" in fields
        number = fields.get("lesson")
        return Entry(
            title=title,
            file=file,
            entries=below,
            is_part=is_part,
            number=number if _is_number(number) else None,
        )


def _is_number(value: Any) -> bool:
    """Returns True for a possible number of a lesson."""
    return type(value) is int and 0 <= value <= _HIGHEST_NUMBER


def _shown(item: Any) -> str:
    """Returns an entry in its owner's words, shortened; of a mapping only its top level."""
    if isinstance(item, dict):
        pairs = list(item.items())[:4]
        item = ", ".join([f"{name}: {_plain(value)}" for name, value in pairs])
    return _plain(item)[:_MOST_SHOWN]


def _plain(value: Any) -> str:
    return str(value) if isinstance(value, str | int | float) else "…"


def first_text(fields: Mapping[str, Any], *names: str) -> str:
    for name in names:
        value = fields.get(name)
        if isinstance(value, str | int) and str(value).strip():
            return str(value).strip()
    return ""


def mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        return {}
    return {str(name): each for name, each in value.items()}


def persons(value: Any) -> str:
    """Joins a name or a list of names into one text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        names = [persons(each) for each in value[:10]]
        return ", ".join(name for name in names if name)
    return first_text(mapping(value), "name")
