"""`antiphon serve` and `antiphon double`: the REST API, and a Messages API to test against, until a signal comes."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from antiphon.api import InterceptorOf, cancel_queries, create_app, is_loopback
from antiphon.cli.session import DataDir, Reasoner
from antiphon.cli.terminal import err
from antiphon.faults import fault_at, injector_of
from antiphon.service import (
    Double,
    Settings,
    configure_logging,
    load_settings,
    read_script,
)
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import Event, Recorded

STOPPING_S = 5.0
"""Seconds that queries under way get to end when the service is asked to stop; then they are cancelled."""

CLOSING_S = 5
"""Seconds that cancelled queries and their callers get after that."""

HEADERS_S = 10.0
"""Seconds in which the head of a request must have come: one that never does would hold its connection for ever."""

INTERRUPTED = 130


def serve(
    host: Annotated[
        str | None,
        typer.Option("--host", help="Address to serve on.", show_default="127.0.0.1"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", help="Port; 0 takes a free one.", show_default="8000"),
    ] = None,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    allow_faults: Annotated[
        bool,
        typer.Option(
            "--allow-faults",
            help="Let callers send fault plans (docs/faults.md); never in production.",
        ),
    ] = False,
) -> None:
    """Serves the REST API; its documentation is at /docs. Ctrl-C stops it once the queries under way have ended."""
    settings = load_settings(host=host, port=port, data_dir=data_dir, reasoner=reasoner)
    configure_logging(settings)
    interceptor_of: InterceptorOf | None = None
    if allow_faults:
        interceptor_of = injector_of
    with listening(settings) as listener:
        stopped_by = asyncio.run(_serve(settings, listener, interceptor_of))
    if stopped_by == signal.SIGINT:
        raise typer.Exit(INTERRUPTED)


def double(
    script: Annotated[
        Path,
        typer.Option(
            "--script",
            help="YAML or JSON file: what to reply, how fast, where to break.",
        ),
    ],
    port: Annotated[
        int, typer.Option("--port", help="Port; 0 takes a free one.")
    ] = 8400,
    host: Annotated[
        str, typer.Option("--host", help="Address to serve on.")
    ] = "127.0.0.1",
) -> None:
    """Serves a Messages API that answers by a script (docs/double.md): set ANTHROPIC_BASE_URL to its address."""
    app = Double(read_script(script), on_port=True)
    with listening(load_settings(host=host, port=port)) as listener:
        address, at = listener.getsockname()[:2]
        err.print(
            f"The double answers at http://{address}:{at} (Ctrl-C stops it)",
            soft_wrap=True,
        )
        config = uvicorn.Config(
            app, lifespan="off", log_config=None, log_level="critical", access_log=False
        )
        uvicorn.Server(config).run(sockets=[listener])


@contextmanager
def listening(settings: Settings) -> Generator[socket.socket, None, None]:
    """Binds a socket to the settings' address, before anything slow is done.

    Raises:
        ConfigurationError: The address cannot be had.
    """
    family = socket.AF_INET
    if ":" in settings.host:
        family = socket.AF_INET6
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host.strip("[]"), settings.port))
            listener.listen()  # at once: a second server must fail now, and early callers wait
        except OSError as error:
            raise ConfigurationError(
                f"Cannot listen on {settings.host}, port {settings.port} ({error.strerror or error}): "
                "stop what uses it, or choose another with --port and --host."
            ) from error
        yield listener


async def _serve(
    settings: Settings, listener: socket.socket, interceptor_of: InterceptorOf | None
) -> int | None:
    """Serves until a signal comes, and returns its number."""
    app = create_app(settings, interceptor_of=interceptor_of, fault_of=_fault_of)
    config = uvicorn.Config(
        app,
        http=PromptHttp,
        lifespan="off",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=int(STOPPING_S) + CLOSING_S,
    )
    server = _Server(config, app)
    # Entered here and not by uvicorn, so that a refusal to open reaches the user as a sentence.
    with server.stopped_by_signals():
        async with app.router.lifespan_context(app):
            host, port = listener.getsockname()[:2]
            shown = host
            # An address needs brackets where it holds colons itself.
            if ":" in host:
                shown = f"[{host}]"
            err.print(
                f"Antiphon serves http://{shown}:{port} (documentation: /docs; Ctrl-C stops it)",
                soft_wrap=True,
            )
            _warn_of_network(settings)
            await server.serve(sockets=[listener])
    return server.stopped_by


def _warn_of_network(settings: Settings) -> None:
    """Says who can reach a service on a network address, and by which names."""
    if is_loopback(settings.host):
        return
    err.print(
        f"Whoever reaches {settings.host} may use it: there are no accounts. It answers only to "
        f"{settings.allowed_hosts}; ANTIPHON_ALLOWED_HOSTS names others.",
        style="yellow",
        soft_wrap=True,
    )


def _fault_of(
    events: Sequence[Recorded[Event]], at: int, kind: str | None, point: str | None
) -> dict[str, Any]:
    found = fault_at(events, at, kind, point)
    return {
        "at": found.at,
        "plan": {"faults": msgspec.to_builtins(found.plan.faults)},
        "kinds": {of: list(kinds) for of, kinds in found.kinds},
    }


class PromptHttp(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # uvicorn picks its class when it is imported
    """uvicorn's protocol, which by itself waits for the head of a request for ever."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # A request under way has its whole head; what comes between two is the beginning of the next.
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_expecting()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_expecting()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self.loop.call_later(HEADERS_S, self.transport.close)

    def _stop_expecting(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


class _Server(uvicorn.Server):
    """uvicorn's server, which would raise a caught signal again before our service is closed."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app
        self.stopped_by: int | None = None

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        late = loop.call_later(
            STOPPING_S, cancel_queries, self._app, "the service is stopping"
        )
        await super().shutdown(sockets)
        # No query is cancelled after all where they ended in time.
        late.cancel()

    @contextmanager
    def stopped_by_signals(self) -> Generator[None, None, None]:
        """Lets SIGINT and SIGTERM end the server in order, from before it opens until after it has closed."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, number)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield  # done by `stopped_by_signals`, for longer than uvicorn would

    def _stop(self, number: int) -> None:
        self.stopped_by = number
        self.handle_exit(number, None)
