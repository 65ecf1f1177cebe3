"""Waits for an answer for as long as somebody wants it."""

from __future__ import annotations

import asyncio

from starlette.requests import Request

from antiphon.api.facade import Asked
from antiphon.service import Outcome

GONE = "the client went away"
CLIENT_GONE = 499
"""What nginx logs for a client that went away; nobody reads the answer."""


async def outcome_or_gone(asked: Asked, request: Request) -> Outcome | None:
    """The outcome, or None once the client is gone; its query is then cancelled and has come to its end."""
    answer = asyncio.ensure_future(asked.outcome())
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
        if answer.done():
            return answer.result()
        asked.cancel(GONE)
        await answer
        return None
    finally:
        answer.cancel()
        gone.cancel()


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
