"""Finds the files that a person means by paths: documents in folders, with the files skipped and the failures."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from antiphon.knowledge.layout import (
    COURSE_FILE,
    Layout,
    Listing,
    PlannedCourse,
    plan,
)
from antiphon.knowledge.readers.formats import format_of, suffixes
from antiphon.vocabulary.errors import DocumentError, KnowledgeError
from antiphon.vocabulary.values import Value

_NO_TEXT = "its path is not in UTF-8; rename it"
_PART = "it lies in the folder of an indexed course, {course}: index that folder to bring it up to date"
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
"""Folders of packages and of the system, in lower case; most others of their kind are hidden."""
_LOCK_OF_OFFICE = "~$"


Plan = Callable[[str, Sequence[str]], Layout]
"""Returns the layout of a folder, from the paths of the files below it."""


class Choice(Value, frozen=True, kw_only=True):
    """The choice of files in folders, by patterns such as "*.md" or "week1/*".

    Attributes:
        include: Only files that match one of these; all if there are none.
        exclude: No files that match one of these.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def why_not(self, path: str) -> str:
        """Returns the reason why a file is not wanted, by its path in the folder; empty if it is."""
        for pattern in self.exclude:
            if _fits(path, pattern):
                return f"--exclude {pattern}"
        if self.include and not any(_fits(path, each) for each in self.include):
            return "no --include fits it"
        return ""


def _fits(path: str, pattern: str) -> bool:
    """Returns True if a pattern means a file by its name, by its path, or by a folder that it lies in."""
    folder = pattern.rstrip("/")
    named = fnmatch(os.path.basename(path), pattern) or fnmatch(path, pattern)
    return named or fnmatch(path, f"{folder}/*")


_ALL = Choice()


class FoundFiles(Value, frozen=True, kw_only=True):
    """The files that a person means by a list of paths.

    Attributes:
        files: Absolute paths of documents, sorted, without repeats; a course of several files is one, by its folder.
        courses: The files of those courses.
        roots: The named paths, absolute: known documents under them that are not found are gone.
        failed: Paths that led nowhere or could not be listed, with the reason; nothing under them counts as gone.
        skipped: Files of folders in no readable format, except hidden ones and those of programs.
        left_out: Files of folders that belong to no course, each with the reason.
        only: True to remove known documents from elsewhere too.
    """

    files: tuple[str, ...]
    roots: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]
    courses: tuple[PlannedCourse, ...] = ()
    skipped: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    only: bool = False


def plan_here(root: str, files: Sequence[str]) -> Layout:
    """Works out the layout of a folder in this process, for files that are not hostile."""
    return plan(Listing(root, files))


def find_files(
    paths: Iterable[str | Path],
    known: Iterable[str],
    plan: Plan = plan_here,
    choice: Choice = _ALL,
) -> FoundFiles:
    """Lists the documents at `paths`; a missing path is no failure if it held `known` documents."""
    known = tuple(known)
    walk = _Walk(plan, choice)
    roots = tuple(dict.fromkeys(map(os.path.realpath, paths)))
    for root in roots:
        was_known = any(is_under(path, [root]) for path in known)
        course = "" if was_known else _course_round(root, known)
        if course:
            if not is_under(course, roots):
                walk.failed.append((root, _PART.format(course=course)))
        elif os.path.isdir(root):
            walk.folder(root, was_known)
        elif not _is_text(root):
            walk.failed.append((root, _NO_TEXT))
        elif os.path.lexists(root):
            # The person named this file, so one of another kind is refused with a reason, not skipped.
            walk.files.add(root)
        elif not was_known:
            walk.failed.append((root, "there is no such file or folder"))
    return FoundFiles(
        files=tuple(sorted(walk.files - walk.of_courses())),
        courses=tuple(walk.courses),
        roots=roots,
        failed=tuple(walk.failed),
        skipped=tuple(walk.skipped),
        left_out=tuple(walk.left_out),
    )


def find_only(
    paths: Iterable[str | Path],
    known: Iterable[str],
    plan: Plan = plan_here,
    choice: Choice = _ALL,
) -> FoundFiles:
    """Lists the documents at `paths`, which are to be the only ones.

    Raises:
        KnowledgeError: A path cannot be read, or they hold no documents: a typing error must not empty the library.
    """
    roots = list(map(os.path.realpath, paths))
    # A named path may be a part of a course, which is removed.
    staying = [path for path in known if is_under(path, roots)]
    found = find_files(roots, staying, plan, choice)
    if found.failed or not found.files:
        raise KnowledgeError(
            f"nothing was removed, because {why_nothing(found)}; --only keeps what it names and nothing else"
        )
    return msgspec.structs.replace(found, only=True)


