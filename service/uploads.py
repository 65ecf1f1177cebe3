"""Files that callers send: chooses their names, refuses unusable ones, and undoes a failed run."""

from __future__ import annotations

import filecmp
import os
import re
import shutil
import time
import unicodedata
import uuid
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Literal

# As a module, so that the code for layouts of folders is loaded only if a course is removed or laid out.
from antiphon import knowledge
from antiphon.knowledge.readers import format_of, suffixes
from antiphon.vocabulary.access import without_keys
from antiphon.vocabulary.outside import one_line, without_controls
from antiphon.vocabulary.values import Value

FOLDER = "documents"
"""The folder of the callers' documents, in the data folder."""
INCOMING = ".incoming"
"""Incoming files, beside it in the same file system, and hidden, so that no run indexes a partial file."""
ORDER = "order.json"
"""The file with a job's order, beside the incoming files of the job."""

MOST_FILES = 100
MOST_FILE_BYTES = 30_000_000
MOST_BYTES = 64_000_000
"""Most bytes of one request."""
OLD_S = 86_400.0
"""Seconds after which no process can still be working with incoming files."""
MOST_FOLDERS = 4
MOST_NAME_BYTES = 120

_NOT_IN_NAMES = re.compile(r'[<>:"|?*]')
"""Characters that some file systems refuse."""
_CHUNK_BYTES = 1_048_576
_OF_FOLDER = "it describes the layout of a folder: send it with the files of that folder (`course/course.yaml`)"

FileStatus = Literal["added", "unchanged", "refused"]


class SentFile(Value, frozen=True, kw_only=True):
    """A file from a caller: its name or path in the form of the caller's machine, and its content."""

    name: str
    content: IO[bytes]


class FileResult(Value, frozen=True, kw_only=True):
    """The outcome for a file: `added` (also in place of an older one), `unchanged`, or `refused`.

    Attributes:
        reason: Why it was refused, or which parts of it could not be read.
    """

    name: str
    status: FileStatus
    reason: str = ""


class Upload:
    """The files of one request: kept apart until their run begins, put in place for it, and taken back if it fails.

    Attributes:
        refused: The files that were refused on arrival.
    """

    def __init__(self, data_dir: Path, job_id: str | None = None) -> None:
        """Keeps files in a folder with the id of their job; None makes an id."""
        self._folder = documents_folder(data_dir)
        self._aside = data_dir / INCOMING / (job_id or uuid.uuid4().hex)
        self.refused: list[FileResult] = []
        self._paths: list[PurePosixPath] = []
        self._placed: set[PurePosixPath] = set()

    @classmethod
    def left_behind(
        cls,
        data_dir: Path,
        job_id: str,
        names: Iterable[str],
        refused: Iterable[FileResult],
    ) -> Upload:
        """Returns the files that a dead process had received, and perhaps put in place."""
        upload = cls(data_dir, job_id)
        upload._paths = list(map(PurePosixPath, names))
        upload.refused = list(refused)
        return upload

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the accepted files."""
        return tuple(map(str, self._paths))

    def receive(self, sent: Iterable[SentFile]) -> None:
        """Receives files, and refuses those that can never be indexed."""
        _clear_old(self._aside.parent)
        for file in sent:
            path = kept_path(file.name)
            reason = self._refusal(path)
            if without_keys(file.name) != file.name:
                reason = "its name holds a key (`antiphon keys`): name it otherwise, and rotate the key"
            if path is not None and not reason:
                reason = self._write(file.content, self._new(path))
            if path is None or reason:
                shown = without_keys(one_line(file.name, 200))
                self.refused.append(
                    FileResult(name=shown, status="refused", reason=reason)
                )
            else:
                self._paths.append(path)

    def place(self) -> None:
        """Moves the files into the documents folder, and keeps those that they replace."""
        for path in self._paths:
            target = self._folder / path
            # A dead process had put it in place already.
            if not self._new(path).exists():
                self._placed.add(path)
                continue
            # By content, because a file that is sent again has a new time.
            if target.is_file() and filecmp.cmp(self._new(path), target, shallow=False):
                continue
            self._placed.add(path)
            if target.exists():
                _move(target, self._old(path))
            _move(self._new(path), target)

    def results(
        self,
        failed: Iterable[tuple[str, str]],
        losses: Iterable[tuple[str, str]] = (),
    ) -> tuple[FileResult, ...]:
        """Takes back the files that the run could not read, and returns the outcome for each.

        Args:
            failed: Absolute paths that could not be indexed, each with the reason.
            losses: Indexed paths, each with the parts that could not be read.
        """
        lost = {Path(path): words for path, words in losses}
        reasons = {Path(path): reason for path, reason in failed}
        results: list[FileResult] = []
        for path in self._paths:
            reason = self._reason(path, reasons)
            status: FileStatus = "unchanged"
            words = reason or lost.get(self._folder / path, "")
            if reason:
                status = "refused"
                self._take_back(path)
            elif path in self._placed:
                status = "added"
            results.append(FileResult(name=str(path), status=status, reason=words))
        return (*results, *self.refused)

    def undo(self) -> None:
        """Takes all files back, because the run did not succeed."""
        for path in self._paths:
            self._take_back(path)

    def close(self) -> None:
        """Removes the files kept apart."""
        shutil.rmtree(self._aside, ignore_errors=True)

    def _new(self, path: PurePosixPath) -> Path:
        return self._aside / "new" / path

    def _old(self, path: PurePosixPath) -> Path:
        return self._aside / "old" / path

    def _refusal(self, path: PurePosixPath | None) -> str:
        if path is None:
            return "it has no name that a file can be kept under"
        if path.name == knowledge.COURSE_FILE:
            return "" if path.parts[1:] else _OF_FOLDER
        if format_of(path.name) is None:
            return f"it is in no format that can be read: {', '.join(suffixes())}"
        if path in self._paths:
            return "another file of this name came with it"
        return ""

    def _write(self, content: IO[bytes], path: Path) -> str:
        """Copies a file; if that fails, returns the reason."""
        size = 0
        try:
            _make_folder(path.parent)
            with open(path, "xb", opener=_for_the_owner) as target:
                while chunk := content.read(_CHUNK_BYTES):
                    size += len(chunk)
                    if size > MOST_FILE_BYTES:
                        break
                    target.write(chunk)
        except OSError as error:
            return f"it could not be stored ({error.strerror})"
        if size > MOST_FILE_BYTES:
            path.unlink()
            return (
                f"it is larger than {MOST_FILE_BYTES // 1_000_000} MB: send it in parts"
            )
        return ""

    def _reason(self, path: PurePosixPath, reasons: dict[Path, str]) -> str:
        absolute = (self._folder / path).resolve()
        for failed, reason in reasons.items():
            # A folder of numbered files is one course, and fails as a whole.
            if absolute.is_relative_to(failed):
                return reason.replace(f"{self._folder.resolve()}{os.sep}", "")
        return ""

    def _take_back(self, path: PurePosixPath) -> None:
        # Files that were unchanged, or whose turn had not come, were not put there.
        if path not in self._placed:
            return
        target = self._folder / path
        if self._old(path).exists():
            _move(self._old(path), target)
        elif not self._new(path).exists():
            target.unlink(missing_ok=True)
            _remove_empty(target.parent, self._folder)


def documents_folder(data_dir: Path) -> Path:
    """Returns the folder of the callers' documents."""
    return data_dir / FOLDER


