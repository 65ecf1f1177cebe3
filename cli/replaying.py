"""Replays every trace of a store, on all cores, with a process for each."""

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
"""Traces that a process replays at a time. If there are no more, this one does it: starting another costs as 50 do."""


def replay_all(
    settings: service.Settings, tools: StoredText | None
) -> list[service.ReplayResult]:
    """Replays every trace of the store, and returns the results in the order of the list of traces."""
    ids = asyncio.run(every_id(settings))
    parts = [ids[start : start + PART] for start in range(0, len(ids), PART)]
    work = partial(replay_part, settings, tools)
    processes = min(len(parts), len(os.sched_getaffinity(0)))
    if processes < 2:
        return [result for part in map(work, parts) for result in part]
    # Forked, so that the children need no imports. That is safe: listing has left no thread and no open connection.
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
    """Returns the ids of all traces of the store, in the order of the list."""
    async with open_store(settings) as store:
        return [row.query_id async for row in every_trace(store)]


class _InPlace(ThreadPoolExecutor):
    """Runs work in the calling thread: nothing else waits here, and going through another adds a fifth to a replay."""

    def submit(self, work: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - awaiting the result raises it
            done.set_exception(error)
        return done


@contextmanager
def _ended_by_ctrl_c() -> Iterator[None]:
    """Has Ctrl-C end the child processes too, which would otherwise wait for work from a parent that is gone."""

    def end() -> None:
        for process in multiprocessing.active_children():
            process.terminate()

    before_ending.append(end)
    try:
        yield
    finally:
        before_ending.remove(end)
