"""Backups: indexes in use, traces and conversations, documents, keys and spending, as one file.

A backup is a tar file: the files of the data folder, then `manifest.json` with the size and hash of each. It leaves
out what belongs to running processes (locks, logs of SQLite, half-made generations).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from antiphon.access.access_file import FILE_NAME as ACCESS_FILE
from antiphon.access.tenant_libraries import FOLDER as TENANTS
from antiphon.knowledge import generation_in_use
from antiphon.traces import STORE_FILE, copy_store
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.private_files import (
    make_private_file,
    make_private_folder,
    make_private_tree,
)
from antiphon.vocabulary.program import program_version
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

MANIFEST = "manifest.json"
FORMAT = 1
TIMES = 3
"""Attempts at a copy while indexing runs put other generations in use."""

# The last one is built from what is on NATS (cluster/projection.py), and rebuilt if it is missing.
_LEFT_OUT = (
    "-wal",
    "-shm",
    "-journal",
    ".owner",
    ".new",
    "traces-of-cluster.sqlite",
)
_INCOMING = ".incoming"
_ASIDE = ".backing-up-"
_LOCK = "knowledge/lock"
_BUILDING = "knowledge/building/"
_GENERATIONS = "knowledge/generations/"
_PIECE = 1_000_000


class BackupFile(Value, frozen=True, kw_only=True):
    """One file of a backup; `path` is relative to the data folder."""

    path: str
    size_bytes: int
    sha256: str


class Manifest(Value, frozen=True, kw_only=True):
    """What a backup holds.

    Attributes:
        generation: The generation of the index; 0 if nothing is indexed.
    """

    format: int
    program: str
    generation: int
    files: tuple[BackupFile, ...]

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(file.size_bytes for file in self.files)


def back_up(data_dir: Path, target: Path, key: str | None = None) -> Manifest:
    """Writes a backup, even while a service runs and indexing goes on.

    Args:
        key: The key of the store of traces, which stays encrypted with it in the backup.

    Raises:
        BadInputError: There is no data folder, `target` exists or cannot be written, or the data kept changing.
        KnowledgeError: The index cannot be read.
        TraceError: The store cannot be read.
    """
    if not data_dir.is_dir():
        raise BadInputError(f"There is no data folder {data_dir} to back up.")
    if target.exists():
        raise BadInputError(f"{target} already exists: name another file.")
    try:
        for _ in range(TIMES):
            generations = _generations(data_dir)
            try:
                with _whole_file(target) as file:
                    return _written(data_dir, file, generations, key)
            except FileNotFoundError:
                # An indexing run put the next generation in use, and removed this one, while it was being copied.
                continue
    except OSError as error:
        raise BadInputError(
            f"{target} cannot be written ({error.strerror or error})."
        ) from error
    raise BadInputError("The data changed while it was copied: try again.")


def restore(backup: Path, data_dir: Path) -> Manifest:
    """Makes a data folder from a backup, all of it or nothing.

    Raises:
        BadInputError: The backup is incomplete or damaged, or the folder is not empty.
    """
    if data_dir.exists() and any(data_dir.iterdir()):
        raise BadInputError(
            f"{data_dir} is not empty: move it away, or name another folder with --data-dir."
        )
    make_private_folder(data_dir.parent)
    # Unpacked beside its place, so that one rename puts it there.
    aside = Path(tempfile.mkdtemp(prefix=".restoring-", dir=data_dir.parent))
    try:
        manifest = _unpacked(backup, aside)
        make_private_tree(aside)
        if data_dir.exists():
            data_dir.rmdir()
        aside.rename(data_dir)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise BadInputError(f"{backup} cannot be restored: {error}") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return manifest


@contextmanager
def _whole_file(target: Path) -> Iterator[IO[bytes]]:
    """Opens a file that only its owner may read, and that gets its name only when it is complete."""
    fresh = target.with_name(f".{target.name}.new")
    fresh.unlink(missing_ok=True)
    make_private_file(fresh)
    try:
        with fresh.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(target)
    finally:
        fresh.unlink(missing_ok=True)


def _generations(data_dir: Path) -> dict[str, int]:
    """Returns the generation in use of each index: the shared one, and those of tenants with documents of their own."""
    generations = {"": generation_in_use(data_dir)}
    for folder in sorted((data_dir / TENANTS).glob("*/")):
        generations[f"{TENANTS}/{folder.name}/"] = generation_in_use(folder)
    return generations


def _written(
    data_dir: Path, file: IO[bytes], generations: Mapping[str, int], key: str | None
) -> Manifest:
    packed: list[BackupFile] = []
    with tarfile.open(fileobj=file, mode="w") as tar:
        for path in sorted(data_dir.rglob("*")):
            name = path.relative_to(data_dir).as_posix()
            if path.is_file() and not path.is_symlink() and _belongs(name, generations):
                packed.append(_packed(tar, path, name, key))
        manifest = Manifest(
            format=FORMAT,
            program=program_version(),
            generation=generations[""],
            files=tuple(packed),
        )
        _add(tar, MANIFEST, BytesIO(msgspec.json.encode(manifest)))
    return manifest


def _belongs(name: str, generations: Mapping[str, int]) -> bool:
    """Returns True for the service's data, False for files of a process that uses it and generations not in use."""
    for root, generation in generations.items():
        if root and name.startswith(root):
            return _belongs_to_index(name.removeprefix(root), generation)
    return _belongs_to_index(name, generations[""])


