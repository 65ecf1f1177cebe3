"""`antiphon act`: runs one part of the service in a separate process, for the sessions of others."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.session import DataDir, loaded_settings
from antiphon.cli.terminal import err


def act(
    part: Annotated[
        str, typer.Argument(help="The part to run: `dispatcher` or `engine`.")
    ],
    nats: Annotated[
        str | None,
        typer.Option("--nats", help="The NATS servers, comma-separated."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Runs one part of the service for other processes: `dispatcher` runs the tools of their sessions.

    Start the other processes with ANTIPHON_REMOTE=dispatcher. Several processes of one part share the work. Ctrl-C or
    SIGTERM stops it after the running calls.
    """
    settings = loaded_settings(nats_url=nats, data_dir=data_dir)
    service.configure_logging(settings)
    service.run_serving(_act(part, settings))


async def _act(part: str, settings: service.Settings) -> None:
    """Acts until a signal comes."""
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)

    def announce() -> None:
        err.print(f"Antiphon acts as {part} (Ctrl-C stops it)", soft_wrap=True)

    await service.act(part, settings, stopped.wait, announce)
