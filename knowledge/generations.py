"""The generations of the index on disk: the one in use, and the one that is to replace it.

<data_dir>/knowledge/current               the number in use; changed by one atomic rename
<data_dir>/knowledge/generations/<n>/      catalogue.sqlite, chroma/, vectors.f32; never written once it is in use
<data_dir>/knowledge/building/             the next one, while an indexer works or after one was killed
<data_dir>/knowledge/lock                  held by the indexer
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.private_files import (
    make_private_folder,
    make_private_tree,
)
from antiphon.vocabulary.values import Value

CATALOGUE = "catalogue.sqlite"
CHROMA = "chroma"
MATRIX = "vectors.f32"
REBUILD_ADVICE = "build it again with `antiphon index --rebuild PATH…`"
_FULL_ADVICE = (
    "the disk is full: free some space, or name a folder on another disk in ANTIPHON_DATA_DIR (--data-dir), "
    "and do it again; the index in use stays as it was"
)


def advice(error: Exception) -> str:
    """Says what to do about an index that could not be read or written: a rebuild needs free space too."""
    if _is_full(error):
        return _FULL_ADVICE
    return f"the documents themselves are as they were: {REBUILD_ADVICE}"


def _is_full(error: Exception) -> bool:
    if isinstance(error, sqlite3.Error):
        # The low byte of an extended code is its primary code: https://www.sqlite.org/rescode.html.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    # Chroma passes on SQLite's words.
    return "disk is full" in str(error)


def collection_name(library: str, number: int) -> str:
    """Returns a generation's name on a Chroma server, which several libraries may share."""
    return f"antiphon-{library}-{number}"


class Plan(Value, frozen=True, kw_only=True):
    """The purpose of a generation being built; a run continues another's work only if they agree."""

    base: int
    embedder: str
    format: str
    rebuild: bool


class Generations:
    """The folder of all generations."""

    def __init__(self, data_dir: Path) -> None:
        self.root = data_dir / "knowledge"
        self.building = self.root / "building"
        self._pointer = self.root / "current"
        self._plan = self.building / "plan.json"

    def folder(self, number: int) -> Path:
        """Returns the folder of generation `number`."""
        return self.root / "generations" / str(number)

    def current(self) -> int:
        """Returns the number in use; 0 before the first indexing run.

        Raises:
            KnowledgeError: The folder cannot be read.
        """
        try:
            return int(self._pointer.read_text())
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise KnowledgeError(
                f"the index {self.root} cannot be read: {error}"
            ) from error
        except ValueError as error:
            raise KnowledgeError(
                f"the index {self.root} cannot be used (its file `current` is damaged); the documents themselves are "
                "as they were: move that folder away, and index them again with `antiphon index PATH…`"
            ) from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the indexer's lock, which ends with the process, no matter how that ends.

        Raises:
            KnowledgeError: Another indexer runs, or the folder cannot be written.
        """
        with self.write_errors():
            make_private_folder(self.root.parent)
            make_private_folder(self.root)
            file = os.open(
                self.root / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600
            )
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(file)
            raise KnowledgeError(
                f"another `antiphon index` is writing {self.root}; wait until it is done"
            ) from error
        try:
            yield
        finally:
            self.protect()
            os.close(file)

    def protect(self) -> None:
        """Removes the rights of others from everything here, because Chroma makes its files readable for all."""
        make_private_tree(self.root)

    @contextmanager
    def write_errors(self) -> Iterator[None]:
        """Wraps the file system's errors about writing, once, in our words."""
        try:
            yield
        except OSError as error:
            what_to_do = "make it writable, or name another in ANTIPHON_DATA_DIR"
            if _is_full(error):
                what_to_do = _FULL_ADVICE
            raise KnowledgeError(
                f"the data folder {self.root} cannot be written ({error}); {what_to_do}"
            ) from error

    def can_continue(self, plan: Plan) -> bool:
        """Returns True if a killed run left work that `plan` can continue."""
        # A run killed between its two renames left a complete generation that nothing points to.
        finished = self.folder(plan.base + 1)
        if finished.is_dir() and not self.building.exists():
            finished.rename(self.building)
        return self._plan.is_file() and self._plan.read_bytes() == msgspec.json.encode(
            plan
        )

    def clear_building(self) -> None:
        """Removes the remains of a killed run."""
        shutil.rmtree(self.building, ignore_errors=True)
        self.building.mkdir(parents=True)

    def save_plan(self, plan: Plan) -> None:
        """Marks the folder as one to continue; call it when its catalogue is complete."""
        _write_through(self._plan, msgspec.json.encode(plan))

    def publish(self, number: int) -> None:
        """Puts the generation being built in use."""
        target = self.folder(number)
        target.parent.mkdir(exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        self.building.rename(target)
        # The folder must have reached the disk before the pointer names it.
        _sync(target.parent)
        _write_through(self._pointer, str(number).encode())

    def numbers(self) -> list[int]:
        """Lists all generations on disk, oldest first."""
        folder = self.root / "generations"
        if not folder.is_dir():
            return []
        return sorted(map(int, filter(str.isdecimal, os.listdir(folder))))

    def remove(self, number: int) -> None:
        """Removes one generation's files."""
        shutil.rmtree(self.folder(number), ignore_errors=True)


def generation_in_use(data_dir: Path) -> int:
    """Returns the number of the generation in use; 0 if nothing is indexed.

    Raises:
        KnowledgeError: The data folder cannot be read.
    """
    return Generations(data_dir).current()


def index_size(data_dir: Path) -> int:
    """Returns the bytes of the index in use; 0 if nothing is indexed.

    Raises:
        KnowledgeError: The data folder cannot be read.
    """
    generations = Generations(data_dir)
    folder = generations.folder(generations.current())
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _write_through(path: Path, data: bytes) -> None:
    """Replaces a small file in one step that survives a power cut."""
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    # Without this a power cut may undo the rename.
    _sync(path.parent)


def _sync(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
