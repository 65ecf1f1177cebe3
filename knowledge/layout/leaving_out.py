"""Finds the reason why a file of a repository is not part of a course, by its name and its folder."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from fnmatch import fnmatch

from antiphon.knowledge.layout.furniture import (
    translated,
    why_not_anywhere,
    why_not_at_the_top,
    why_not_in,
)
from antiphon.knowledge.layout.listing import Listing, is_about, is_in, is_text, stem_of
from antiphon.knowledge.layout.navigation import Navigation
from antiphon.knowledge.naming import is_name

_ALSO_IN_LESSONS = ("a translation", "a template", "a package", "built")
_NO_NAME = "it has no name"
_BY_OWNER = "`leave_out` of "
# Another table of contents may list these.
_BY_TABLE = (
    *("not in ", "a table of contents", "a text beside the course"),
    "beside the courses of the repository",
)


def why_not(listing: Listing, path: str, top: str) -> str:
    """Returns the reason why a file of a repository is not part of a course; empty if it may be.

    Args:
        top: The repository's folder.
    """
    folders = list(_folders(path, top))
    for folder in folders:
        reason = why_not_in(folder)
        if reason:
            return reason
    stem = stem_of(path)
    if not is_name(stem) and not is_about(path):
        return _NO_NAME
    if not folders:
        return why_not_at_the_top(stem) or _translation(listing, path)
    if is_about(path) and _is_alone(listing, posixpath.dirname(path)):
        return "about a folder without documents"
    return why_not_anywhere(stem) or _translation(listing, path)


def why_not_in_lesson(listing: Listing, path: str, folder: str) -> str:
    """Returns the reason why a file in a lesson's folder is not part of the lesson; empty if it is."""
    for name in _folders(path, folder):
        reason = why_not_in(name)
        if reason.startswith(_ALSO_IN_LESSONS):
            return reason
    stem = stem_of(path)
    if not is_name(stem) and not is_about(path):
        return _NO_NAME
    return why_not_anywhere(stem) or _translation(listing, path)


def why_not_listed(listing: Listing, path: str, navigation: Navigation) -> str:
    """Returns the reason why an unlisted file is not material of its course; empty if it is."""
    if is_left_out(path, navigation):
        return f"{_BY_OWNER}{navigation.source}"
    if posixpath.basename(path) == navigation.source:
        return "a table of contents"
    if navigation.is_whole:
        is_of_it = is_in(path, navigation.folder) or _is_page(listing, path)
        return f"not in {navigation.source}" if is_of_it else ""
    is_beside = is_text(path) and not navigation.is_own
    return "a text beside the course" if is_beside else ""


def is_left_out(path: str, navigation: Navigation) -> bool:
    """Returns True for a file that its owner leaves out, by its name or its path in the course's folder."""
    inside = posixpath.relpath(path, navigation.folder or ".")
    return any(_means(pattern, inside) for pattern in navigation.leave_out)


def _means(pattern: str, inside: str) -> bool:
    """Returns True if a pattern matches a file's name or its path; after "./" it must match the path."""
    if pattern.startswith("./"):
        return fnmatch(f"./{inside}", pattern)
    return fnmatch(inside, pattern) or fnmatch(posixpath.basename(inside), pattern)


def is_by_owner(reason: str) -> bool:
    """Returns True for the reason of a file that its owner left out."""
    return reason.startswith(_BY_OWNER)


def is_by_table(reason: str) -> bool:
    """Returns True for the reason of a file left out because a table of contents does not list it."""
    return reason.startswith(_BY_TABLE)


def _is_page(listing: Listing, path: str) -> bool:
    """Returns True for a page. Unlisted notebooks, slides and papers belong to a website, unlisted pages do not."""
    is_notebook = path.lower().endswith(".ipynb")
    return is_text(path) or (listing.may_be_lesson(path) and not is_notebook)


def _folders(path: str, top: str) -> Iterator[str]:
    """Yields the names of the folders between a folder and a file in it."""
    inside = posixpath.relpath(path, top or ".")
    yield from filter(None, posixpath.dirname(inside).split("/"))


def _translation(listing: Listing, path: str) -> str:
    base = translated(stem_of(path))
    original = f"{base}{posixpath.splitext(path)[1]}"
    if base and listing.has(posixpath.join(posixpath.dirname(path), original)):
        return f"a translation of {original}"
    return ""


def _is_alone(listing: Listing, folder: str) -> bool:
    """Returns True if a folder holds only files about folders."""
    return all(map(is_about, listing.documents(folder)))
