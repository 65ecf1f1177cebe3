"""Files that only their owner may read: questions, answers and documents may be confidential."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def make_private_folder(folder: Path) -> None:
    """Makes a folder that only its owner may enter, or removes the rights of others from an existing one.

    Raises:
        OSError: It cannot be made.
    """
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    elif not _is_shared(folder):
        _take_from_others(folder)


def make_private_file(path: Path) -> None:
    """Makes an empty file that only its owner may read, or removes the rights of others from an existing one."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
    except OSError:
        # The code that opens it next meets the same error, and knows what the file is for.
        return
    _take_from_others(path)


def make_private_tree(folder: Path) -> None:
    """Removes the rights of others from a folder of ours and everything in it."""
    for path in (folder, *folder.rglob("*")):
        _take_from_others(path)


def _is_shared(folder: Path) -> bool:
    """Returns True for a folder that holds other things too: the working folder, one above it, or one for everybody."""
    if Path.cwd().is_relative_to(folder.resolve()):
        return True
    # The sticky bit marks folders for everybody, such as /tmp.
    return bool(folder.stat().st_mode & stat.S_ISVTX)


def _take_from_others(path: Path) -> None:
    try:
        found = stat.S_IMODE(path.stat().st_mode)
        if found & _OTHERS:
            path.chmod(found & ~_OTHERS)
    except OSError:
        # It is somebody else's, or gone meanwhile; its owner decides who may use it.
        return
