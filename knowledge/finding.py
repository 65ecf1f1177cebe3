"""The files that a person means by paths: documents in folders, and what is passed over or cannot be listed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from antiphon.knowledge.course_folders import course_files
from antiphon.knowledge.readers.formats import format_of, suffixes
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.values import Value

_NO_TEXT = "its path is not in UTF-8; rename it"
_MOST_ENDINGS = 6
_LONGEST_ENDING = 12
_NOT_WRITTEN_BY_PEOPLE = {
    "node_modules",
    "site-packages",
    "__pycache__",
    "__macosx",
    "thumbs.db",
    "desktop.ini",
}
"""Folders of packages and files of the system, in small letters; most others of their kind are hidden."""
_LOCK_OF_OFFICE = "~$"


class FoundFiles(Value, frozen=True, kw_only=True):
    """The files that a person means by a list of paths.

    Attributes:
        files: Absolute paths, sorted, without repeats; a folder that is a course is one of them.
        roots: The paths that were named, absolute: what is known under them and not found is gone.
        failed: Paths that led nowhere or could not be listed, with the reason; nothing under them counts as gone.
        skipped: Files of folders that are in no format that can be read; without hidden ones and those of programs.
        only: What is known from elsewhere goes too.
    """

    files: tuple[str, ...]
    roots: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    skipped: tuple[str, ...] = ()
    only: bool = False


def find_files(paths: Iterable[str | Path], known: Iterable[str]) -> FoundFiles:
    """Lists the documents at `paths`; a missing path is no failure where `known` documents were at it."""
    known = tuple(known)
    walk = _Walk()
    roots = tuple(dict.fromkeys(map(os.path.realpath, paths)))
    for root in roots:
        was_known = any(is_under(path, [root]) for path in known)
        if os.path.isdir(root):
            walk.folder(root, was_known)
        elif not _is_text(root):
            walk.failed.append((root, _NO_TEXT))
        elif os.path.lexists(root):
            # Named by itself: a file of another kind is refused with a reason, not passed over.
            walk.files.add(root)
        elif not was_known:
            walk.failed.append((root, "there is no such file or folder"))
    return FoundFiles(
        files=tuple(sorted(walk.files)),
        roots=roots,
        failed=tuple(walk.failed),
        skipped=tuple(walk.skipped),
    )


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
    return f"no file in {', '.join(found.roots)} ends in {', '.join(suffixes())}"


def counted_by_ending(paths: Iterable[str]) -> str:
    """Counts files by the endings of their names, the commonest first: "12 .png, 3 without an ending"."""
    counts: Counter[str] = Counter()
    for path in paths:
        ending = os.path.splitext(path)[1].lower()
        counts[ending[:_LONGEST_ENDING] or "without an ending"] += 1
    common = counts.most_common(_MOST_ENDINGS)
    listed = [f"{count} {ending}" for ending, count in common]
    others = counts.total() - sum(count for _, count in common)
    if others:
        listed.append(f"{others} others")
    return ", ".join(listed)


def is_under(path: str, roots: Iterable[str]) -> bool:
    """Returns True if `path` is one of the roots or lies in one."""
    return any(
        path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots
    )


class _Walk:
    """What is found in folders: documents, files in no format that can be read, and what failed."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.failed: list[tuple[str, str]] = []
        self.skipped: list[str] = []

    def folder(self, root: str, was_known: bool) -> None:
        """Walks a folder; one that holds files and not one document fails, unless there were documents before."""
        found = len(self.files)
        skipped = len(self.skipped)
        for folder, subfolders, names in os.walk(root, onerror=self._fail):
            # In place, so that `os.walk` does not descend into the others.
            subfolders[:] = filter(_may_be_of_a_course, subfolders)
            seen = list(filter(_may_be_of_a_course, names))
            self._files_of(folder, seen, root)
        passed_over = self.skipped[skipped:]
        if passed_over and len(self.files) == found and not was_known:
            reason = f"none of its files is in a format that can be read: {counted_by_ending(passed_over)}"
            self.failed.append((root, reason))

    def _fail(self, error: OSError) -> None:
        self.failed.append(
            (str(error.filename), f"the folder cannot be listed: {error.strerror}")
        )

    def _files_of(self, folder: str, names: list[str], root: str) -> None:
        """Takes what one folder holds: its files, but for those that make the folder itself a course."""
        lessons = _lessons_in(folder, names)
        if lessons:
            self.files.add(folder)
        for name in names:
            path = os.path.join(folder, name)
            if path in lessons:
                continue
            if format_of(name) is None:
                self.skipped.append(path)
            elif not _is_text(path):
                self.failed.append((path, _NO_TEXT))
            elif not _leads_outside(path, root):
                self.files.add(path)


def _may_be_of_a_course(name: str) -> bool:
    """Returns False for a file or folder that programs put there; who names one by itself has it read."""
    if name.startswith((".", _LOCK_OF_OFFICE)):
        return False
    return name.lower() not in _NOT_WRITTEN_BY_PEOPLE


def _lessons_in(folder: str, names: list[str]) -> set[str]:
    """Returns the files that make a folder a course; none where it is no course."""
    if not _is_text(folder):
        return set()
    regular = [name for name in names if _is_plain_file(folder, name)]
    course = course_files(folder, regular)
    return {file.path for file in course or ()}


def _is_plain_file(folder: str, name: str) -> bool:
    """Returns True for a file that may be a lesson: no link, and named in UTF-8."""
    return _is_text(name) and not os.path.islink(os.path.join(folder, name))


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