def folder_to_index(path: str, data_dir: Path) -> Path:
    """Returns the folder to index for reading a course again: that of all added documents, or its own elsewhere."""
    added = documents_folder(data_dir).resolve()
    return added if Path(path).is_relative_to(added) else Path(path)


def remove_document(path: Path, data_dir: Path) -> None:
    """Deletes the files of a course if a caller has added them; files elsewhere stay."""
    folder = documents_folder(data_dir).resolve()
    path = path.resolve()
    if path != folder and not path.is_relative_to(folder):
        return
    for file in knowledge.files_of_document(path, folder, data_dir):
        if file.is_relative_to(folder):
            file.unlink(missing_ok=True)
            _remove_empty(file.parent, folder)
    knowledge.drop_layout(str(path), data_dir)


def kept_path(name: str) -> PurePosixPath | None:
    """Returns the path of a file within the folder of documents; None if its name is unusable.

    The path does not leave the folder, is not hidden, and causes no trouble in file systems and terminals.
    """
    parts: list[str] = []
    # A name has the form of the caller's machine, which may separate folders by \\.
    for part in name.replace("\\", "/").split("/"):
        clean = unicodedata.normalize("NFC", without_controls(part))
        clean = _NOT_IN_NAMES.sub("_", clean).strip().lstrip(".")
        if clean:
            parts.append(_cut(clean))
    if not parts or not name.replace("\\", "/").split("/")[-1].strip(" ."):
        return None
    # In a deep path, the inner folders and the name are the informative parts.
    return PurePosixPath(*parts[-1 - MOST_FOLDERS :])


def _cut(part: str) -> str:
    """Cuts a name to the length that file systems allow, and keeps its ending."""
    stem, dot, ending = part.rpartition(".")
    if not dot or len(ending) > 10:
        stem, ending = part, ""
    room = MOST_NAME_BYTES - len(f".{ending}".encode())
    stem = stem.encode(errors="ignore")[:room].decode(errors="ignore")
    if ending:
        return f"{stem}.{ending}"
    return stem


def _clear_old(folder: Path) -> None:
    """Removes incoming files that a killed service left."""
    if not folder.is_dir():
        return
    for kept in folder.iterdir():
        # The next start resumes accepted jobs.
        if (kept / ORDER).exists():
            continue
        if time.time() - kept.stat().st_mtime > OLD_S:
            shutil.rmtree(kept, ignore_errors=True)


def _for_the_owner(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _make_folder(folder: Path) -> None:
    """Makes a folder and its missing parents, readable only for the owner."""
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)


def _move(source: Path, target: Path) -> None:
    _make_folder(target.parent)
    os.replace(source, target)


def _remove_empty(folder: Path, top: Path) -> None:
    """Removes a folder and its parents below `top` while they are empty."""
    while folder != top and folder.is_relative_to(top):
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
