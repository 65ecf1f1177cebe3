"""The target of an indexing run: the documents of the next generation, from files found and documents known."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from antiphon.knowledge.loading import SUFFIXES, content_hash, parse_document, read_file
from antiphon.knowledge.values import KnownDocument
from antiphon.language.words import fold
from antiphon.vocabulary.errors import DocumentError, KnowledgeError
from antiphon.vocabulary.values import Value

_NO_TEXT = "its path is not in UTF-8; rename it"


class FoundFiles(Value, frozen=True, kw_only=True):
    """The files that a person means by a list of paths.

    Attributes:
        files: Absolute paths, sorted, without repeats.
        roots: The paths that were named, absolute: what is known under them and not found is gone.
        failed: Paths that led nowhere or could not be listed, with the reason; nothing under them counts as gone.
        only: What is known from elsewhere goes too.
    """

    files: tuple[str, ...]
    roots: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    only: bool = False


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
        """Returns True if it is another library than the one known."""
        return bool(self.fresh or self.removed)


def find_files(paths: Iterable[str | Path], known: Iterable[str]) -> FoundFiles:
    """Lists the documents at `paths`; a missing path is no failure where `known` documents were at it."""
    files: set[str] = set()
    failed: list[tuple[str, str]] = []
    roots = tuple(dict.fromkeys(map(os.path.realpath, paths)))
    for root in roots:
        if os.path.isdir(root):
            files.update(_walk(root, failed))
        elif not _is_text(root):
            failed.append((root, _NO_TEXT))
        elif os.path.lexists(root):
            # Named by itself: a file of another kind is refused with a reason, not passed over.
            files.add(root)
        elif not any(is_under(path, [root]) for path in known):
            failed.append((root, "there is no such file or folder"))
    return FoundFiles(files=tuple(sorted(files)), roots=roots, failed=tuple(failed))


def find_only(paths: Iterable[str | Path], known: Iterable[str]) -> FoundFiles:
    """Lists the documents at `paths`, beside which nothing is to stay.

    Raises:
        KnowledgeError: A path cannot be read, or there is nothing in them: a mistyped one must not empty the library.
    """
    found = find_files(paths, known)
    if found.failed or not found.files:
        raise KnowledgeError(
            f"nothing was removed, because {why_nothing(found)}; --only keeps what it names and nothing else"
        )
    return msgspec.structs.replace(found, only=True)


def why_nothing(found: FoundFiles) -> str:
    """Tells why paths bring no document."""
    if found.failed:
        path, reason = found.failed[0]
        return f"{path} cannot be used ({reason})"
    endings = " or ".join(SUFFIXES)
    return f"no file in {', '.join(found.roots)} ends in {endings}"


def is_under(path: str, roots: Iterable[str]) -> bool:
    """Returns True if `path` is one of the roots or lies in one."""
    return any(
        path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots
    )


def _walk(root: str, failed: list[tuple[str, str]]) -> Iterator[str]:
    def fail(error: OSError) -> None:
        failed.append(
            (str(error.filename), f"the folder cannot be listed: {error.strerror}")
        )

    for folder, subfolders, names in os.walk(root, onerror=fail, followlinks=False):
        # In place, so that `os.walk` does not descend into hidden folders.
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        for name in names:
            if name.startswith(".") or not name.lower().endswith(SUFFIXES):
                continue
            path = os.path.join(folder, name)
            if not _is_text(path):
                failed.append((path, _NO_TEXT))
            elif not _leads_outside(path, root):
                yield path


def _is_text(path: str) -> bool:
    """Returns True for a path that can be stored and shown; Python reads other bytes as lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _leads_outside(path: str, root: str) -> bool:
    # Such a link is not followed: it could show any file of the machine.
    return os.path.islink(path) and not is_under(os.path.realpath(path), [root])


def set_target(found: FoundFiles, known: Mapping[str, KnownDocument]) -> Target:
    """Reads the files and decides what is added, changed, kept and removed.

    A course title belongs to one document: a second file with the same title fails, and both are named.
    """
    files = _Files(found.failed)
    for path in found.files:
        files.read(path, known.get(path))
    kept = _keep(found, known, files)
    owners: dict[str, str] = {}
    for path, document in kept.items():
        owners[fold(document.title)] = path
    taken: dict[str, KnownDocument] = {}
    for path, document in files.fresh.items():
        title = fold(document.title)
        owner = owners.get(title)
        if owner is not None and os.path.exists(owner):
            reason = f"its course title {document.title!r} is that of {owner}; give one another title"
            files.failed.append((path, reason))
            _keep_old(path, known, kept, owners)
            continue
        if owner is not None:
            # The owner's file is gone: the document has moved here, and takes its title along.
            kept.pop(owner, None)
        owners[title] = path
        taken[path] = document
    return _target(known, kept, taken, files)


def _keep(
    found: FoundFiles, known: Mapping[str, KnownDocument], files: _Files
) -> dict[str, KnownDocument]:
    """Returns the known documents that are neither read anew nor gone."""
    kept: dict[str, KnownDocument] = {}
    for path, document in known.items():
        if path not in files.fresh and not _is_gone(path, found):
            kept[path] = document
    return kept


class _Files:
    """The files read so far: those as known, those that are new, and those that cannot be used."""

    def __init__(self, failed: Iterable[tuple[str, str]]) -> None:
        self.unchanged = 0
        self.fresh: dict[str, KnownDocument] = {}
        self.failed = list(failed)

    def read(self, path: str, known: KnownDocument | None) -> None:
        try:
            data = read_file(path)
            found_hash = content_hash(data)
            if known is not None and known.content_hash == found_hash:
                self.unchanged += 1
                return
            title = parse_document(path, data).title
        except DocumentError as error:
            self.failed.append((error.path, error.reason))
            return
        self.fresh[path] = KnownDocument(content_hash=found_hash, title=title)


def _keep_old(
    path: str,
    known: Mapping[str, KnownDocument],
    kept: dict[str, KnownDocument],
    owners: dict[str, str],
) -> None:
    """Keeps what is known of a file that fails, unless its old title went to another document."""
    old = known.get(path)
    if old is not None and owners.setdefault(fold(old.title), path) == path:
        kept[path] = old


def _is_gone(path: str, found: FoundFiles) -> bool:
    """Returns True if a known document's place was looked at and it is not there any more."""
    if path in found.files:
        return False
    for failed, _ in found.failed:
        if is_under(path, [failed]):
            return False
    return found.only or is_under(path, found.roots)


def _target(
    known: Mapping[str, KnownDocument],
    kept: Mapping[str, KnownDocument],
    taken: Mapping[str, KnownDocument],
    files: _Files,
) -> Target:
    documents = {**kept, **taken}
    hashes = {}
    # In order of path, so that two runs over the same files build the same index.
    for path in sorted(documents):
        hashes[path] = documents[path].content_hash
    return Target(
        hashes=hashes,
        fresh=frozenset(taken),
        added=len(taken.keys() - known.keys()),
        unchanged=files.unchanged,
        changed=len(taken.keys() & known.keys()),
        removed=len(known.keys() - documents.keys()),
        failed=tuple(files.failed),
    )
