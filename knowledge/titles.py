"""Assigns course titles, each to one document: distinguishes files of the same name or title."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain

import msgspec

from antiphon.knowledge.naming import plain_name
from antiphon.knowledge.reading_process import ReadsDocuments
from antiphon.knowledge.values import KnownDocument
from antiphon.language.words import fold


class Titles:
    """The titles assigned so far, and their owners.

    Args:
        known: The indexed documents: an assigned title stays as long as its file does.
        kept: Those of them that keep their titles; a document that loses its title to another file is removed from it.
        fresh: Documents that need titles.
    """

    def __init__(
        self,
        known: Mapping[str, KnownDocument],
        kept: dict[str, KnownDocument],
        fresh: Mapping[str, KnownDocument],
        reader: ReadsDocuments,
    ) -> None:
        self._known = known
        self._kept = kept
        self._reader = reader
        self._owners: dict[str, str] = {}
        self._hashes: dict[str, str] = {}
        for path, document in kept.items():
            self._note(path, document)
        # For two files called "intro" in two folders, neither has a better claim to the title "Intro".
        files = [_folder_and_name(path) for path in {**kept, **fresh}]
        self._names = Counter(name for _, name in files)
        self._beside = Counter(files)

    def copy_of(self, path: str, document: KnownDocument) -> str | None:
        """Returns the file that this one copies, in title and text; None if there is none."""
        owner = self._owner(document.title)
        if owner is None or not self._reader.is_named(path):
            return None
        if self._hashes.get(owner) != document.content_hash:
            return None
        return owner

    def take(self, path: str, document: KnownDocument) -> KnownDocument:
        """Assigns a document its title, or a longer one if another document has it."""
        own = document.title
        title = self._given_before(path, own) or self._free(path, own)
        if title != own:
            self._reader.rename(path, title)
            document = msgspec.structs.replace(document, title=title)
        self._note(path, document)
        return document

    def _given_before(self, path: str, title: str) -> str | None:
        """Returns the file's known title, if it still fits and is free."""
        known = self._known.get(path)
        if known is None or self._owner(known.title) is not None:
            return None
        if known.title == title or known.title.startswith(f"{title} ("):
            return known.title
        return None

    def _free(self, path: str, title: str) -> str:
        """Returns the title, or a longer one if another document has it."""
        _, name = _folder_and_name(path)
        is_shared = not self._reader.is_named(path) and self._names[name] > 1
        if is_shared or self._owner(title) is not None:
            return self._another(path, title)
        return title

    def keep_old(self, path: str, known: KnownDocument | None) -> None:
        """Keeps the known document of a file that fails, unless another document has taken its title."""
        if known is None:
            return
        if self._owners.setdefault(fold(known.title), path) == path:
            self._kept[path] = known

    def _owner(self, title: str) -> str | None:
        """Returns the owner of a title; an owner whose file is gone has been moved, and gives it up."""
        owner = self._owners.get(fold(title))
        if owner is None or os.path.exists(owner):
            return owner
        self._kept.pop(owner, None)
        del self._owners[fold(title)]
        return None

    def _note(self, path: str, document: KnownDocument) -> None:
        self._owners[fold(document.title)] = path
        self._hashes[path] = document.content_hash

    def _another(self, path: str, title: str) -> str:
        """Returns the title followed by enough of the path to distinguish it from all others."""
        places = _places(path, title, self._reader.is_named(path))
        # For talk.vtt and talk.srt in one folder, the folder would not distinguish them.
        if self._beside[_folder_and_name(path)] > 1:
            places = chain([os.path.basename(path)], places)
        for place in places:
            longer = f"{title} ({place})"
            if self._owner(longer) is None:
                return longer
        # Reached only if other titles end with the same paths.
        return f"{title} ({path})"


def _folder_and_name(path: str) -> tuple[str, str]:
    """Returns the folder of a file, and its name without the ending in the form of a title."""
    folder, name = os.path.split(path)
    return folder, fold(plain_name(os.path.splitext(name)[0]))


def _places(path: str, title: str, is_named: bool) -> Iterator[str]:
    """Yields ever longer texts that distinguish a file: its name, then with its ending, then with its folders."""
    parts = os.path.dirname(path).strip(os.sep).split(os.sep)
    if is_named:
        name = os.path.basename(path)
        stem = os.path.splitext(name)[0]
        # "Mailboxes (mailboxes)" would distinguish nothing.
        if fold(plain_name(stem)) not in fold(title):
            yield stem
        parts.append(name)
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[-count:])
