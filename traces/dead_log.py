"""Inspects the write-ahead log of a process that died: SQLite silently skips the damaged part of one.

SQLite reads a log up to its first damaged frame, and drops the rest (https://www.sqlite.org/walformat.html). The index
beside it (`-shm`) is up to date with the last commit, outlives the process, and says how many frames there were.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_BIG_ENDIAN = 0x377F0683
_LITTLE_ENDIAN = 0x377F0682
_WORD = 0xFFFFFFFF

# In the byte order of the machine: the frames up to the last commit, and how many of them the database holds already.
_INDEX = struct.Struct("=16xI28x")
_MOVED_AT = 96
_INDEX_BYTES = 136
_IN_USE_AT = 128
"""The byte of the index that every connection locks."""


class DeadLog(NamedTuple):
    """The number of frames committed to a log, and of those that SQLite will read."""

    committed: int
    sound: int

    @property
    def lost(self) -> int:
        """Pages of the database whose newest state is lost."""
        return max(0, self.committed - self.sound)


def dead_log(database: Path) -> DeadLog:
    """Inspects the log of a database that nobody has open; one in use was inspected when it was opened."""
    nothing = DeadLog(0, 0)
    index = Path(f"{database}-shm")
    if not index.exists() or _is_open_here(index):
        return nothing
    with _alone(index) as data:
        if data is None:
            return nothing
        (committed,) = _INDEX.unpack_from(data)
        (moved,) = struct.unpack_from("=I", data, _MOVED_AT)
        sound = _sound_frames(Path(f"{database}-wal"))
    # If the database holds all of the log, none of it is needed, and nothing older can replace it.
    if moved >= committed and not sound:
        return nothing
    return DeadLog(committed, sound)


@contextmanager
def _alone(index: Path) -> Iterator[bytes | None]:
    """Reads the index while nobody else can open the database; None if somebody has it open."""
    with index.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _IN_USE_AT)
        except OSError:
            yield None
            return
        data = file.read(_INDEX_BYTES)
        # It is too short, or its two copies differ: it was never complete, or the process died during a commit.
        if len(data) < _INDEX_BYTES or data[:48] != data[48:96]:
            yield None
            return
        yield data


def _is_open_here(path: Path) -> bool:
    """Returns True if this process has a file open: opening and closing it again would drop SQLite's locks on it
    (https://www.sqlite.org/howtocorrupt.html#_posix_advisory_locks_canceled_by_a_separate_thread_doing_close_)."""
    wanted = path.stat()
    for name in os.listdir("/dev/fd"):
        try:
            found = os.fstat(int(name))
        except OSError:
            continue  # the descriptor that reads the folder itself
        if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
            return True
    return False


def _sound_frames(log: Path) -> int:
    """Counts the frames up to the first damaged one, as SQLite does when it opens a log."""
    if not log.exists():
        return 0
    data = log.read_bytes()
    if len(data) < _HEADER.size:
        return 0
    magic, _, page_bytes, _, *salts, sum1, sum2 = _HEADER.unpack_from(data)
    if magic not in (_BIG_ENDIAN, _LITTLE_ENDIAN):
        return 0
    order = ">" if magic == _BIG_ENDIAN else "<"
    sums = _checksum(data[: _HEADER.size - 8], order, (0, 0))
    if sums != (sum1, sum2):
        return 0
    count = 0
    at = _HEADER.size
    while at + _FRAME.size + page_bytes <= len(data):
        head = _FRAME.unpack_from(data, at)
        end = at + _FRAME.size + page_bytes
        sums = _checksum(data[at : at + 8], order, sums)
        sums = _checksum(data[at + _FRAME.size : end], order, sums)
        if list(head[2:4]) != salts or head[4:] != sums:
            break
        count += 1
        at = end
    return count


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    """Continues SQLite's checksum over the log (https://www.sqlite.org/fileformat.html#checksum_algorithm)."""
    first, second = sums
    for one, two in struct.iter_unpack(f"{order}II", data):
        first = (first + one + second) & _WORD
        second = (second + two + first) & _WORD
    return first, second
