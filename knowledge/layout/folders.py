"""Expands lessons that are folders: the documents in each, the one about it first."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from antiphon.knowledge.layout.leaving_out import is_left_out, why_not_in_lesson
from antiphon.knowledge.layout.listing import Listing, is_about
from antiphon.knowledge.layout.navigation import Entry, Navigation


def with_folders(listing: Listing, navigation: Navigation) -> Navigation:
    """Replaces each folder in a table of contents by its documents."""
    filling = _Filling(listing, navigation)
    entries = [filling.entry(entry) for entry in navigation.entries]
    return navigation._replace(entries=tuple(entries))


class _Filling:
    def __init__(self, listing: Listing, navigation: Navigation) -> None:
        self._listing = listing
        self._navigation = navigation
        self._named = set(_files(navigation.entries))

    def entry(self, entry: Entry) -> Entry:
        below = tuple([self.entry(each) for each in entry.entries])
        folder = self._folder_of(entry.file)
        if folder is None:
            return entry._replace(entries=below)
        files = self._documents(folder)
        more = tuple([Entry(file=path) for path in files[1:]])
        first = files[0] if files else ""
        return entry._replace(file=first, entries=(*below, *more))

    def _folder_of(self, file: str) -> str | None:
        """Returns the folder of a lesson; None for a lesson that is a file."""
        if not file:
            return None
        if self._listing.is_folder(file):
            return file
        folder = posixpath.dirname(file)
        is_whole_folder = self._navigation.takes_folders and is_about(file)
        return folder if is_whole_folder and folder != self._navigation.folder else None

    def _documents(self, folder: str) -> list[str]:
        """Returns the files of a folder that belong to its lesson."""
        about = self._listing.about(folder)
        files = [about] if about else []
        for path in self._listing.documents(folder):
            if path == about or path in self._named:
                continue
            if is_left_out(path, self._navigation):
                continue
            if not self._is_of_another(path, folder) and not why_not_in_lesson(
                self._listing, path, folder
            ):
                files.append(path)
        return files

    def _is_of_another(self, path: str, folder: str) -> bool:
        """Returns True for a file in a subfolder that is a lesson itself."""
        inner = posixpath.dirname(path)
        while len(inner) > len(folder):
            if inner in self._named or self._listing.about(inner) in self._named:
                return True
            inner = posixpath.dirname(inner)
        return False


def _files(entries: Iterable[Entry]) -> Iterator[str]:
    for entry in entries:
        if entry.file:
            yield entry.file
        yield from _files(entry.entries)
