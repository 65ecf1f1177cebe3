"""User tools that end the process that runs them."""

from __future__ import annotations

import asyncio
import os


async def leave(reason: str) -> str:
    """Leave at once.

    Args:
        reason: Why.
    """
    os._exit(3)
    return reason


async def leave_later(reason: str) -> str:
    """Leave after a second, as if memory ran out: by then the worker has taken other questions.

    Args:
        reason: Why.
    """
    await asyncio.sleep(1.0)
    return await leave(reason)
