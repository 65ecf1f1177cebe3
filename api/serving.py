"""Serves an app on a socket until a signal comes, and shuts down in order: first queries under way, then the rest."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from antiphon.api.app import Door, create_app
from antiphon.api.connections import BoundedHttp, connections_within
from antiphon.api.dependencies import FaultOf, InterceptorOf, cancel_queries
from antiphon.api.stopping import LAST_WORDS_S
from antiphon.service import RESET, Antiphon, Settings, spare_memory, take_short_turns

STOPPING_S = 5.0
"""Seconds that queries under way get to end after a signal to stop; then they are cancelled."""

STOPPED_BY = (signal.SIGINT, signal.SIGTERM)
CLOSING_S = 5
"""Seconds that cancelled queries and their callers get after that."""


async def serve(
    settings: Settings,
    listener: socket.socket,
    interceptor_of: InterceptorOf | None,
    fault_of: FaultOf,
    doors: Sequence[Door],
    *,
    announce: Callable[[Sequence[str]], None],
    stopping: Callable[[int], None],
) -> int | None:
    """Serves the REST API until a signal comes, and returns the signal's number.

    Args:
        announce: Called once the service is open, with the reasons why it is not ready yet.
        stopping: Called with each signal, also with further ones while the service is stopping already.

    Raises:
        ServiceError: The service cannot be opened.
    """
    spare_memory()
    take_short_turns()
    _send_at_once(listener)
    app = create_app(
        settings,
        # Embedder and SDK load later, because only questions need them: checks of the service answer at once.
        partial(Antiphon.open, loads_later=True),
        interceptor_of,
        fault_of,
        doors,
    )
    config = uvicorn.Config(
        app,
        http=partial(BoundedHttp, most=connections_within(settings.connections)),  # type: ignore[arg-type]  # it is only called
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=int(STOPPING_S) + CLOSING_S,
    )
    server = _Server(config, app, stopping)
    # Entered here rather than by uvicorn, so that a refusal to open reaches the user as a sentence.
    with server.stopped_by_signals():
        async with app.router.lifespan_context(app):
            announce(app.state.service.readiness().refusing)
            await server.serve(sockets=[listener])
    return server.stopped_by


async def serve_app(app: Any, listener: socket.socket) -> None:
    """Serves an app without a lifespan, such as the double, without a log."""
    _send_at_once(listener)
    config = uvicorn.Config(
        app,
        http=_BreakableHttp,
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
    )
    await uvicorn.Server(config).serve(sockets=[listener])


class _BreakableHttp(HttpToolsProtocol):
    """uvicorn's protocol, extended so that an app can break a connection before the head of its reply."""

    def on_headers_complete(self) -> None:
        """Gives the app a function that breaks its connection."""
        super().on_headers_complete()
        self.scope["extensions"] = {RESET: {"now": self.transport.abort}}


def _send_at_once(listener: socket.socket) -> None:
    """Has every connection of the listener send the head and the body of a reply as they are written.

    By default the system holds back the body until the caller has acknowledged the head, which takes 40 ms for each
    reply. asyncio switches that off, but not for connections of a listener that was made without naming TCP
    (https://github.com/python/cpython/blob/3.11/Lib/asyncio/base_events.py, `_set_nodelay`).
    """
    if listener.family in (socket.AF_INET, socket.AF_INET6):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class _Server(uvicorn.Server):
    """uvicorn's server, with our handling of signals: uvicorn would raise them again before our service is closed."""

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, stopping: Callable[[int], None]
    ) -> None:
        super().__init__(config)
        self._app = app
        self._stopping = stopping
        self.stopped_by: int | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        # Only now: loading takes the processor away from everything else, such as opening the socket.
        self._app.state.service.load()
        self._app.state.service.check_model_key()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        late = loop.call_later(
            STOPPING_S, cancel_queries, self._app, "the service is stopping"
        )
        ending = asyncio.create_task(self._end_streams())
        await super().shutdown(sockets)
        # In case the queries ended in time: then none is to be cancelled any more.
        late.cancel()
        ending.cancel()

    async def _end_streams(self) -> None:
        """Ends the streams of remaining followers, once those of cancelled queries have ended in their own way."""
        await asyncio.sleep(STOPPING_S + LAST_WORDS_S)
        await self._app.state.event_streams.end()

    @contextmanager
    def stopped_by_signals(self) -> Generator[None, None, None]:
        """Has SIGINT and SIGTERM shut the server down in order, from before it opens until after it has closed."""
        loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in STOPPED_BY}
        for number in STOPPED_BY:
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            # Removing the loop's handlers installs Python's defaults: the ones from before must be restored.
            for number, handler in before.items():
                loop.remove_signal_handler(number)
                signal.signal(number, handler)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield  # done by `stopped_by_signals`, for longer than uvicorn would

    def _stop(self, number: int) -> None:
        self._stopping(number)
        self.stopped_by = number
        self.handle_exit(number, None)
