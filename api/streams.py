"""Event streams that followers hold open, and how many of them one tenant may have at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated, cast

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

RETRY_S = 5


class StreamsOfTenants:
    """The open streams of each tenant; one an app. Who needs no key is not counted.

    Args:
        most: Streams of one tenant at once.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._open: Counter[str] = Counter()

    def enter(self, caller: Principal) -> bool:
        """Counts one more; False, and it is not counted, where there are as many as may be."""
        if caller.key_id and self._open[caller.tenant] >= self.most:
            return False
        self._open[caller.tenant] += 1
        return True

    def leave(self, caller: Principal) -> None:
        """Counts one less."""
        self._open[caller.tenant] -= 1
        if not self._open[caller.tenant]:
            del self._open[caller.tenant]


class FollowedEvents(StreamingResponse):
    """Streams events to a follower, for as long as they stay, or tells them that they have too many streams open."""

    media_type = EVENT_STREAM

    def __init__(
        self, events: AsyncIterator[bytes], streams: StreamsOfTenants, caller: Principal
    ) -> None:
        super().__init__(with_keep_alive(events, KEEP_ALIVE_S), headers=STREAM_HEADERS)
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


async def _streams_of_tenants(request: Request) -> StreamsOfTenants:
    return cast(StreamsOfTenants, request.app.state.streams_of_tenants)


Streams = Annotated[StreamsOfTenants, Depends(_streams_of_tenants)]
"""The event streams that followers hold open, as a route asks for them."""
