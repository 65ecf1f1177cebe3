"""The files that a person means by a list of paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from antiphon.knowledge.loading import SUFFIXES
from antiphon.vocabulary.values import Value


class FoundFiles(Value, frozen=True, kw_only=True):
    """What the paths led to.

    Attributes:
        files: Absolute paths, sorted, without repeats.
        roots: The paths that were named, absolute: what is known under them and not found is gone.
        failed: Paths that led nowhere or could not be listed, with the reason; nothing under them counts as gone.
    """

    files: tuple[str, ...]
    roots: tuple[str, ...]
    failed: tuple[tuple[str, str], ...]


def is_under(path: str, roots: Iterable[str]) -> bool:
    """Whether `path` is one of the roots or lies in one."""
    return any(path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in roots)


def find_files(paths: Iterable[str | Path], known: Iterable[str]) -> FoundFiles:
    """Lists the documents at `paths`; a missing path is no failure where `known` documents stood at it."""
    files: set[str] = set()
    failed: list[tuple[str, str]] = []
    roots = tuple(dict.fromkeys(os.path.realpath(path) for path in paths))
    for root in roots:
        if os.path.isdir(root):
            files.update(_walk(root, failed))
        elif os.path.lexists(root):
            files.add(root)
        elif not any(is_under(path, [root]) for path in known):
            failed.append((root, "there is no such file or folder"))
    return FoundFiles(files=tuple(sorted(files)), roots=roots, failed=tuple(failed))


def _walk(root: str, failed: list[tuple[str, str]]) -> Iterator[str]:
    def unlisted(error: OSError) -> None:
        failed.append((str(error.filename), f"the folder cannot be listed: {error.strerror}"))

    for folder, subfolders, names in os.walk(root, onerror=unlisted, followlinks=False):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        for name in names:
            path = os.path.join(folder, name)
            if name.lower().endswith(SUFFIXES) and not name.startswith(".") and _stays_inside(path, root):
                yield path


def _stays_inside(path: str, root: str) -> bool:
    """A link that leads out of the folder is not followed: it could show any file of the machine."""
    return not os.path.islink(path) or is_under(os.path.realpath(path), [root])
