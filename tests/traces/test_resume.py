"""A query outlives its process: killed at any event, it ends with the same answer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from antiphon.history.replaying import replay
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryResumed,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    ResponseAssembled,
    SummaryCompleted,
    SummaryFailed,
    SummaryRequested,
    ToolFailed,
    ToolRequested,
    ToolSucceeded,
)
from tests.traces.victim import QUERY_ID

ROOT = Path(__file__).parents[2]
MOST_EVENTS = 200
Trace = list[Recorded[Event]]


@pytest.fixture(scope="module")
def deaths(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, list[dict[str, int]]]:
    """Folder `n` holds the query that was killed after its event n and resumed; the one in folder 0 ran through."""
    root = tmp_path_factory.mktemp("deaths")
    command = [sys.executable, "-m", "tests.traces.victim", str(root), str(MOST_EVENTS)]
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=True
    )
    return root, [json.loads(line) for line in run.stdout.splitlines()]


async def _trace(folder: Path) -> Trace:
    store = SqliteTraceStore.open(folder)
    try:
        return await store.read(QUERY_ID)
    finally:
        await store.close()


def _answers(trace: Trace) -> list[ResponseAssembled]:
    """The answer with the event numbers of its doubts blanked: an interruption shifts the numbers of later events."""
    answers = [
        said.event for said in trace if isinstance(said.event, ResponseAssembled)
    ]
    return [
        replace(
            each,
            indicators=tuple(replace(doubt, event_seq=0) for doubt in each.indicators),
        )
        for each in answers
    ]


def _calls(folder: Path) -> Counter[str]:
    return (
        Counter((folder / "calls").read_text().splitlines())
        if (folder / "calls").exists()
        else Counter()
    )


def _in_flight(trace: Trace) -> int:
    """The number of calls still unanswered when the process died."""
    before = trace[
        : next(
            (
                at
                for at, said in enumerate(trace)
                if isinstance(said.event, QueryResumed)
            ),
            len(trace),
        )
    ]
    asked = sum(
        isinstance(said.event, ReasoningRequested | SummaryRequested | ToolRequested)
        for said in before
    )
    answers = (
        ReasoningCompleted,
        ReasoningFailed,
        SummaryCompleted,
        SummaryFailed,
        ToolSucceeded,
        ToolFailed,
    )
    return asked - sum(isinstance(said.event, answers) for said in before)


async def test_killed_at_every_event_a_query_ends_with_the_same_answer(
    deaths: tuple[Path, list[dict[str, int]]],
) -> None:
    root, ends = deaths
    undisturbed = await _trace(root / "0")
    answer = _answers(undisturbed)
    calls = _calls(root / "0")

    killed = [end["seq"] for end in ends if end["died"] == -signal.SIGKILL]
    assert killed == list(range(1, len(undisturbed) + 1))
    for seq in killed:
        trace = await _trace(root / str(seq))
        assert _answers(trace) == answer
        assert [said.seq for said in trace] == list(range(1, len(trace) + 1))
        assert isinstance(trace[-1].event, QueryClosed)
        assert replay(trace).divergence is None
        repeated = _calls(root / str(seq)) - calls
        assert set(repeated.values()) <= {1}
        assert sum(repeated.values()) <= _in_flight(trace)
        assert calls - _calls(root / str(seq)) == Counter()
    assert len(answer) == 1
    assert answer[0].rounds == 2
    assert answer[0].summaries == 1
