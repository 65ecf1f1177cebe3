"""The command's process: Ctrl-C, an output that cannot be written, and the end after the last line."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import FrameType
from typing import NoReturn, TextIO

Handler = Callable[[int, FrameType | None], object]

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the signal's number, as shells have it."""

_SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"
"""Ends the line of a progress bar and brings the cursor back, which it hides."""


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line.

    Args:
        arguments: What follows the program's name; None takes those of this process, and ends it.
    """
    if arguments is not None:
        _command_line(arguments)
        return
    # From here on: importing the commands takes longer than anything else that they do. A signal that is ignored, as
    # in the background of a shell script, stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_at_once)
    leave(_exit_code(sys.argv[1:]))


def end_at_once(_number: int = 0, _frame: FrameType | None = None) -> NoReturn:
    """Ends the process where it stands, and says so; the handler of SIGINT where nothing has to be tidied up.

    No exception is raised: one within an import is turned into another, or printed by whoever was being imported.
    """
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    # Not through `sys.stderr`, in the midst of whose writing the signal may have come.
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


@contextmanager
def unwinding() -> Iterator[None]:
    """Lets Ctrl-C end what runs within as an exception, for what has to be tidied up; a second one ends it at once."""
    with signal_handled(_unwind):
        yield


@contextmanager
def signal_handled(handler: Handler) -> Iterator[None]:
    """Handles SIGINT by `handler`, and turns the KeyboardInterrupt that comes of it into one line and an exit code."""
    # Elsewhere, such as in a test's process, signals are not ours.
    is_ours = signal.getsignal(signal.SIGINT) is end_at_once
    if is_ours:
        signal.signal(signal.SIGINT, handler)
    try:
        yield
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        raise SystemExit(INTERRUPTED) from None
    finally:
        if is_ours:
            signal.signal(signal.SIGINT, end_at_once)


def leave(code: int) -> NoReturn:
    """Ends the process now.

    Not by returning: taking torch, Chroma and a thousand modules apart takes up to four seconds, in which nothing
    happens that anybody waits for. What we opened is closed by now, and a file that is not is safe from a kill.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            code = _unwritten(stream, error)
    os._exit(code)


def _exit_code(arguments: list[str]) -> int:
    try:
        _command_line(arguments)
    except SystemExit as ended:
        if isinstance(ended.code, int):
            return ended.code
        return int(ended.code is not None)
    except OSError as error:
        # Files are named in their errors; only an output has no name.
        if error.errno not in (errno.ENOSPC, errno.EPIPE, errno.EIO) or error.filename:
            raise
        return _unwritten(sys.stdout, error)
    return 0


def _command_line(arguments: list[str]) -> None:
    # Imported here and not above, so that Ctrl-C is handled while it is.
    import_module("antiphon.cli.entry").run(arguments)


def _unwritten(stream: TextIO, error: OSError) -> int:
    """Says that the output is lost, and returns the exit code."""
    # Somebody who closed a pipe, such as `head`, has read what they wanted.
    if stream is sys.stdout and error.errno != errno.EPIPE:
        os.write(
            2, f"antiphon: the output cannot be written: {error.strerror}\n".encode()
        )
    return 1


def _unwind(_number: int, _frame: FrameType | None) -> NoReturn:
    signal.signal(signal.SIGINT, end_at_once)
    raise KeyboardInterrupt
