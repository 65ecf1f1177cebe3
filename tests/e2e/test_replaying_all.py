"""`antiphon traces replay --all` over more traces than one process replays: their order, and Ctrl-C."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.traces import SqliteTraceStore, read_trace_file
from antiphon.vocabulary.events import Event, Recorded, ResponseAssembled
from tests.e2e.processes import interrupted_at, run

GOLDEN = Path(__file__).parents[1] / "traces" / "golden" / "05.jsonl"
TRACES = 450
CHANGED = 7


def numbered(events: list[Recorded[Event]], number: int) -> list[Recorded[Event]]:
    """The same trace under another id and at another time; one of them with another answer."""
    trace: list[Recorded[Event]] = []
    for recorded in events:
        event = recorded.event
        if number == CHANGED and isinstance(event, ResponseAssembled):
            event = replace(event, answer="Another.")
        at = recorded.at + number
        trace.append(replace(recorded, query_id=f"q{number:03}", at=at, event=event))
    return trace


@pytest.fixture
async def many(tmp_path: Path) -> Path:
    """A data folder with many traces, of which one differs."""
    store = SqliteTraceStore.open(tmp_path)
    events = read_trace_file(GOLDEN.read_bytes())
    for number in range(TRACES):
        await store.add(numbered(events, number))
    await store.close()
    return tmp_path


async def test_results_come_in_the_order_of_the_list_no_matter_which_process_found_them(
    many: Path,
) -> None:
    told = run("traces", "replay", "--all", "--json", data_dir=many, folder=many)

    results = [json.loads(line) for line in told.stdout.splitlines()]
    newest_first = [f"q{number:03}" for number in reversed(range(TRACES))]
    assert told.returncode == 1
    assert [result["query_id"] for result in results] == newest_first
    differing = [result["query_id"] for result in results if result["divergence"]]
    assert differing == [f"q{CHANGED:03}"]


@pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one core replays all in one process"
)
async def test_ctrl_c_ends_every_process(many: Path) -> None:
    # A process that was left behind would hold the output open, and be waited for.
    ended = interrupted_at(
        "os.fork", "", "traces", "replay", "--all", data_dir=many, folder=many, times=2
    )

    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.endswith("interrupted\n")