def why_nothing(found: FoundFiles) -> str:
    """Explains why paths hold no document."""
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


def _course_round(path: str, known: Iterable[str]) -> str:
    """Returns the folder of the known course that contains a path; empty if there is none."""
    for course in known:
        if path != course and is_under(path, [course]) and os.path.isdir(course):
            return course
    return ""


class _Walk:
    """The finds in folders: documents, files in no readable format, and failures."""

    def __init__(self, plan: Plan, choice: Choice) -> None:
        self.files: set[str] = set()
        self.courses: list[PlannedCourse] = []
        self.failed: list[tuple[str, str]] = []
        self.skipped: list[str] = []
        self.left_out: list[tuple[str, str]] = []
        self._plan = plan
        self._choice = choice

    def folder(self, root: str, was_known: bool) -> None:
        """Walks a folder; one with files but no document fails, unless it had documents before."""
        found, skipped = len(self.files), len(self.skipped)
        left_out = len(self.left_out)
        listed: list[str] = []
        for folder, subfolders, names in os.walk(root, onerror=self._fail):
            # Changed in place, so that `os.walk` does not descend into the others.
            subfolders[:] = filter(_may_be_of_a_course, subfolders)
            for name in filter(_may_be_of_a_course, names):
                self._file(os.path.join(folder, name), root, listed)
        try:
            self._take(root, self._plan(root, listed))
        except DocumentError as error:
            self.failed.append((error.path, error.reason))
            return
        if len(self.files) == found and not was_known:
            self._say_why_nothing(
                root, self.skipped[skipped:], self.left_out[left_out:]
            )

    def of_courses(self) -> set[str]:
        """Returns the files of the courses, some of which the person may have named too."""
        paths: set[str] = set()
        for course in self.courses:
            paths.update([os.path.join(course.path, file) for file in course.files])
        return paths

    def _say_why_nothing(
        self,
        root: str,
        skipped: Sequence[str],
        left_out: Sequence[tuple[str, str]],
    ) -> None:
        """Fails a folder with files but no document."""
        if left_out:
            path, reason = left_out[0]
            why = f"all of its documents are left out, such as {path} ({reason})"
            self.failed.append((root, why))
        elif skipped:
            why = f"none of its files is in a format that can be read: {counted_by_ending(skipped)}"
            self.failed.append((root, why))

    def _fail(self, error: OSError) -> None:
        self.failed.append(
            (str(error.filename), f"the folder cannot be listed: {error.strerror}")
        )

    def _file(self, path: str, root: str, listed: list[str]) -> None:
        """Takes one file of a folder; the listed ones decide the layout."""
        is_document = format_of(path) is not None
        if not _is_text(path):
            if is_document:
                self.failed.append((path, _NO_TEXT))
            return
        inside = os.path.relpath(path, root)
        reason = self._choice.why_not(inside) if is_document else ""
        if reason:
            self.left_out.append((path, reason))
        elif not os.path.islink(path):
            listed.append(inside)
        elif is_document and is_under(os.path.realpath(path), [root]):
            # A link may lead anywhere; one whose target is in the folder counts as a document of its own.
            self.files.add(path)
        # Our own table of contents is not skipped: the layout follows it, or fails with the reason.
        if not is_document and os.path.basename(path) != COURSE_FILE:
            self.skipped.append(path)

    def _take(self, root: str, layout: Layout) -> None:
        self.courses += layout.courses
        self.files.update(course.path for course in layout.courses)
        self.files.update(os.path.join(root, file) for file in layout.documents)
        for file, reason in layout.left_out:
            self.left_out.append((os.path.join(root, file), reason))
        for file, reason in layout.failed:
            self.failed.append((os.path.join(root, file), reason))


def _may_be_of_a_course(name: str) -> bool:
    """Returns False for a file or folder made by programs; a person who names one explicitly has it read."""
    if name.startswith((".", _LOCK_OF_OFFICE)):
        return False
    return name.lower() not in _NOT_WRITTEN_BY_PEOPLE


def _is_text(path: str) -> bool:
    """Returns True for a path that is valid text; Python reads invalid bytes as lone surrogates."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
