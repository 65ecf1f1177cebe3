"""The fault matrix's last report and the trace of each cell, as `antiphon faults run --keep` leaves them for the pages.

Both lie in the data folder, separate from the traces of people's questions, which two thousand cells would bury. The
trace of a cell is imported when somebody opens it.
"""

from __future__ import annotations

import asyncio
import os
import zipfile
from collections.abc import Sequence
from pathlib import Path

import msgspec

from antiphon.service.archive import Archive
from antiphon.traces import trace_file
from antiphon.vocabulary.errors import (
    ConfigurationError,
    NotFoundError,
)
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import TraceStore
from antiphon.vocabulary.private_files import make_private_file, make_private_folder
from antiphon.vocabulary.typed import prepared

KEEP_REPORT = "antiphon faults run --keep"
"""The command that makes a report."""
MOST_TRACE_BYTES = 64_000_000
"""Most bytes of a trace to import."""
_FOLDER = "faults"
_REPORT = "report.json"
_TRACES = "traces.zip"


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a report; it ignores fields that a later version adds."""


class FaultCell(_Part, frozen=True, kw_only=True):
    """One fault that was tried: its point and kind, and the part of a query and the scenario in which it was tried."""

    point: str
    kind: str
    when: str
    scenario: str = ""


class FaultVerdict(_Part, frozen=True, kw_only=True):
    """What came of a cell.

    Attributes:
        command: Tries the cell alone.
        result: `kept` (all promises), `broken`, or `not fired`.
        broken: Each promise that was broken, in words.
        status: How the query ended, in a word.
        query_id: Its trace; empty if there is none, as for a refused question.
    """

    cell: FaultCell
    command: str
    result: str
    broken: tuple[str, ...] = ()
    status: str = ""
    query_id: str = ""


class FaultGap(_Part, frozen=True, kw_only=True):
    """A cell that makes no sense, and why; `when` is empty if this holds for every part of a query."""

    point: str
    kind: str
    why: str
    when: str = ""


class FaultReport(_Part, frozen=True, kw_only=True):
    """The report of a run of the matrix.

    Attributes:
        counts: Cells run, fired, kept, broken, not fired, not applicable.
        kinds: Each kind of fault with its meaning, in the order of the columns.
        made_at: When it was made, in seconds since the epoch.
    """

    seed: int
    counts: dict[str, int]
    kinds: dict[str, str]
    cells: tuple[FaultVerdict, ...]
    not_applicable: tuple[FaultGap, ...]
    made_at: float = 0.0


class KeptFaults:
    """Writes a report and its traces; the previous ones stay in place until the new report is complete.

    Raises:
        ConfigurationError: The folder cannot be written.
    """

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / _FOLDER
        try:
            make_private_folder(data_dir)
            make_private_folder(self._folder)
            for name in (_TRACES, _REPORT):
                make_private_file(self._new(name))
            self._zip = zipfile.ZipFile(self._new(_TRACES), "w", zipfile.ZIP_DEFLATED)
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    def add(self, events: Sequence[Recorded[Event]]) -> None:
        """Keeps the trace of a cell."""
        if events:
            self._zip.writestr(events[0].query_id, trace_file(events))

    def finish(self, report: bytes) -> None:
        """Replaces the previous report and traces by this report, as JSON, and its traces."""
        self._zip.close()
        try:
            self._new(_REPORT).write_bytes(report)
            # The report last, so that it never names traces that are not there yet.
            for name in (_TRACES, _REPORT):
                os.replace(self._new(name), self._folder / name)
        except OSError as error:
            raise _unwritable(self._folder, error) from error

    def _new(self, name: str) -> Path:
        return self._folder / f"new-{name}"


def _unwritable(folder: Path, error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"The report cannot be kept in {folder} ({error.strerror or error}): choose another folder with --data-dir."
    )


class FaultReports:
    """The report in a data folder."""

    def __init__(self, data_dir: Path, archive: Archive, store: TraceStore) -> None:
        self._folder = data_dir / _FOLDER
        self._archive = archive
        self._store = store

    async def read(self) -> FaultReport | None:
        """Returns the report; None if there is none.

        Raises:
            ConfigurationError: It cannot be read: another version wrote it, or it is damaged.
        """
        return await asyncio.to_thread(self._read)

    def _read(self) -> FaultReport | None:
        path = self._folder / _REPORT
        try:
            report = msgspec.json.decode(path.read_bytes(), type=prepared(FaultReport))
            made_at = path.stat().st_mtime
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigurationError(
                f"The report of faults cannot be read ({error}): make it again with `{KEEP_REPORT}`."
            ) from error
        return msgspec.structs.replace(report, made_at=made_at)

    async def open_trace(self, query_id: str) -> int:
        """Imports the trace of a cell, unless the store has it already, and returns its number of events.

        Raises:
            NotFoundError: The report has no trace of that id.
            BadInputError: It is incomplete or damaged.
        """
        file = await asyncio.to_thread(self._trace, query_id)
        try:
            return len(await self._store.read(self._archive.id_of(query_id)))
        except NotFoundError:
            return len(await self._archive.add(file))

    def _trace(self, query_id: str) -> bytes:
        try:
            with zipfile.ZipFile(self._folder / _TRACES) as kept:
                found = kept.getinfo(query_id)
                if found.file_size <= MOST_TRACE_BYTES:
                    return kept.read(found)
        except (OSError, KeyError, zipfile.BadZipFile):
            pass
        raise NotFoundError(
            f"The report has no trace {query_id[:40]!r}: it was replaced meanwhile, or made with an earlier version."
        )
