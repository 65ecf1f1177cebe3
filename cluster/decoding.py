"""Decodes stored data: small amounts at once, and large ones in a thread, so that other queries need not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

THREAD_BYTES = 128 * 1024
"""From this size on, data is decoded in a thread: on the event loop it would take a millisecond or more."""

T = TypeVar("T")


async def decoded(work: Callable[[], T], size_bytes: int) -> T:
    """Does the work at once, or in a thread if there is much to decode.

    Args:
        size_bytes: The size of the data to decode.
    """
    if size_bytes < THREAD_BYTES:
        return work()
    return await asyncio.to_thread(work)
