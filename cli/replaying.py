"""Replays every trace of a store: on all cores, a process each."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from antiphon import service
from antiphon.cli.process import before_ending
from antiphon.cli.session import every_trace, open_store
from antiphon.vocabulary.values import StoredText

T = TypeVar("T")

PART = 200
"""Traces that a process replays at a time. Fewer are replayed in this one: starting another takes as long as 50."""


def replay_all(
    settings: service.Settings, tools: StoredText | None
) -> list[service.ReplayResult]:
    """Replays every trace of the store, and returns the results in the order in which traces are listed."""
    ids = asyncio.run(every_id(settings))
    parts = [ids[start : start + PART] for start in range(0, len(ids), PART)]
    work = partial(replay_part, settings, tools)
    processes = min(len(parts), len(os.sched_getaffinity(0)))
    if processes < 2:
        return [result for part in map(work, parts) for result in part]
    # Forked, for what is imported is there at once; no thread and no connection to the store is left of the listing.
    forks = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(processes, forks) as pool, _ended_by_ctrl_c():
        return [result for part in pool.map(work, parts) for result in part]


def replay_part(
    settings: service.Settings, tools: StoredText | None, ids: Sequence[str]
) -> list[service.ReplayResult]:
    """Replays these traces in this process."""
    subscribers = service.load_subscribers(settings.subscribers)

    async def replay() -> list[service.ReplayResult]:
        asyncio.get_running_loop().set_default_executor(_InPlace())
        results: list[service.ReplayResult] = []
        async with open_store(settings) as store:
            for query_id in ids:
                result = await service.replay_stored(
                    store, query_id, subscribers, tools
                )
                results.append(result)
        return results

    return asyncio.run(replay())


async def every_id(settings: service.Settings) -> list[str]:
    """Returns the ids of all traces of the store, in the order in which they are listed."""
    async with open_store(settings) as store:
        return [row.query_id async for row in every_trace(store)]


class _InPlace(ThreadPoolExecutor):
    """Runs what is meant for a thread where it is: nothing else waits here, and a detour is a fifth of a replay."""

    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - raised where the result is awaited
            done.set_exception(error)
        return done


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Lets Ctrl-C end the other processes too: they would wait for work from one that is there no more."""

    def end() -> None:
        for process in multiprocessing.active_children():
            process.terminate()

    before_ending.append(end)
    try:
        yield
    finally:
        before_ending.remove(end)
