"""The files of a folder for working out its layout: their names, and the small texts that tell the order."""

from __future__ import annotations

import os
import posixpath
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from antiphon.knowledge.readers.formats import format_of
from antiphon.knowledge.readers.yaml_values import parsed

_MOST_BYTES = 400_000
"""Most bytes of a configuration file: more than any book's table of contents takes."""
_HEAD_BYTES = 8_000
_ABOUT = ("course", "index", "_index", "readme")
# Front matter, or the comment that hides it in some tools; TOML's has "=".
_HEAD = re.compile(
    r"\s*(?:<!--\s*)?(?:---|\+\+\+)[ \t]*\n(.{0,6000}?)\n(?:---|\+\+\+)", re.DOTALL
)
_FIELD = re.compile(
    r"^([A-Za-z_][\w-]{0,40})[ \t]{0,20}[:=][ \t]{0,20}(.{0,300}?)[ \t]{0,20}$",
    re.MULTILINE,
)
_SIGNS_OF_A_REPOSITORY = (".git", ".github", ".gitignore")
_FILE_OF_A_REPOSITORY = re.compile(
    r"(un)?licen[cs]e.*|code_of_conduct.*|contributing.*|package\.json|environment\.ya?ml|requirements\.txt"
    r"|pyproject\.toml|cargo\.toml|makefile|dockerfile|gemfile|.*\.rproj",
    re.IGNORECASE,
)


class Listing:
    """The files below a folder, by their paths relative to it, with "/" between their parts.

    A folder's path is relative too, and empty for the top one.

    Args:
        stored: The owner's stored layouts of folders, in the form of a `course.yaml`.
    """

    def __init__(
        self, root: str, files: Iterable[str], stored: Mapping[str, str] | None = None
    ) -> None:
        self.root = root
        self.stored = stored or {}
        self._files = sorted(files)
        self._known = set(self._files)
        self._names: dict[str, list[str]] = defaultdict(list)
        self._folders: dict[str, set[str]] = defaultdict(set)
        for path in self._files:
            folder, name = posixpath.split(path)
            self._names[folder].append(name)
            while folder:
                folder, name = posixpath.split(folder)
                self._folders[folder].add(name)
        self.text = cache(self._text)
        self.fields = cache(self._fields)

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files of a folder."""
        return self._names.get(folder, [])

    def folders(self, folder: str) -> list[str]:
        """Returns the names of the folders in a folder."""
        return sorted(self._folders.get(folder, ()))

    def below(self, folder: str) -> list[str]:
        """Returns the files of a folder and its subfolders."""
        if not folder:
            return self._files
        start = bisect_left(self._files, f"{folder}/")
        end = bisect_left(self._files, f"{folder}0")
        return self._files[start:end]

    def documents(self, folder: str) -> list[str]:
        """Returns the readable files below a folder."""
        return [path for path in self.below(folder) if format_of(path) is not None]

    def has(self, path: str) -> bool:
        return path in self._known

    def is_document(self, path: str) -> bool:
        """Returns True for a file in a readable format."""
        return format_of(path) is not None

    def may_be_lesson(self, path: str) -> bool:
        """Returns True for a file in a usual format of lessons: Markdown, transcripts, notebooks."""
        form = format_of(path)
        return form is not None and form.is_lesson

    def is_folder(self, path: str) -> bool:
        return path in self._names or path in self._folders

    def about(self, folder: str) -> str:
        """Returns the file of a folder that describes it; empty if there is none."""
        return next(iter(self.abouts(folder)), "")

    def abouts(self, folder: str) -> list[str]:
        """Returns all files of a folder that describe it, the best first."""
        found: dict[str, str] = {}
        for name in self.names(folder):
            if format_of(name) is not None and is_about(name):
                found.setdefault(stem_of(name).lower(), posixpath.join(folder, name))
        return [found[stem] for stem in _ABOUT if stem in found]

    def find(self, folder: str, target: str) -> str:
        """Returns the document that a navigation means by a path, with or without its ending; empty if there is none.

        For a folder it is the file about it, or the folder itself if there is none.
        """
        path = posixpath.normpath(posixpath.join(folder, target.strip().lstrip("/")))
        path = "" if path == "." else path
        if path in self._known:
            return path if format_of(path) is not None else ""
        if self.is_folder(path):
            return self.about(path) or path
        start, name = posixpath.split(path)
        for each in self.names(start):
            if stem_of(each) == name and format_of(each) is not None:
                return posixpath.join(start, each)
        return ""

    def is_repository(self, folder: str) -> bool:
        """Returns True for a published folder: it has a file about itself, and the usual files of a repository."""
        if not self.about(folder):
            return False
        if any(_FILE_OF_A_REPOSITORY.fullmatch(name) for name in self.names(folder)):
            return True
        place = os.path.join(self.root, folder)
        return any(
            os.path.lexists(os.path.join(place, name))
            for name in _SIGNS_OF_A_REPOSITORY
        )

    def head(self, path: str) -> str:
        """Returns the first lines of a file."""
        return self._read(path, _HEAD_BYTES)

    def values(self, path: str) -> Any:
        """Parses a file of YAML or JSON; None if it is missing or malformed."""
        return parsed(self.text(path))

    def _text(self, path: str) -> str:
        return self._read(path, _MOST_BYTES)

    def _fields(self, path: str) -> dict[str, str]:
        """Returns the single-line fields of a file's front matter."""
        found = _HEAD.match(self.head(path))
        if found is None:
            return {}
        fields: dict[str, str] = {}
        for name, value in _FIELD.findall(found[1]):
            fields.setdefault(name.lower(), value.strip("\"' "))
        return fields

    def _read(self, path: str, most: int) -> str:
        place = os.path.join(self.root, path)
        # A link may lead anywhere, and opening a named pipe would wait.
        if path not in self._known or os.path.islink(place):
            return ""
        try:
            with open(place, "rb") as file:
                return file.read(most).decode("utf-8-sig", errors="replace")
        except OSError:
            return ""


def stem_of(path: str) -> str:
    """Returns a file's name without its ending."""
    return posixpath.splitext(posixpath.basename(path))[0]


def is_about(path: str) -> bool:
    """Returns True for a file that describes its folder."""
    return stem_of(path).lower() in _ABOUT


def named_in(path: str) -> str:
    """Returns the name of a file's lesson: the folder's name for a file about its folder."""
    if is_about(path) and posixpath.dirname(path):
        return posixpath.basename(posixpath.dirname(path))
    return stem_of(path)


def is_in(path: str, folder: str) -> bool:
    """Returns True for a file in a folder or its subfolders."""
    return not folder or path.startswith(f"{folder}/")


def is_text(path: str) -> bool:
    """Returns True for formats that are usually data, code or web pages in a repository, rarely lessons."""
    return path.lower().endswith((".txt", ".html", ".htm"))
