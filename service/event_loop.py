"""The event loop of processes that serve until they are stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

T = TypeVar("T")


def run_serving(main: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine to its end on uvloop, which takes a twentieth less CPU a query over REST (decision 248)."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
