"""`antiphon doctor`: what is configured, reachable and indexed, and what to do about what is not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer

from antiphon.cli.checks import OF_SETTINGS, WITHOUT_SETTINGS, Check
from antiphon.cli.options import DataDir
from antiphon.cli.session import opened, settings_for_people
from antiphon.cli.terminal import one_line, out
from antiphon.engine import Finding, find_capabilities
from antiphon.service import Settings, speaker_of
from antiphon.vocabulary.errors import ServiceError


def add_to(app: typer.Typer) -> None:
    """Makes the command known."""
    app.command("doctor")(doctor)


def doctor(
    data_dir: DataDir = None,
    model: Annotated[
        bool, typer.Option("--model", help="Make one tiny call of each kind, and say what the model's server can do.")
    ] = False,
) -> None:
    """Checks what is configured, reachable and indexed. Exit code 1 where something is wrong."""
    if model:
        ask_the_model(settings_for_people(data_dir=data_dir))
        return
    found = [check() for check in WITHOUT_SETTINGS]
    settings = settings_for_people(data_dir=data_dir)
    found += [check(settings) for check in OF_SETTINGS]
    found += asyncio.run(open_checks(settings))
    for check in found:
        show(check)
    if not all(check.well for check in found):
        raise typer.Exit(1)


def ask_the_model(settings: Settings) -> None:
    """What the model's server can do, and the settings for what it cannot; exit code 1 where it does not answer."""
    findings = asyncio.run(_capabilities(settings))
    for finding in findings:
        out.print(f"{'✓' if finding.well else '✗'} {finding.name}: {one_line(finding.found, 200)}", soft_wrap=True)
    for setting in settings_for(findings):
        out.print(f"  → set {setting}", soft_wrap=True)
    if not findings[0].well:
        raise typer.Exit(1)


def settings_for(findings: Sequence[Finding]) -> list[str]:
    """The settings that follow, those of one variable together."""
    values: dict[str, list[str]] = {}
    for name, _, value in (finding.setting.partition("=") for finding in findings if finding.setting):
        values.setdefault(name, []).append(value)
    return [f"{name}={','.join(found)}" for name, found in values.items()]


async def _capabilities(settings: Settings) -> list[Finding]:
    speaker = speaker_of(settings)
    try:
        return await find_capabilities(speaker, settings.model)
    finally:
        await speaker.aclose()


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
