"""Unfinished jobs of documents: each accepted job has a folder that outlives the process."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import msgspec
import structlog

from antiphon.service.uploads import INCOMING, ORDER, FileResult
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.private_files import make_private_folder
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Value

log = structlog.get_logger(__name__)


class JobOrder(Value, frozen=True, kw_only=True):
    """The work of one job.

    Attributes:
        names: The files to index, stored beside the order.
        refused: Files of the same request that were refused at once.
        title: The course to remove; empty if files are added.
        path: Its file or folder; without a title, the folder of the course to index by another layout.
        layout: That layout; empty: the one that the course's own files suggest.
    """

    job_id: str
    names: tuple[str, ...] = ()
    refused: tuple[FileResult, ...] = ()
    title: str = ""
    path: str = ""
    layout: str = ""


class AcceptedJob:
    """A stored order, locked while this process works on it."""

    def __init__(self, order: JobOrder, folder: Path, file: IO[bytes]) -> None:
        self.order = order
        self._folder = folder
        self._file = file

    def close(self) -> None:
        """Forgets the finished job."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._file.close()


def accept(data_dir: Path, order: JobOrder) -> AcceptedJob:
    """Stores an order, before the caller hears that it was accepted.

    Raises:
        KnowledgeError: It cannot be stored.
    """
    folder = data_dir / INCOMING / order.job_id
    unfinished = folder / f"{ORDER}.new"
    try:
        make_private_folder(folder)
        file = unfinished.open("xb")
        # Locked before it gets its name, so that no other process takes it for one left behind.
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(msgspec.json.encode(order))
        file.flush()
        # The lock belongs to the open file, so it survives the rename.
        unfinished.rename(folder / ORDER)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise KnowledgeError(
            f"The job was not accepted, because it could not be stored ({error.strerror}): nothing was changed. "
            "Free some space, and send it again."
        ) from error
    return AcceptedJob(order, folder, file)


def left_behind(data_dir: Path) -> Sequence[AcceptedJob]:
    """Takes over the jobs whose process has died, the oldest first."""
    found: list[AcceptedJob] = []
    paths = list((data_dir / INCOMING).glob(f"*/{ORDER}"))
    for path in sorted(paths, key=os.path.getmtime):
        file = path.open("rb")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            order = msgspec.json.decode(file.read(), type=prepared(JobOrder))
        except (OSError, msgspec.MsgspecError) as error:
            # Another process works on it, or the file is not ours.
            log.info("job_left_alone", job_id=path.parent.name, error=str(error))
            file.close()
            continue
        found.append(AcceptedJob(order, path.parent, file))
    return found
