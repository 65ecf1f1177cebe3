"""Reads files in a separate process, which a file may kill: this process only waits, and starts another."""

from __future__ import annotations

import os
import select
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, NamedTuple, Protocol, cast

import msgspec

from antiphon.knowledge.layout import Layout, PlannedCourse
from antiphon.knowledge.readers.formats import added_formats
from antiphon.knowledge.reading_worker import (
    LENGTH_BYTES,
    Limits,
    ReadReply,
    ReadRequest,
    write_message,
)
from antiphon.knowledge.values import Document, KnownDocument
from antiphon.vocabulary.errors import DocumentError
from antiphon.vocabulary.program import child_environment
from antiphon.vocabulary.typed import prepared

_CHUNK_BYTES = 1_048_576
# A longer reply cannot be a document: LARGEST_TEXT characters of four bytes, and their places.
_LARGEST_REPLY_BYTES = 400_000_000
# A multiple of the limit of processor time, because a busy machine is not the file's fault.
_PATIENCE = 2


class ReadDocument(NamedTuple):
    """The outcome of reading: the document, unless it is unchanged, and its files that could not be read."""

    document: KnownDocument | None
    unread: tuple[tuple[str, str], ...] = ()


class ReadsDocuments(Protocol):
    """Reads files, and keeps the documents until they are stored."""

    def plan(self, root: str, files: Sequence[str]) -> Layout:
        """Works out the layout of a folder from the paths of the files below it.

        Raises:
            DocumentError: That failed; the reason is for the person who named the folder.
        """

    def read(
        self, path: str, known_hash: str | None, course: PlannedCourse | None = None
    ) -> ReadDocument:
        """Reads one file, or the files of a course, unless its hash is the known one.

        Raises:
            DocumentError: It cannot be used; the reason is for the person who named it.
        """

    def is_named(self, path: str) -> bool:
        """Returns False if the title of a document that was read is only the file's name."""

    def rename(self, path: str, title: str) -> None:
        """Gives a document that was read another title."""

    def document(self, path: str) -> Document:
        """Returns a document that was read."""


class ReadingProcess:
    """Reads each file in a process with limits; one process reads many files, until one of them kills it.

    Documents wait in a temporary file until they are stored, because a thousand would fill the memory.

    Args:
        layouts: The owner's stored layouts, by the paths of their folders.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        layouts: Mapping[str, str] | None = None,
    ) -> None:
        self._layouts = layouts or {}
        self._limits = limits or Limits()
        self._process: subprocess.Popen[bytes] | None = None
        self._spool: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._places: dict[str, tuple[int, int]] = {}
        self._titles: dict[str, str] = {}
        self._unnamed: set[str] = set()

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the process and forgets the documents."""
        self._stop()
        self._spool.close()

    def plan(self, root: str, files: Sequence[str]) -> Layout:
        stored: dict[str, str] = {}
        for folder, text in self._layouts.items():
            inside = os.path.relpath(folder, root)
            if not inside.startswith(os.pardir):
                stored["" if inside == os.curdir else inside] = text
        request = ReadRequest(path=root, listing=tuple(files), stored=stored)
        reply = self._ask(request)
        if reply.layout is None:
            reason = reply.reason or "it did not answer"
            raise DocumentError(root, f"its layout cannot be determined: {reason}")
        return reply.layout

    def read(
        self, path: str, known_hash: str | None, course: PlannedCourse | None = None
    ) -> ReadDocument:
        # Spares the process thousands of requests for empty files.
        if course is None and _is_empty(path):
            raise DocumentError(path, "it is empty")
        request = ReadRequest(path=path, known_hash=known_hash, course=course)
        reply = self._ask(request)
        if reply.reason is not None:
            raise DocumentError(reply.failed_path or path, reply.reason)
        document = reply.document
        if document is None:
            return ReadDocument(None, reply.unread)
        self._keep(document)
        known = KnownDocument(
            content_hash=document.content_hash,
            title=document.title,
            stamp=document.stamp,
        )
        return ReadDocument(known, reply.unread)

    def is_named(self, path: str) -> bool:
        return path not in self._unnamed

    def rename(self, path: str, title: str) -> None:
        self._titles[path] = title

    def document(self, path: str) -> Document:
        start, length = self._places[path]
        self._spool.seek(start)
        document = msgspec.json.decode(
            self._spool.read(length), type=prepared(Document)
        )
        return msgspec.structs.replace(
            document, title=self._titles.get(path, document.title)
        )

    def _keep(self, document: Document) -> None:
        data = msgspec.json.encode(document)
        start = self._spool.seek(0, os.SEEK_END)
        self._spool.write(data)
        self._places[document.path] = (start, len(data))
        if not document.is_named:
            self._unnamed.add(document.path)

    def _ask(self, request: ReadRequest) -> ReadReply:
        process = self._started()
        try:
            write_message(cast(IO[bytes], process.stdin), msgspec.json.encode(request))
            seconds = _PATIENCE * self._limits.seconds * request.files
            deadline = time.monotonic() + seconds
            answer = self._answer(process, deadline)
        except (OSError, TimeoutError, EOFError) as error:
            return ReadReply(reason=self._ended(error))
        reply = msgspec.json.decode(answer, type=prepared(ReadReply))
        if reply.is_last:
            self._stop()
        return reply

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            limits = msgspec.json.encode(self._limits).decode()
            formats = msgspec.json.encode(added_formats()).decode()
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-P",
                    "-m",
                    "antiphon.knowledge.reading_worker",
                    limits,
                    formats,
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=child_environment(),
                # Ctrl-C must reach only the parent, which ends this process itself.
                start_new_session=True,
            )
        return self._process

    def _answer(self, process: subprocess.Popen[bytes], deadline: float) -> bytes:
        stdout = cast(IO[bytes], process.stdout).fileno()
        length = int.from_bytes(_receive(stdout, LENGTH_BYTES, deadline), "big")
        if length > _LARGEST_REPLY_BYTES:
            raise EOFError
        return _receive(stdout, length, deadline)

    def _ended(self, error: Exception) -> str:
        """Explains a missing reply, and ends the process so that the next file gets another one."""
        status = self._stop()
        if isinstance(error, TimeoutError) or status == -signal.SIGXCPU:
            return f"it takes longer than {self._limits.seconds:g} s to read; split it"
        how = f"signal {-status}" if status < 0 else f"status {status}"
        return f"the process that read it ended ({how}); it is broken, or too large for this machine"

    def _stop(self) -> int:
        """Ends the process, if there is one, and returns its status."""
        process, self._process = self._process, None
        if process is None:
            return 0
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                _close(pipe)
        try:
            # The process ends by itself at the end of its input, if it still can.
            return process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


def _is_empty(path: str) -> bool:
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and not found.st_size


def _receive(file: int, length: int, deadline: float) -> bytes:
    """Reads `length` bytes before the deadline.

    Raises:
        TimeoutError: They did not arrive in time.
        EOFError: The other side ended.
    """
    parts = []
    poll = select.poll()
    poll.register(file, select.POLLIN)
    while length:
        left_s = deadline - time.monotonic()
        if left_s <= 0 or not poll.poll(left_s * 1_000):
            raise TimeoutError
        part = os.read(file, min(length, _CHUNK_BYTES))
        if not part:
            raise EOFError
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _close(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except OSError:
        # Closing flushes data for a process that has ended already.
        return
