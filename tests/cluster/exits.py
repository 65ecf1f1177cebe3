"""A tool of a user's own that ends the process which runs it."""

from __future__ import annotations

import os


async def leave(reason: str) -> str:
    """Leave at once.

    Args:
        reason: Why.
    """
    os._exit(3)
    return reason
