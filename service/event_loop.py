"""The event loop of processes that serve until they are stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import structlog

from antiphon.vocabulary.containment import traceback_of

try:
    from uvloop import new_event_loop
except ModuleNotFoundError:  # it comes with the extra `serve`
    from asyncio import new_event_loop  # type: ignore[assignment]  # any loop will do

T = TypeVar("T")

_log = structlog.get_logger(__name__)


def run_serving(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end, on uvloop if it is installed: less CPU a query over REST.

    A task that a user's tool started may raise `SystemExit` or `KeyboardInterrupt`, which asyncio raises out of the
    loop, besides handing it to the code that awaits the task. This loop continues: a real request to end the process
    comes as a signal, and signals have their own handlers here.
    """
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        loop = runner.get_loop()
        serving = loop.create_task(main)
        while True:
            try:
                return loop.run_until_complete(serving)
            except (SystemExit, KeyboardInterrupt) as error:
                if serving.done():
                    raise
                _log.error("exit_of_a_task_ignored", exception=traceback_of(error))
