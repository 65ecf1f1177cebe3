"""Runs a worker as a process: opens the service, works on queries until a signal comes, and serves its health."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack

from antiphon import workers
from antiphon.composition import Settings
from antiphon.service.antiphon import Antiphon
from antiphon.service.memory import keep_loaded, spare_memory
from antiphon.service.opening import open_parts
from antiphon.service.runtime import Runtime
from antiphon.service.searching import NOT_INDEXED
from antiphon.service.short_turns import take_short_turns
from antiphon.vocabulary.access import NOBODY
from antiphon.vocabulary.containment import end_task
from antiphon.vocabulary.errors import ConfigurationError

MOST_DEAD = 50
"""Most abandoned queries in one report."""
STOPPED_BY = (signal.SIGINT, signal.SIGTERM)


async def work(
    settings: Settings,
    *,
    health_host: str,
    health_port: int | None,
    announce: Callable[[str, int | None, Sequence[str]], None],
    stopping: Callable[[int], None],
) -> int | None:
    """Works on queries of the queue until a signal comes; returns the signal's number.

    Args:
        health_port: The port of the health routes; 0 takes a free one, None serves none.
        announce: Called with the worker's name, that port, and the problems that keep it from taking queries.
        stopping: Called with each signal that comes.

    Raises:
        ServiceError: The service cannot be opened.
    """
    spare_memory()
    take_short_turns()
    name = f"{socket.gethostname()}-{os.getpid()}"
    parts = await open_parts(settings)
    runtime = Runtime(settings, parts.resources, parts.callers, parts.membership)
    keep_loaded()
    stopped_by: list[int] = []
    async with AsyncExitStack() as stack:
        stack.push_async_callback(runtime.close)
        antiphon = Antiphon(runtime)
        if parts.membership is None:
            raise ConfigurationError(
                "A worker takes queries from a queue, and none is named: set ANTIPHON_NATS_URL, such as "
                "nats://127.0.0.1:4222, or give it with --queue."
            )
        worker, sweeper = parts.membership.worker(
            name,
            runtime.resources.store,
            parts.callers,
            lambda caller: antiphon.seen_by(caller).history,
            runtime.bus.sessions,
        )
        loop = asyncio.get_running_loop()

        def stop(number: int) -> None:
            stopping(number)
            stopped_by.append(number)
            worker.stopping.set()

        for number in STOPPED_BY:
            loop.add_signal_handler(number, stop, number)
            stack.callback(loop.remove_signal_handler, number)
        port: int | None = None
        if health_port is not None:
            metrics = antiphon.metrics.scrape if antiphon.metrics is not None else None
            # The port requires no key.
            public = antiphon.seen_by(NOBODY)
            health = workers.Health(
                lambda: worker.ready,
                metrics,
                lambda: public.readiness().warnings,
                lambda: worker.trouble,
            )
            port = await stack.enter_async_context(
                workers.answering(health, health_host, health_port)
            )
        antiphon.check_model_key()
        sweeping = asyncio.create_task(sweeper.run(), name="sweep")
        stack.push_async_callback(end_task, sweeping)
        problems: list[str] = []
        if not worker.answers:
            problems.append(NOT_INDEXED)
        announce(name, port, problems)
        await worker.run()
    if not stopped_by:
        return None
    return stopped_by[0]


async def queue_report(
    settings: Settings,
) -> tuple[workers.QueueState, Sequence[workers.DeadQuery]]:
    """Reports the state of the queue, without opening a service.

    Raises:
        ConfigurationError: The settings name no servers, or they cannot be reached.
        BusyError: The servers do not answer.
    """
    cluster = await workers.connected(settings, f"antiphon on {socket.gethostname()}")
    try:
        queue = await workers.queue_of(cluster, settings)
        return await queue.state(), await queue.dead(MOST_DEAD)
    finally:
        await cluster.close()
