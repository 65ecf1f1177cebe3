"""`antiphon worker`: works on queries that nodes of the REST API have received, until a signal comes."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Annotated

import typer

from antiphon import service
from antiphon.cli.process import end_at_once
from antiphon.cli.session import DataDir, Reasoner, loaded_settings, opening
from antiphon.cli.terminal import err

Queue = Annotated[
    str | None,
    typer.Option(
        "--queue",
        help="NATS servers for traces and questions, such as nats://127.0.0.1:4222; by default this process has both.",
    ),
]


def worker(
    queue: Queue = None,
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            min=1,
            help="Maximum queries to work on at once.",
            show_default="100",
        ),
    ] = None,
    drain: Annotated[
        float | None,
        typer.Option(
            "--drain",
            min=0,
            help="Seconds that running queries get to end at shutdown.",
            show_default="30",
        ),
    ] = None,
    health: Annotated[
        int | None,
        typer.Option(
            "--health",
            min=0,
            max=65535,
            help="Port of /healthz, /readyz and /metrics; 0 takes a free one.",
            show_default="none",
        ),
    ] = None,
    health_host: Annotated[
        str, typer.Option("--health-host", help="Address of that port.")
    ] = "127.0.0.1",
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Answers questions from the queue; start as many workers as you need, on as many machines.

    SIGTERM or Ctrl-C stops it gracefully: it takes no more questions, gives its queries some seconds to end, and leaves
    the rest to other workers, which resume from the recorded events. A second Ctrl-C ends it at once; other workers
    then notice by themselves.
    """
    settings = loaded_settings(
        nats_url=queue,
        worker_queries=concurrency,
        drain_s=drain,
        data_dir=data_dir,
        reasoner=reasoner,
    )
    service.configure_logging(settings)
    spinner = opening()
    signals: list[int] = []

    def begin(name: str, port: int | None, problems: Sequence[str]) -> None:
        spinner.stop()
        at = "" if port is None else f", health at http://{health_host}:{port}"
        err.print(
            f"Worker {name} takes questions, {settings.worker_queries} at once{at}; Ctrl-C stops it",
            soft_wrap=True,
        )
        for problem in problems:
            err.print(
                f"! {problem} Until then it takes no questions.",
                style="yellow",
                soft_wrap=True,
            )

    def stop(number: int) -> None:
        if number == signal.SIGINT and signals:
            end_at_once()
        signals.append(number)
        err.print(
            f"Stopping: queries under way have {settings.drain_s:g} s to end; Ctrl-C once more ends at once.",
            style="dim",
            soft_wrap=True,
        )

    spinner.start()
    working = service.work(
        settings,
        health_host=health_host,
        health_port=health,
        announce=begin,
        stopping=stop,
    )
    service.run_serving(working)
