"""`antiphon doctor --model`: finds out by small calls which features the model's server has."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

import typer

from antiphon import service
from antiphon.cli.terminal import one_line, out

CALL_S = 30.0
"""Seconds for a reply of the model, unless the settings let it be silent for longer."""
MARKS = {True: "✓", False: "✗"}


class Check(NamedTuple):
    """The result of one check: if all is well, the finding, and the remedy if it is not."""

    name: str
    well: bool
    found: str
    remedy: str = ""


def ask_the_model(settings: service.Settings) -> None:
    """Prints the features of the model's server, and the settings for those it lacks; exit code 1 if it is silent."""
    findings = asyncio.run(_capabilities(settings))
    for finding in findings:
        out.print(
            f"{MARKS[finding.well]} {finding.name}: {one_line(finding.found, 200)}",
            soft_wrap=True,
        )
    for setting in settings_for(findings):
        out.print(f"  → set {setting}", soft_wrap=True)
    if not findings[0].well:
        raise typer.Exit(1)


def settings_for(findings: Sequence[service.Finding]) -> list[str]:
    """Returns the settings that follow from findings, with the values of one variable together."""
    values: dict[str, list[str]] = {}
    for finding in findings:
        if not finding.setting:
            continue
        # One assignment for each variable: a second would replace the first.
        name, _, value = finding.setting.partition("=")
        values.setdefault(name, []).append(value)
    return [f"{name}={','.join(found)}" for name, found in values.items()]


async def _capabilities(settings: service.Settings) -> list[service.Finding]:
    speaker = service.speaker_of(settings)
    try:
        return await service.find_capabilities(
            speaker, settings.model, max(CALL_S, settings.silence_s)
        )
    finally:
        await speaker.aclose()
