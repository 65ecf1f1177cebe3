"""Where the generations of the index lie, which one is in use, and how the next takes its place.

<data_dir>/knowledge/current               the number in use; changed by one atomic rename
<data_dir>/knowledge/generations/<n>/      catalogue.sqlite, chroma/; never written once it is in use
<data_dir>/knowledge/building/             the next one, while an indexer works or after one was killed
<data_dir>/knowledge/lock                  held by the indexer
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.values import Value

CATALOGUE = "catalogue.sqlite"
CHROMA = "chroma"


class Plan(Value, frozen=True, kw_only=True):
    """What a generation being built is to become; a run continues another's work only where they agree."""

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
        """Where generation `number` lies."""
        return self.root / "generations" / str(number)

    def current(self) -> int:
        """The number in use; 0 where nothing was indexed yet.

        Raises:
            KnowledgeError: The folder cannot be read.
        """
        try:
            return int(self._pointer.read_text())
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise KnowledgeError(f"the index {self.root} cannot be read: {error}") from error

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the indexer's lock; it goes with the process, however that ends.

        Raises:
            KnowledgeError: Another indexer runs, or the folder cannot be written.
        """
        with self.written():
            self.root.mkdir(parents=True, exist_ok=True)
            file = os.open(self.root / "lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(file)
            raise KnowledgeError(f"another `antiphon index` is writing {self.root}; wait until it is done") from error
        try:
            yield
        finally:
            os.close(file)

    @contextmanager
    def written(self) -> Iterator[None]:
        """Wraps what the file system says against writing."""
        try:
            yield
        except OSError as error:
            raise KnowledgeError(
                f"the data folder {self.root} cannot be written ({error}); "
                "make it writable, or name another in ANTIPHON_DATA_DIR"
            ) from error

    def left_over(self, plan: Plan) -> bool:
        """Whether a killed run left work that `plan` can go on with."""
        finished = self.folder(plan.base + 1)
        if finished.is_dir() and not self.building.exists():
            finished.rename(self.building)
        return self._plan.is_file() and self._plan.read_bytes() == msgspec.json.encode(plan)

    def clear_building(self) -> None:
        """Throws away what a killed run left, and makes an empty folder."""
        shutil.rmtree(self.building, ignore_errors=True)
        self.building.mkdir(parents=True)

    def keep_plan(self, plan: Plan) -> None:
        """Makes the folder one that can be gone on with; to be called when its catalogue is whole."""
        _write_through(self._plan, msgspec.json.encode(plan))

    def publish(self, number: int) -> None:
        """Puts what was built in use."""
        target = self.folder(number)
        target.parent.mkdir(exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        self.building.rename(target)
        _sync(target.parent)
        _write_through(self._pointer, str(number).encode())

    def numbers(self) -> list[int]:
        """All generations that lie there, oldest first."""
        folder = self.root / "generations"
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(name) for name in names if name.isdecimal())

    def remove(self, number: int) -> None:
        """Removes one generation's files."""
        shutil.rmtree(self.folder(number), ignore_errors=True)


def _write_through(path: Path, data: bytes) -> None:
    """Replaces a small file in one step that survives a power cut."""
    fresh = path.with_suffix(".new")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    _sync(path.parent)


def _sync(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
