"""The command's process: its reaction to Ctrl-C and to an output that cannot be written, and its end."""

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
"""Exit code after Ctrl-C: 128 plus the signal's number, as in shells."""

before_ending: list[Callable[[], object]] = []
"""The cleanup that Ctrl-C still does: it ends the process without unwinding, so nothing else cleans up."""

_OBJECTS = 10_000
"""New objects after which the garbage collector looks at them, which takes a millisecond."""
_started_as = os.getpid()
_SHOW_CURSOR = b"\r\x1b[K\x1b[?25h"
"""Clears the line of a progress bar and shows the cursor again, which the bar hides."""


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line.

    Args:
        arguments: The arguments after the program's name; None: this process's own, and the process then ends.
    """
    if arguments is not None:
        _command_line(arguments)
        return
    # Set before the commands are imported, which takes longer than most of their work. A signal that is ignored, as in
    # the background of a shell script, stays ignored.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_at_once)
    # Python leaves a stream as None if the shell closed it (`>&-`), and code that writes does not check that.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - open as long as the process
    # Imports make a quarter of a million objects, none of which is garbage; Python's default of looking every 700
    # objects costs a quarter of their time.
    gc.set_threshold(_OBJECTS, 20, 50)
    leave(_exit_code(sys.argv[1:]))


def end_at_once(_number: int = 0, _frame: FrameType | None = None) -> NoReturn:
    """Ends the process at once, with a word about it; the handler of SIGINT whenever nothing needs to be awaited.

    It raises no exception: within an import that would turn into another one, within an event loop it would leave the
    loop half closed, and both would be printed. Files are safe: all our writing survives a kill at any moment.
    """
    # The terminal signals our child processes too; the parent's message is enough.
    if os.getpid() != _started_as:
        os._exit(INTERRUPTED)
    for tidy in before_ending:
        tidy()
    if os.isatty(2):
        os.write(2, _SHOW_CURSOR)
    # Not through `sys.stderr`: the signal may have interrupted a write to it, and the stream is not reentrant.
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def leave(code: int) -> NoReturn:
    """Ends the process now.

    Returning normally would spend up to four seconds on tearing down torch, Chroma and a thousand modules, for nothing
    that anybody waits for. Everything that we opened is closed by now, and any other file survives a kill.
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
        # An error with a file's name is about that file; one without is about the output.
        if error.errno not in (errno.ENOSPC, errno.EPIPE, errno.EIO) or error.filename:
            raise
        return _unwritten(sys.stdout, error)
    return 0


def _command_line(arguments: list[str]) -> None:
    # Imported here rather than above, so that Ctrl-C already works during the import.
    import_module("antiphon.cli.entry").run(arguments)


def _unwritten(stream: TextIO, error: OSError) -> int:
    """Reports that the output is lost, and returns the exit code."""
    # A reader that closes a pipe, such as `head`, has read enough.
    if stream is sys.stdout and error.errno != errno.EPIPE:
        os.write(
            2, f"antiphon: the output cannot be written: {error.strerror}\n".encode()
        )
    if stream is sys.stdout:
        # Replaced, because otherwise Python would try to write the stream's buffer at the end, and complain again.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process
    return 1
