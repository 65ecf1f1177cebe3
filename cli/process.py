"""The command's process: Ctrl-C, an output that cannot be written, and the end after the last line."""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Callable
from importlib import import_module
from types import FrameType
from typing import NoReturn, TextIO

INTERRUPTED = 130
"""Exit code after Ctrl-C: 128 and the signal's number, as shells have it."""

before_ending: list[Callable[[], object]] = []
"""What Ctrl-C still does: it ends the process without unwinding, so that nothing else is tidied up."""

_OBJECTS = 10_000
"""New objects after which the collector looks for garbage among them: a millisecond's work."""
_started_as = os.getpid()
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
    # Python sets no stream if the shell closed it (`>&-`), and nobody asks before writing.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as the process
    # Of the quarter of a million objects that imports make none is garbage; looking for it every 700 takes a quarter
    # of their time.
    gc.set_threshold(_OBJECTS, 20, 50)
    leave(_exit_code(sys.argv[1:]))


def end_at_once(_number: int = 0, _frame: FrameType | None = None) -> NoReturn:
    """Ends the process where it is, and says so; the handler of SIGINT wherever nothing is to be waited for.

    No exception is raised: one within an import is turned into another, one within an event loop leaves it half closed,
    and both are printed. Files are safe: whatever we write may be killed at any moment.
    """
    # A child of ours is sent the terminal's signal as well, and its parent speaks for it.
    if os.getpid() != _started_as:
        os._exit(INTERRUPTED)
    for tidy in before_ending:
        tidy()
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    # Not through `sys.stderr`, in the midst of whose writing the signal may have come.
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


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
    if stream is sys.stdout:
        # What it still holds is lost, and is not to be written, and complained of, once more at the end.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process
    return 1
