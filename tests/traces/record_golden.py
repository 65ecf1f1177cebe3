"""Records the golden traces: the fewest queries of the cast that together show everything that can happen to a query,
and the queries of scripted.py, which show the rest.

Run as `python -m tests.traces.record_golden` after an intended change (see test_golden.py). With names of queries in
scripted.py it records only those.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import structlog

from antiphon.engine import Profile
from antiphon.traces import trace_file
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded
from tests import virtual_time
from tests.fakes import MemoryTraceStore
from tests.traces.cast import play
from tests.traces.scripted import SCRIPTED

GOLDEN = Path(__file__).parent / "golden"
SEEDS = range(2_000, 2_400)
LACKING = Profile(caching=False, thinking=False, tool_choice_none=False)
SURROUNDINGS: tuple[tuple[Profile | None, Mapping[str, object] | None], ...] = (
    (None, None),
    (None, {"thinking": "2048", "effort": "low", "final_model": "claude-opus-5-5"}),
    (None, {"context": "transcript"}),
    (None, {"max_total_tokens": 900, "other_model": "claude-haiku-5-5"}),
    (Profile(citations="inline"), None),
    (LACKING, {"context": "transcript", "thinking": "adaptive"}),
    # A model that takes a thinking budget, and does not cache prefixes as short as ours.
    (None, {"thinking": "1000", "model": "claude-haiku-4-5"}),
)
"""Servers and settings for the queries, in rotation."""

Trace = Sequence[Recorded[Event]]


async def traces() -> list[Trace]:
    """Plays the cast."""
    store = MemoryTraceStore()
    played: list[Trace] = []
    for seed in SEEDS:
        profile, settings = SURROUNDINGS[seed % len(SURROUNDINGS)]
        await play(seed, store, breaks=False, profile=profile, settings=settings)
        played.append(await store.read(f"q{seed}"))
    return played


def shown_by(trace: Trace) -> frozenset[str]:
    """The things that a trace shows, each under the same words in every trace."""
    words: set[str] = set()
    for recorded in trace:
        words.add(recorded.event.kind_name())
        words.update(_choices(recorded.event))
    return frozenset(words)


def _choices(event: Event) -> Iterator[str]:
    """Yields the choices that an event holds, of those with only a few options."""
    for name in ("limit", "level", "mode", "status", "failure", "confidence"):
        if hasattr(event, name):
            yield f"{event.kind_name()} {getattr(event, name)}"
    match event:
        case e.QueryReceived(settings=settings):
            for name in ("on_tool_failure", "early_dispatch", "compression", "context"):
                yield f"{name} {getattr(settings, name)}"
        case e.BriefingPrepared(dropped=dropped, changes=changes):
            yield from [f"dropped by {each.rule}" for each in dropped]
            yield from [f"changed as {each.change}" for each in changes]
        case e.ReasoningStarted(request=request) as started:
            yield f"part {started.part}, attempt {min(started.attempt, 2)}"
            yield f"repairs {started.repairs}"
            texts = [block.text for part in request.messages for block in part.content]
            yield f"cites {started.citations} {'[1.1]' in ''.join(texts)}"
            yield f"server {started.profile} {request.tool_choice}"
        case e.ResponseAssembled(indicators=indicators, citations=citations):
            yield f"cited {bool(citations)}"
            yield from [f"doubt {each.kind}" for each in indicators]


def fewest(played: Sequence[Trace]) -> list[Trace]:
    """Greedily chooses traces that together show everything: each time the one that adds the most for its length."""
    shows = {trace[0].query_id: shown_by(trace) for trace in played}
    left = set().union(*shows.values())
    chosen: list[Trace] = []
    while left:
        best = max(
            played, key=lambda trace: len(shows[trace[0].query_id] & left) / len(trace)
        )
        chosen.append(best)
        left -= shows[best[0].query_id]
    return chosen


def scripted(names: Sequence[str]) -> dict[str, Trace]:
    """Plays the queries of these names, each in virtual time."""
    return {name: virtual_time.run(SCRIPTED[name]()) for name in names}


def main(names: Sequence[str]) -> None:
    with structlog.testing.capture_logs():
        chosen = scripted(names or list(SCRIPTED))
        if not names:
            of_the_cast = fewest(asyncio.run(traces()))
            chosen |= {f"{n:02}": each for n, each in enumerate(of_the_cast, start=1)}
    if not names:
        for old in GOLDEN.glob("*.jsonl"):
            old.unlink()
    for name, trace in chosen.items():
        (GOLDEN / f"{name}.jsonl").write_bytes(trace_file(trace))


if __name__ == "__main__":
    main(sys.argv[1:])
