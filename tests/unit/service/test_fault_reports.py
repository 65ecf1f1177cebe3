"""The kept report of the fault matrix: whole or not there, private, and its traces taken in one by one."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from antiphon.service import Archive, FaultReports, KeptFaults, Settings
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.errors import ConfigurationError, NotFoundError
from tests.story import answered, placed

REPORT = {
    "seed": 3,
    "counts": {"run": 1},
    "kinds": {"hang": "it never comes back"},
    "failures": [],
    "cells": [
        {
            "cell": {"point": "tool.a", "kind": "hang", "when": "round_1"},
            "command": "antiphon faults run --points tool.a",
            "result": "kept",
            "query_id": "q1",
            "runs": 1,
        }
    ],
    "not_applicable": [],
}
TRACE = placed("q1", answered("Q?", "A."))


def kept(folder: Path) -> None:
    keeping = KeptFaults(folder)
    keeping.add(TRACE)
    keeping.add([])
    keeping.finish(json.dumps(REPORT).encode())


def reports(folder: Path, store: SqliteTraceStore) -> FaultReports:
    return FaultReports(
        folder, Archive(store, Settings.model_construct(), (), ()), store
    )


async def test_a_report_is_read_as_it_was_kept_and_nobody_else_may_read_it(
    tmp_path: Path,
) -> None:
    kept(tmp_path / "data")
    store = SqliteTraceStore.open(tmp_path / "data")

    report = await reports(tmp_path / "data", store).read()

    assert report is not None
    assert report.cells[0].cell.point == "tool.a"
    assert report.made_at > 0
    for path in (tmp_path / "data" / "faults").iterdir():
        assert not path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    await store.close()


async def test_a_trace_of_the_report_is_taken_in_once(tmp_path: Path) -> None:
    kept(tmp_path)
    store = SqliteTraceStore.open(tmp_path)
    found = reports(tmp_path, store)

    assert await found.open_trace("q1") == len(TRACE)
    assert await found.open_trace("q1") == len(TRACE)

    assert list(await store.read("q1")) == TRACE
    with pytest.raises(NotFoundError):
        await found.open_trace("../q1")
    await store.close()


async def test_what_is_no_report_is_said_to_be_none(tmp_path: Path) -> None:
    store = SqliteTraceStore.open(tmp_path)
    found = reports(tmp_path, store)

    assert await found.read() is None
    with pytest.raises(NotFoundError):
        await found.open_trace("q1")
    (tmp_path / "faults").mkdir()
    for content in (b"", b"[]", b'{"seed": "x"}', b"[" * 100_000):
        (tmp_path / "faults" / "report.json").write_bytes(content)
        (tmp_path / "faults" / "traces.zip").write_bytes(content)
        with pytest.raises(ConfigurationError, match="--keep"):
            await found.read()
        with pytest.raises(NotFoundError):
            await found.open_trace("q1")
    await store.close()


def test_a_run_that_breaks_off_leaves_the_report_before_it(tmp_path: Path) -> None:
    kept(tmp_path)

    KeptFaults(tmp_path).add(TRACE)

    assert json.loads((tmp_path / "faults" / "report.json").read_bytes()) == REPORT


def test_a_folder_that_cannot_be_written_is_said_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")

    with pytest.raises(ConfigurationError, match="--data-dir"):
        KeptFaults(tmp_path / "data")
