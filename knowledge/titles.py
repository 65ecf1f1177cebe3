"""Course titles, of which each belongs to one document: files of the same name and title are distinguished."""

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
    """The titles given so far, and whose they are.

    Args:
        known: Documents as they were indexed before: a title once given stays as long as its file does.
        kept: Those of them that keep their titles; one that loses its title to another file is taken out of it.
        fresh: Documents whose titles are to be given.
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
        # Two files called "intro" in two folders: neither is more "intro" than the other.
        files = [_folder_and_name(path) for path in {**kept, **fresh}]
        self._names = Counter(name for _, name in files)
        self._beside = Counter(files)

    def copy_of(self, path: str, document: KnownDocument) -> str | None:
        """Returns the file of which this one is a copy, title and text; None if there is none."""
        owner = self._owner(document.title)
        if owner is None or not self._reader.is_named(path):
            return None
        if self._hashes.get(owner) != document.content_hash:
            return None
        return owner

    def take(self, path: str, document: KnownDocument) -> KnownDocument:
        """Gives a document its title, or one that tells it from the document that has it."""
        own = document.title
        title = self._given_before(path, own) or self._free(path, own)
        if title != own:
            self._reader.rename(path, title)
            document = msgspec.structs.replace(document, title=title)
        self._note(path, document)
        return document

    def _given_before(self, path: str, title: str) -> str | None:
        """Returns the title by which the file is known, if it still fits and is free."""
        known = self._known.get(path)
        if known is None or self._owner(known.title) is not None:
            return None
        if known.title == title or known.title.startswith(f"{title} ("):
            return known.title
        return None

    def _free(self, path: str, title: str) -> str:
        """Returns the title, or one that tells it from the document that has it."""
        _, name = _folder_and_name(path)
        is_shared = not self._reader.is_named(path) and self._names[name] > 1
        if is_shared or self._owner(title) is not None:
            return self._another(path, title)
        return title

    def keep_old(self, path: str, known: KnownDocument | None) -> None:
        """Keeps what is known of a file that fails, unless its old title went to another document."""
        if known is None:
            return
        if self._owners.setdefault(fold(known.title), path) == path:
            self._kept[path] = known

    def _owner(self, title: str) -> str | None:
        """Returns whose title it is; a document whose file is gone has moved here, and gives it up."""
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
        """Returns the title with as much of the path behind it as tells it from all others."""
        places = _places(path, title, self._reader.is_named(path))
        # Of talk.vtt and talk.srt in one folder, the folder would tell nothing.
        if self._beside[_folder_and_name(path)] > 1:
            places = chain([os.path.basename(path)], places)
        for place in places:
            longer = f"{title} ({place})"
            if self._owner(longer) is None:
                return longer
        # Only a title that ends like a path comes here.
        return f"{title} ({path})"


def _folder_and_name(path: str) -> tuple[str, str]:
    """Returns the folder of a file and its name without its ending, as titles have it."""
    folder, name = os.path.split(path)
    return folder, fold(plain_name(os.path.splitext(name)[0]))


def _places(path: str, title: str, is_named: bool) -> Iterator[str]:
    """Yields what tells a file from others, longer and longer: its name, with its ending, with its folders."""
    parts = os.path.dirname(path).strip(os.sep).split(os.sep)
    if is_named:
        name = os.path.basename(path)
        stem = os.path.splitext(name)[0]
        # "Mailboxes (mailboxes)" tells nothing.
        if fold(plain_name(stem)) not in fold(title):
            yield stem
        parts.append(name)
    for count in range(1, len(parts) + 1):
        yield "/".join(parts[-count:])
