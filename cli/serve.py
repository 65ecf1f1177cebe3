"""`antiphon serve`, `mcp` and `double`: the REST API, an MCP server, and a Messages API to test against."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from antiphon import api, doors, faults, service
from antiphon.cli.process import end_at_once
from antiphon.cli.session import (
    DataDir,
    Model,
    Reasoner,
    loaded_settings,
    opened,
    opening,
    require_index,
    settings_for_people,
)
from antiphon.cli.terminal import err
from antiphon.cli.worker import Queue
from antiphon.vocabulary.errors import ConfigurationError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.imports import needing_extra
from antiphon.vocabulary.private_files import make_private_file, make_private_folder

IN_USE = ".service.owner"
"""A file in the data folder that the service using it locks and names itself in. Backups leave out `.owner` files."""


def serve(
    host: Annotated[
        str | None,
        typer.Option("--host", help="Address to serve on.", show_default="127.0.0.1"),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", help="Port; 0 takes a free one.", show_default="8000"),
    ] = None,
    queue: Queue = None,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
    allow_faults: Annotated[
        bool,
        typer.Option(
            "--allow-faults",
            help="Let callers send fault plans (docs/faults.md); never use it in production.",
        ),
    ] = False,
) -> None:
    """Serves the REST API; its documentation is at /docs. With --queue, workers answer (`antiphon worker`).

    Ctrl-C stops it: it takes no more requests, gives running queries five seconds to end, and cancels the rest, whose
    callers get status 503. A second Ctrl-C ends it at once.
    """
    settings = loaded_settings(
        host=host, port=port, nats_url=queue, data_dir=data_dir, reasoner=reasoner
    )
    service.configure_logging(settings)
    interceptor_of = faults.injector_of if allow_faults else None
    # All keys may have been made on other nodes; the check below needs to know them.
    asyncio.run(service.share_keys(settings, at_start=True))
    service.check_listening(settings)
    with listening(settings) as listener, _in_use(settings, _address(listener)):
        _warn_of_network(settings)
        with needing_extra("serve", "`antiphon serve`"):
            serve_api = api.serve
            chosen = doors.doors_of(settings)
        life = _Life(listener)
        serving = serve_api(
            settings,
            listener,
            interceptor_of,
            _fault_of,
            chosen,
            announce=life.begin,
            stopping=life.stop,
        )
        service.run_serving(serving)


def mcp(
    data_dir: DataDir = None, reasoner: Reasoner = None, model: Model = None
) -> None:
    """Speaks the Model Context Protocol on standard input and output, for Claude Desktop and other clients.

    It answers from the data folder itself and needs no running service, which speaks it at /mcp.
    """
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner, model=model)
    with needing_extra("mcp", "`antiphon mcp`"):
        serve_stdio = doors.serve_stdio
    require_index(settings)

    async def work() -> None:
        async with opened(settings) as antiphon:
            await serve_stdio(antiphon)

    asyncio.run(work())


def double(
    script: Annotated[
        Path | None,
        typer.Option(
            "--script",
            help="YAML or JSON file that says what to reply, how fast, and where to break.",
        ),
    ] = None,
    documented: Annotated[
        bool,
        typer.Option(
            "--documented",
            help="Refuse, think, cache and bill as the API's documentation says; without a script, "
            "two rounds of tool calls and an answer are played.",
        ),
    ] = False,
    port: Annotated[
        int, typer.Option("--port", help="Port; 0 takes a free one.")
    ] = 8400,
    host: Annotated[
        str, typer.Option("--host", help="Address to serve on.")
    ] = "127.0.0.1",
) -> None:
    """Serves a Messages API that replies from a script (docs/double.md); point ANTHROPIC_BASE_URL at it."""
    app = _double(script, documented)
    with needing_extra("serve", "`antiphon double`"):
        serve_app = api.serve_app
    with listening(loaded_settings(host=host, port=port)) as listener:
        address, at = listener.getsockname()[:2]
        err.print(
            f"The double answers at http://{address}:{at} (Ctrl-C stops it)",
            soft_wrap=True,
        )
        asyncio.run(serve_app(app, listener))


def _double(script: Path | None, documented: bool) -> service.Double:
    played = None if script is None else service.read_script(script)
    if documented:
        return service.Double(service.DocumentedApi(script=played), on_port=True)
    if played is None:
        raise ConfigurationError(
            "The double has nothing to reply: name a script with --script, or use --documented."
        )
    return service.Double(played, on_port=True)


@contextmanager
def listening(settings: service.Settings) -> Generator[socket.socket, None, None]:
    """Binds a socket to the settings' address, before anything slow begins.

    Raises:
        ConfigurationError: The address cannot be used.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
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


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    # In a URL an IPv6 address needs brackets, because it contains colons itself.
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"


