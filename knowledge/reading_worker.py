"""The process that reads files: only here, within limits, do libraries parse hostile bytes.

reading_process.py starts it, with no secrets in its environment. It takes one request after another on standard input:
a document's path with its known hash, or a folder whose layout is wanted. Each request gets one reply.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import IO

import msgspec

from antiphon.knowledge.layout import Layout, Listing, PlannedCourse, plan
from antiphon.knowledge.loading import load_changed
from antiphon.knowledge.readers.formats import Format, add_formats
from antiphon.knowledge.values import Document
from antiphon.vocabulary.access import without_keys
from antiphon.vocabulary.errors import DocumentError
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

LENGTH_BYTES = 4
"""Each message consists of its length, most significant byte first, and its JSON."""
# Memory beyond which the process is not used again, because it does not give the memory back.
_RETIRE_BYTES = 300_000_000
_MOST_FILES = 2_000


class ReadRequest(Value, frozen=True, kw_only=True):
    """A document to read, unless its hash is the known one; or a folder to plan.

    Attributes:
        course: The plan of a course of several files; None for a document of one file.
        listing: All files below a folder, for a request for its layout.
        stored: The owner's stored layouts of folders below it.
    """

    path: str
    known_hash: str | None = None
    course: PlannedCourse | None = None
    listing: tuple[str, ...] | None = None
    stored: dict[str, str] | None = None

    @property
    def files(self) -> int:
        """The number of files to read, each with its own time limit."""
        return 1 if self.course is None else max(len(self.course.files), 1)


class ReadReply(Value, frozen=True, kw_only=True):
    """The document, or the reason why there is none; neither if the file is unchanged.

    Attributes:
        unread: Files of a course that could not be read, each with the reason.
        failed_path: The file that could not be read, if that is not the requested one.
        is_last: True if the process ends after this reply.
    """

    document: Document | None = None
    layout: Layout | None = None
    unread: tuple[tuple[str, str], ...] = ()
    reason: str | None = None
    failed_path: str | None = None
    is_last: bool = False


class Limits(Value, frozen=True, kw_only=True):
    """The limits of one file: seconds of processor time, and the memory of the process that reads it."""

    seconds: float = 60.0
    memory_bytes: int = 1_500_000_000


def write_message(file: IO[bytes], message: bytes) -> None:
    file.write(len(message).to_bytes(LENGTH_BYTES, "big") + message)
    file.flush()


def _read_message(file: IO[bytes]) -> bytes | None:
    """Reads one message; None at the end."""
    head = file.read(LENGTH_BYTES)
    if len(head) < LENGTH_BYTES:
        return None
    return file.read(int.from_bytes(head, "big"))


def _reply(request: ReadRequest, limits: Limits) -> ReadReply:
    try:
        if request.listing is not None:
            listing = Listing(request.path, request.listing, request.stored)
            return ReadReply(layout=plan(listing))
        loaded = load_changed(request.path, request.known_hash, request.course)
    except DocumentError as error:
        return ReadReply(reason=error.reason, failed_path=error.path)
    except MemoryError:
        limit = limits.memory_bytes // 1_000_000
        reason = f"it takes more than {limit} MB of memory to read; split it"
        return ReadReply(reason=reason, is_last=True)
    except RecursionError:
        return ReadReply(reason="it is nested too deeply")
    except Exception as error:  # noqa: BLE001 - an exception of a library about a broken file is no bug of ours
        return ReadReply(reason=f"it is broken ({type(error).__name__}: {error})"[:300])
    return ReadReply(document=loaded.document, unread=loaded.unread)


def _encode(reply: ReadReply, is_last: bool) -> bytes:
    try:
        message = msgspec.json.encode(msgspec.structs.replace(reply, is_last=is_last))
    except (MemoryError, UnicodeEncodeError) as error:
        reason = f"it cannot be handed on ({type(error).__name__})"
        return msgspec.json.encode(ReadReply(reason=reason, is_last=True))
    text = message.decode()
    # Anyone who may search could read it.
    if without_keys(text) != text:
        reason = "it holds a key (`antiphon keys`); take the key out, and rotate it"
        message = msgspec.json.encode(ReadReply(reason=reason, is_last=is_last))
    return message


def _limit(limits: Limits) -> None:
    """Limits the resources that a file can make this process use."""
    for kind, limit in (
        (resource.RLIMIT_AS, limits.memory_bytes),
        (resource.RLIMIT_CORE, 0),
        # The process need not write any file.
        (resource.RLIMIT_FSIZE, 0),
    ):
        _, most = resource.getrlimit(kind)
        if most != resource.RLIM_INFINITY:
            limit = min(limit, most)
        try:
            resource.setrlimit(kind, (limit, most))
        except (OSError, ValueError):
            # If a system does not support this limit, the others still apply.
            continue


def _allow_seconds(seconds: float) -> None:
    """Has a signal end this process once it has used so much more processor time, even if its parent is gone."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard == resource.RLIM_INFINITY or soft < hard:
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def _is_swollen() -> bool:
    """Returns True once this process holds much more memory than a small file needs."""
    try:
        # Not the peak that getrusage reports, which a process inherits from its parent.
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        # On systems other than Linux: a new process comes after so many files anyway.
        return False
    return pages * resource.getpagesize() > _RETIRE_BYTES


def main() -> None:
    """Answers requests until standard input ends."""
    limits = msgspec.json.decode(sys.argv[1], type=prepared(Limits))
    add_formats(msgspec.json.decode(sys.argv[2], type=prepared(tuple[Format, ...])))
    requests = sys.stdin.buffer
    # Output that a library prints must not get between the replies.
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    _limit(limits)
    files = 0
    while message := _read_message(requests):
        files += 1
        request = msgspec.json.decode(message, type=prepared(ReadRequest))
        _allow_seconds(limits.seconds * request.files)
        reply = _reply(request, limits)
        is_last = reply.is_last or files == _MOST_FILES or _is_swollen()
        write_message(replies, _encode(reply, is_last))
        if is_last:
            return


if __name__ == "__main__":
    main()
