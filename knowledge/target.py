"""What the next generation is to hold: decided from the files found and the documents known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from antiphon.knowledge.document import KnownDocument
from antiphon.knowledge.files import FoundFiles, is_under
from antiphon.knowledge.loading import content_hash, parse_document, read_file
from antiphon.language.words import fold
from antiphon.vocabulary.errors import DocumentError
from antiphon.vocabulary.values import Value


class Target(Value, frozen=True, kw_only=True):
    """The documents of the next generation.

    Attributes:
        hashes: Each document's content hash, by path.
        fresh: Paths of those that are to be read from their files; the others are known.
        failed: Paths that could not be read, with the reason; what is known of them stays.
    """

    hashes: dict[str, str]
    fresh: frozenset[str]
    added: int
    unchanged: int
    changed: int
    removed: int
    failed: tuple[tuple[str, str], ...]

    @property
    def differs(self) -> bool:
        """Whether it is another library than the one known."""
        return bool(self.fresh or self.removed)


class _Files:
    """The files read so far: which are as known, which are new, and which cannot be used."""

    def __init__(self, failed: Iterable[tuple[str, str]]) -> None:
        self.unchanged = 0
        self.fresh: dict[str, KnownDocument] = {}
        self.failed = list(failed)

    def read(self, path: str, known: KnownDocument | None) -> None:
        try:
            data = read_file(path)
            seen = content_hash(data)
            if known is not None and known.content_hash == seen:
                self.unchanged += 1
            else:
                self.fresh[path] = KnownDocument(content_hash=seen, title=parse_document(path, data).title)
        except DocumentError as error:
            self.failed.append((error.path, error.reason))


def set_target(found: FoundFiles, known: Mapping[str, KnownDocument]) -> Target:
    """Reads the files and decides what is added, changed, kept and removed.

    A course title belongs to one document: a second file with the same title fails, and both are named.
    """
    files = _Files(found.failed)
    for path in found.files:
        files.read(path, known.get(path))
    kept = {path: one for path, one in known.items() if path not in files.fresh and not _is_gone(path, found)}
    owners = {fold(one.title): path for path, one in kept.items()}
    taken: dict[str, KnownDocument] = {}
    for path, one in files.fresh.items():
        owner = owners.get(fold(one.title))
        if owner is not None and os.path.exists(owner):
            files.failed.append((path, f"its course title {one.title!r} is that of {owner}; give one another title"))
            _keep_old(path, known, kept, owners)
            continue
        kept.pop(owner or "", None)
        owners[fold(one.title)] = path
        taken[path] = one
    return _target(known, kept, taken, files)


def _keep_old(
    path: str, known: Mapping[str, KnownDocument], kept: dict[str, KnownDocument], owners: dict[str, str]
) -> None:
    """A file that fails leaves what is known of it, unless its old title went to another document."""
    old = known.get(path)
    if old is not None and owners.setdefault(fold(old.title), path) == path:
        kept[path] = old


def _is_gone(path: str, found: FoundFiles) -> bool:
    """Whether a known document stood where was looked, and is not there."""
    if path in found.files or is_under(path, [failed for failed, _ in found.failed]):
        return False
    return is_under(path, found.roots)


def _target(
    known: Mapping[str, KnownDocument],
    kept: Mapping[str, KnownDocument],
    taken: Mapping[str, KnownDocument],
    files: _Files,
) -> Target:
    documents = {**kept, **taken}
    return Target(
        hashes={path: documents[path].content_hash for path in sorted(documents)},
        fresh=frozenset(taken),
        added=len(taken.keys() - known.keys()),
        unchanged=files.unchanged,
        changed=len(taken.keys() & known.keys()),
        removed=len(known.keys() - documents.keys()),
        failed=tuple(files.failed),
    )
