"""`antiphon doctor`: what is configured, reachable and indexed, and what to do about what is not."""

from __future__ import annotations

import asyncio

import typer

from cli.checks import OF_SETTINGS, WITHOUT_SETTINGS, Check
from cli.options import DataDir
from cli.session import opened, settings_for_people
from cli.terminal import one_line, out
from service import Settings
from vocabulary.errors import ServiceError


def add_to(app: typer.Typer) -> None:
    """Makes the command known."""
    app.command("doctor")(doctor)


def doctor(data_dir: DataDir = None) -> None:
    """Checks what is configured, reachable and indexed. Exit code 1 where something is wrong."""
    found = [check() for check in WITHOUT_SETTINGS]
    settings = settings_for_people(data_dir=data_dir)
    found += [check(settings) for check in OF_SETTINGS]
    found += asyncio.run(open_checks(settings))
    for check in found:
        show(check)
    if not all(check.well for check in found):
        raise typer.Exit(1)


async def open_checks(settings: Settings) -> list[Check]:
    """What can only be seen with the service open: index and traces."""
    try:
        async with opened(settings) as service:
            readiness = service.readiness()
            traces = await service.store.list(1)
    except ServiceError as error:
        return [Check("Service", False, "it cannot be opened", str(error))]
    indexed = f"{readiness.courses} courses, {readiness.chunks} passages by {readiness.embedder}"
    last = f"the last was {traces[0].query_id}" if traces else "none yet"
    return [
        Check("Index", readiness.ready, indexed, " ".join(readiness.problems)),
        Check("Traces", True, last),
    ]


def show(check: Check) -> None:
    """One line, and what to do below it."""
    out.print(f"{'✓' if check.well else '✗'} {check.name}: {one_line(check.found, 300)}", soft_wrap=True)
    if not check.well and check.remedy:
        out.print(f"  → {one_line(check.remedy, 400)}", soft_wrap=True)
