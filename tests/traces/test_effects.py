"""A tool changed something outside and its process was killed before it could report: what a resumed query does."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from antiphon.bus import Bus
from antiphon.service import Change, History, Mode, replay
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    ReasoningCompleted,
    Recorded,
    ResponseAssembled,
    ToolFailed,
    ToolStarted,
    ToolSucceeded,
)
from tests.traces.effects_victim import parts_in
from tests.traces.victim import QUERY_ID

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a query that was killed and resumed; its tool takes no key."""
    return killed_and_gone_on_with(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a tool that takes a key."""
    return killed_and_gone_on_with(tmp_path_factory.mktemp("keyed"), "keyed")


def killed_and_gone_on_with(folder: Path, how: str = "bare") -> Path:
    command = [sys.executable, "-m", "tests.traces.effects_victim", str(folder), how]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert run.stdout.split() == [str(-signal.SIGKILL), "0"]
    return folder


def ran_in(folder: Path) -> list[str]:
    """The argument of each run of the tool."""
    return (folder / "calls").read_text().splitlines()


async def trace_in(folder: Path) -> list[Recorded[Event]]:
    store = SqliteTraceStore.open(folder)
    try:
        return list(await store.read(QUERY_ID))
    finally:
        await store.close()


async def test_without_a_key_the_tool_does_not_run_again_and_the_answer_carries_the_doubt(
    bare: Path,
) -> None:
    trace = await trace_in(bare)

    assert ran_in(bare) == ["Ada"]
    assert [
        said.event.failure for said in trace if isinstance(said.event, ToolFailed)
    ] == ["interrupted"]
    response = next(
        said.event for said in trace if isinstance(said.event, ResponseAssembled)
    )
    assert response.confidence != "high"
    assert response.indicators
    assert isinstance(trace[-1].event, QueryClosed)
    assert replay(trace).divergence is None


async def test_with_a_key_the_tool_runs_again_under_the_same_key(keyed: Path) -> None:
    trace = await trace_in(keyed)

    ran = ran_in(keyed)
    keys = {
        said.event.idempotency_key
        for said in trace
        if isinstance(said.event, ToolStarted)
    }
    assert len(ran) == 2
    assert set(ran) == keys
    assert len(keys) == 1
    assert sum(isinstance(said.event, ToolSucceeded) for said in trace) == 1
    assert isinstance(trace[-1].event, QueryClosed)
    assert replay(trace).divergence is None


@pytest.mark.parametrize(
    ("mode", "times"), [("recorded", 0), ("remodel", 0), ("live", 1)]
)
async def test_a_fork_changes_something_outside_only_if_all_is_live(
    keyed: Path, tmp_path: Path, mode: Mode, times: int
) -> None:
    folder = Path(
        shutil.copytree(
            keyed, tmp_path / "copy", ignore=shutil.ignore_patterns("calls")
        )
    )
    store = SqliteTraceStore.open(folder)
    parts = parts_in(folder, keyed=True)
    asked = '[{"type": "tool_use", "id": "toolu_2", "name": "enrol", "input": {"student": "Bob"}}]'
    replies = [
        said.seq
        for said in await store.read(QUERY_ID)
        if isinstance(said.event, ReasoningCompleted)
    ]

    again = History(Bus(store, parts.clock), parts, store)
    running = await again.fork(
        QUERY_ID, replies[0], [Change(kind="reply", value=asked)], mode
    )
    await running.outcome()

    assert len(ran_in(folder) if (folder / "calls").exists() else []) == times
    await store.close()