def _belongs_to_index(name: str, generation: int) -> bool:
    if name.endswith(_LEFT_OUT) or name.startswith((_INCOMING, _ASIDE)):
        return False
    if name == _LOCK or name.startswith(_BUILDING):
        return False
    if name.startswith(_GENERATIONS):
        return name.startswith(f"{_GENERATIONS}{generation}/")
    return True


def _packed(tar: tarfile.TarFile, path: Path, name: str, key: str | None) -> BackupFile:
    if name not in (STORE_FILE, ACCESS_FILE):
        with path.open("rb") as file:
            return _add(tar, name, file)
    if name == ACCESS_FILE:
        # Keys are stored as hashes, so this file is not encrypted.
        key = None
    # The copy is made beside the data: the system's folder for temporary files may have less room.
    with tempfile.TemporaryDirectory(prefix=_ASIDE, dir=path.parent) as folder:
        copy = Path(folder) / name
        copy_store(path, copy, key)
        with copy.open("rb") as file:
            return _add(tar, name, file)


def _add(tar: tarfile.TarFile, name: str, file: IO[bytes]) -> BackupFile:
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    member = tarfile.TarInfo(name)
    member.size = size
    member.mode = 0o600
    hashed = _Hashed(file)
    tar.addfile(member, hashed)
    return BackupFile(path=name, size_bytes=size, sha256=hashed.hexdigest())


class _Hashed:
    """Hashes a file while tarfile reads it, so that the manifest describes the very bytes that were packed."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        return data

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def _unpacked(backup: Path, folder: Path) -> Manifest:
    """Unpacks a backup, which may be hostile, and checks it against its manifest."""
    found: dict[str, BackupFile] = {}
    manifest: Manifest | None = None
    with tarfile.open(backup, mode="r:") as tar:
        for member in tar:
            # Checked before it is opened: `extractfile` would follow a link.
            is_plain = member.isreg() and _is_safe(member.name)
            source = tar.extractfile(member) if is_plain else None
            if source is None:
                raise BadInputError(
                    f"{backup} holds {member.name!r}, which is no plain file: nothing is restored."
                )
            if member.name == MANIFEST:
                manifest = _read_manifest(backup, source)
            else:
                found[member.name] = _unpack(source, folder / member.name, member.name)
    if manifest is None:
        raise BadInputError(f"{backup} is no whole backup: its manifest is missing.")
    if {file.path: file for file in manifest.files} != found:
        raise BadInputError(
            f"{backup} is damaged: what it holds is not what its manifest says."
        )
    return manifest


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and name != ""


def _read_manifest(backup: Path, source: IO[bytes]) -> Manifest:
    try:
        manifest = msgspec.json.decode(source.read(), type=prepared(Manifest))
    except msgspec.DecodeError as error:
        raise BadInputError(f"{backup} is no backup of Antiphon: {error}") from error
    if manifest.format != FORMAT:
        raise BadInputError(
            f"{backup} has format {manifest.format}, from Antiphon {manifest.program}; this one reads format {FORMAT}."
        )
    return manifest


def _unpack(source: IO[bytes], target: Path, name: str) -> BackupFile:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    make_private_file(target)
    hashed = hashlib.sha256()
    size = 0
    with target.open("wb") as file:
        while piece := source.read(_PIECE):
            hashed.update(piece)
            size += len(piece)
            file.write(piece)
    return BackupFile(path=name, size_bytes=size, sha256=hashed.hexdigest())
