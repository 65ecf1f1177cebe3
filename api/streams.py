"""The responses of event streams that followers hold open."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from antiphon.api.errors import refuse
from antiphon.api.responses import (
    EVENT_STREAM,
    KEEP_ALIVE_S,
    STREAM_HEADERS,
    with_keep_alive,
)
from antiphon.service import OpenStreams
from antiphon.vocabulary.access import Principal
from antiphon.vocabulary.errors import QuotaError

MOST_AGE_S = 3_600.0
"""Seconds after which a stream ends; its reader can go on after its last event. No query takes so long."""


class FollowedEvents(StreamingResponse):
    """Streams events to a follower as long as they stay, or refuses them with 429 if they have too many streams."""

    media_type = EVENT_STREAM

    def __init__(
        self, events: AsyncIterator[bytes], streams: OpenStreams, caller: Principal
    ) -> None:
        items = _until_old(with_keep_alive(events, KEEP_ALIVE_S))
        super().__init__(items, headers=STREAM_HEADERS)
        self._streams = streams
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Counted here and not in the route, so that the stream is discounted too, no matter how the connection ends.
        try:
            self._streams.enter(self._caller)
        except QuotaError as error:
            response = refuse(429, error.code, str(error))
            response.headers["Retry-After"] = f"{error.retry_after_s:.0f}"
            await response(scope, receive, send)
            return
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.leave(self._caller)


async def _until_old(
    items: AsyncGenerator[bytes, None],
) -> AsyncGenerator[bytes, None]:
    """Yields items until the stream is too old; the keep-alive brings one every few seconds at least."""
    ends_at = time.monotonic() + MOST_AGE_S
    async with aclosing(items):
        async for item in items:
            yield item
            if time.monotonic() > ends_at:
                return
