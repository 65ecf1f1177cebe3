"""`antiphon act`: one part of the service in a process of its own, for the sessions of others."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.process import INTERRUPTED
from antiphon.cli.session import DataDir, loaded_settings
from antiphon.cli.terminal import err


def act(
    part: Annotated[
        str, typer.Argument(help="What acts here: `dispatcher` or `engine`.")
    ],
    nats: Annotated[
        str | None,
        typer.Option("--nats", help="The NATS servers, with commas between."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Acts as one part of the service: as `dispatcher` it runs the tools of sessions that are in other processes.

    Those sessions are started with ANTIPHON_REMOTE=dispatcher. Several such processes share the work. Ctrl-C or SIGTERM
    ends it once the calls under way are over.
    """
    settings = loaded_settings(nats_url=nats, data_dir=data_dir)
    service.configure_logging(settings)
    if service.run_serving(_act(part, settings)) == signal.SIGINT:
        raise typer.Exit(INTERRUPTED)


async def _act(part: str, settings: service.Settings) -> int:
    """Acts until a signal comes, and returns it."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[int] = loop.create_future()

    def stop(number: int) -> None:
        if not stopped.done():
            stopped.set_result(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop, number)

    async def wait() -> int:
        return await stopped

    def announce() -> None:
        err.print(f"Antiphon acts as {part} (Ctrl-C stops it)", soft_wrap=True)

    await service.act(part, settings, wait, announce)
    return stopped.result()
