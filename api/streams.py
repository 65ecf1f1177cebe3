"""Event streams that followers hold open, and how many of them one tenant may have at once."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, cast

import structlog
from fastapi import Depends, Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from antiphon.api.errors import refuse
from antiphon.api.responses import (
    EVENT_STREAM,
    KEEP_ALIVE_S,
    STREAM_HEADERS,
    with_keep_alive,
)
from antiphon.vocabulary.access import Principal

log = structlog.get_logger(__name__)

RETRY_S = 5
MOST_AGE_S = 3_600.0
"""Seconds after which a stream ends; its reader goes on from its last event. No query takes so long."""
NEARLY_FULL = 0.8
"""Share of a tenant's streams at which the log warns, once until half of them are closed."""


class OpenStreams:
    """The open streams of each tenant; one an app. Who needs no key is not counted.

    Args:
        most: Streams of one tenant at once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()
        self._warned: set[str] = set()

    def enter(self, caller: Principal) -> bool:
        """Counts one more; False, and it is not counted, where there are as many as may be."""
        if caller.key_id and self._open[caller.tenant] >= self.most:
            return False
        self._open[caller.tenant] += 1
        if caller.key_id:
            self._warn_if_nearly_full(caller.tenant)
        return True

    def leave(self, caller: Principal) -> None:
        """Counts one less."""
        self._open[caller.tenant] -= 1
        if self._open[caller.tenant] <= self.most / 2:
            self._warned.discard(caller.tenant)
        if not self._open[caller.tenant]:
            del self._open[caller.tenant]

    def _warn_if_nearly_full(self, tenant: str) -> None:
        open_now = self._open[tenant]
        if open_now < self.most * NEARLY_FULL or tenant in self._warned:
            return
        self._warned.add(tenant)
        log.warning(
            "event_streams_nearly_full",
            tenant=tenant,
            open=open_now,
            most=self.most,
            remedy="have its programs close streams that they no longer read, or raise ANTIPHON_MOST_STREAMS",
        )


class FollowedEvents(StreamingResponse):
    """Streams events to a follower, for as long as they stay, or tells them that they have too many streams open."""

    media_type = EVENT_STREAM

    def __init__(
        self, events: AsyncIterator[bytes], streams: OpenStreams, caller: Principal
    ) -> None:
        items = _until_old(with_keep_alive(events, KEEP_ALIVE_S))
        super().__init__(items, headers=STREAM_HEADERS)
        self._streams = streams
        self._caller = caller

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Here and not in the route: what is counted here is discounted too, however the connection ends.
        if not self._streams.enter(self._caller):
            response = refuse(429, "quota", self._too_many())
            response.headers["Retry-After"] = str(RETRY_S)
            await response(scope, receive, send)
            return
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.leave(self._caller)

    def _too_many(self) -> str:
        return (
            f"The tenant {self._caller.tenant} may have {self._streams.most} event streams open at once: close one, "
            f"or try again in {RETRY_S} seconds."
        )


async def _until_old(
    items: AsyncGenerator[bytes, None],
) -> AsyncGenerator[bytes, None]:
    """Yields items until the stream is too old; one comes every few seconds at least."""
    ends_at = time.monotonic() + MOST_AGE_S
    async with aclosing(items):
        async for item in items:
            yield item
            if time.monotonic() > ends_at:
                return


async def _open_streams(request: Request) -> OpenStreams:
    return cast(OpenStreams, request.app.state.open_streams)


Streams = Annotated[OpenStreams, Depends(_open_streams)]
"""The event streams that followers hold open, as a route asks for them."""
