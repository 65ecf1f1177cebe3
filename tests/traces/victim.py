"""Runs a two-round query, kills it (SIGKILL) right after a given event is stored, and resumes it.

test_resume.py starts it as a subprocess. It forks one child for each death and one for each resumption: so the imports
cost their time only once, and each child lives and dies like a separate service.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from antiphon.bus import Bus, SystemClock
from antiphon.composition import Resources, wire
from antiphon.coordinator import receive
from antiphon.dispatcher import Registry, tool_from_function
from antiphon.engine import SUMMARY_PROMPT, events_of, request_json
from antiphon.service import History
from antiphon.traces import SqliteTraceStore
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import QuerySettings, Request
from benchmarks.double import blocks_of_reply
from tests.guarded import guarded

QUERY_ID = "victim"
FIRST = "bm25 0 0"
"""The words that the first round searches for."""
FILLING = " ".join(
    f"Clerk {n} of the old harbour counted the grain of ship {n}." for n in range(40)
)
"""Text that does not fit the last briefing, so that it needs a summary."""


class MortalStore(SqliteTraceStore):
    """A store that stores one event after the other, and kills its process after the event `dies_at`."""

    dies_at = 0

    async def append(
        self, query_id: str, expected_seq: int, events: Sequence[Recorded[Event]]
    ) -> None:
        for number, event in enumerate(events):
            await super().append(query_id, expected_seq + number, [event])
            if event.seq == self.dies_at:
                os.kill(os.getpid(), signal.SIGKILL)


SUMMARY: list[dict[str, object]] = [{"type": "text", "text": "Clerks counted grain."}]


class CountedModel:
    """A model with two rounds of tools, then an answer; it notes each request."""

    name = "counted"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def stream(self, request: Request, timeout_s: float) -> AsyncIterator[Json]:
        body = request_json(request)
        is_summary = request.system == SUMMARY_PROMPT
        blocks, stop_reason = (
            (SUMMARY, "end_turn") if is_summary else blocks_of_reply(body)
        )
        note(self._folder, f"model {len(request.messages[0].content)} {stop_reason}")
        await asyncio.sleep(0.001)
        message: Json = {
            "id": "m",
            "model": "counted",
            "content": blocks,
            "stop_reason": stop_reason,
            "usage": {},
        }
        for event in events_of(message):
            await asyncio.sleep(0)
            yield event


def note(folder: Path, line: str) -> None:
    """Writes one call to a file that survives the process."""
    with (folder / "calls").open("a") as calls:
        calls.write(line + "\n")


def parts_in(folder: Path) -> Resources:
    """Ports to a model and two tools that note each of their calls."""

    async def search_course_content(text: str) -> str:
        """Searches."""
        note(folder, f"search {text}")
        await asyncio.sleep(0.002)
        return f"BM25 ranks {text}. It looks at how rare words are. {FILLING if text == FIRST else ''}"

    async def get_course_outline(text: str) -> str:
        """Outlines."""
        note(folder, f"outline {text}")
        await asyncio.sleep(0.001)
        return f"Lesson 1 of {text}."

    registry = Registry(
        [
            tool_from_function(search_course_content),
            tool_from_function(get_course_outline),
        ]
    )
    model = CountedModel(folder)
    return Resources(
        clock=SystemClock(),
        models={"primary": model, "fallback": model},
        tools=registry,
        tool_definitions=registry.definitions(),
        redaction=guarded(),
    )


async def ask(folder: Path, dies_at: int) -> None:
    """Asks, and dies after the given event."""
    store = MortalStore.open(folder)
    store.dies_at = dies_at  # type: ignore[attr-defined]  # `open` makes one of its own class
    parts = parts_in(folder)
    session = Bus(store, parts.clock).open(
        QUERY_ID, lambda ports: wire(parts, ports).subscriptions()
    )
    await session.run(
        receive("How does BM25 rank?", "s1", QuerySettings(compression="model"))
    )
    await store.close()


async def go_on(folder: Path) -> None:
    """Resumes unfinished queries, as a service does when it starts."""
    store = SqliteTraceStore.open(folder)
    parts = parts_in(folder)
    for running in await History(
        Bus(store, parts.clock), parts, store
    ).resume_unfinished():
        await running.outcome()
    await store.close()


def in_a_child(work: Callable[[], Coroutine[Any, Any, None]]) -> int:
    """Runs `work` in a child process; returns its exit code, negative for a signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            asyncio.run(work())
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(root: Path, last: int) -> None:
    """Kills a query at each event up to `last` and resumes it; prints how each child ended."""
    for seq in range(last + 1):
        folder = root / str(seq)
        folder.mkdir()
        died = in_a_child(lambda folder=folder, seq=seq: ask(folder, seq))  # type: ignore[misc]  # bound now
        went_on = in_a_child(lambda folder=folder: go_on(folder))  # type: ignore[misc]  # bound now
        sys.stdout.write(
            json.dumps({"seq": seq, "died": died, "went_on": went_on}) + "\n"
        )
        sys.stdout.flush()
        if died == 0 and seq > 0:
            break


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
