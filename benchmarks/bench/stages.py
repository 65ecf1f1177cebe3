"""The CPU time of a query by stage: a sampler notes the running code every millisecond of CPU time."""

from __future__ import annotations

import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from benchmarks.bench.query import Query
from benchmarks.bench.working_model import Work

EVERY_S = 0.001
QUERIES = 400
WARM_UP = 50
# A frame belongs to the first stage that its file matches. The search starts at the innermost frame, so a library's
# time counts for its caller.
STAGES = (
    ("/engine/legal", "legality"),
    ("/engine/", "engine"),
    ("/bus/recorder", "record"),
    ("/traces/", "record"),
    ("/bus/", "bus"),
    ("/synthesizer/", "briefing"),
    ("/assembler/", "assembly"),
    ("/coordinator/", "decisions"),
    ("/dispatcher/", "tools"),
    ("/composition/", "wiring"),
)
REST = "event loop and the rest"


def stage_of(frame: FrameType | None) -> str:
    """Returns the stage of the innermost frame of ours."""
    while frame is not None:
        _, found, inner = frame.f_code.co_filename.rpartition("/antiphon/")
        if found:
            for beginning, stage in STAGES:
                if f"/{inner}".startswith(beginning):
                    return stage
        frame = frame.f_back
    return REST


@contextmanager
def sampled(counts: Counter[str]) -> Iterator[None]:
    """Counts samples by stage while open, in the main thread only."""

    def look(_: int, frame: FrameType | None) -> None:
        counts[stage_of(frame)] += 1

    before = signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, EVERY_S, EVERY_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


async def measure(queries: int = QUERIES) -> dict[str, float]:
    """Returns the CPU milliseconds of each stage of a query: two rounds of two calls, recorded, without HTTP."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        query = Query(Path(folder), Work())
        for _ in range(WARM_UP):
            await query.ask()
        # First without the sampler, which itself takes time.
        before = time.process_time()
        for _ in range(queries):
            await query.ask()
        whole_ms = (time.process_time() - before) * 1000 / queries
        with sampled(counts):
            for _ in range(queries):
                await query.ask()
        await query.side.close()
    figures = {"whole query": whole_ms}
    for stage, count in counts.most_common():
        figures[stage] = whole_ms * count / counts.total()
    return figures