@contextmanager
def _in_use(settings: service.Settings, address: str) -> Generator[None]:
    """Marks the data folder as this service's, and warns if another uses it: the two would share all but their memory.

    It warns rather than refuses, because both are there for some seconds when one service replaces another.
    """
    with ExitStack() as held:
        path = settings.data_dir / IN_USE
        try:
            make_private_folder(settings.data_dir)
            make_private_file(path)
            # The system releases the lock when the process ends, in any way.
            file = held.enter_context(path.open("r+"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.truncate()
            file.write(f"process {os.getpid()}, {address}")
            file.flush()
        except BlockingIOError:
            # Nodes that share NATS servers may also share a folder.
            if settings.nats_url is None:
                _warn_of_another(settings.data_dir, file.read())
        except OSError:
            # The next step that opens the folder reports the problem.
            pass
        yield


def _warn_of_another(folder: Path, holder: str) -> None:
    err.print(
        f"! Another service uses {folder} ({holder}). Both answer from it, but running queries, jobs and circuits of "
        "one are unknown to the other, and each keeps the limits of the model's server by itself: stop one, or give "
        "this one another folder with --data-dir.",
        style="yellow",
        soft_wrap=True,
    )


class _Life:
    """Messages to the user about the beginning and the end of the service."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._opening = opening()
        self._opening.start()
        self._serves = False
        self._stops = False

    def begin(self, problems: Sequence[str]) -> None:
        """Prints the service's address, and the reasons why it is not ready yet."""
        self._opening.stop()
        self._serves = True
        err.print(
            f"Antiphon serves {_address(self._listener)} (documentation: /docs; Ctrl-C stops it)",
            soft_wrap=True,
        )
        for problem in problems:
            err.print(
                f"! {problem} Until then questions are refused.",
                style="yellow",
                soft_wrap=True,
            )

    def stop(self, number: int) -> None:
        """Announces the shutdown at the first signal; ends at once at a second Ctrl-C, or before the service opens."""
        if number == signal.SIGINT and (self._stops or not self._serves):
            end_at_once()
        if self._serves and not self._stops:
            err.print(
                f"Stopping: queries under way have {api.STOPPING_S:.0f} s to end; Ctrl-C once more ends at once.",
                style="dim",
                soft_wrap=True,
            )
        self._stops = True


def _warn_of_network(settings: service.Settings) -> None:
    """Warns that anybody may use the service without a key, if the settings say so."""
    if not settings.anybody_may or service.has_keys(settings):
        return
    err.print(
        f"Anyone who reaches {settings.host} may {settings.anybody_may} without a key, as ANTIPHON_ANYBODY_MAY says. "
        f"It answers only to {settings.allowed_hosts}.",
        style="yellow",
        soft_wrap=True,
    )


def _fault_of(
    events: Sequence[Recorded[Event]], at: int, kind: str | None, point: str | None
) -> dict[str, Any]:
    found = faults.fault_at(events, at, kind, point)
    return {
        "at": found.at,
        "plan": {"faults": msgspec.to_builtins(found.plan.faults)},
        "kinds": {of: list(kinds) for of, kinds in found.kinds},
    }
