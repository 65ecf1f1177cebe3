"""`antiphon traces why`: the possible causes of a bad answer, the likeliest first."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
import typer

from antiphon import service
from antiphon.cli.session import DataDir, Json, TraceId, read_trace, settings_for_people
from antiphon.cli.terminal import one_line, out, print_json

SHOWN = 5


def why(
    query_id: TraceId,
    every: Annotated[
        bool, typer.Option("--all", help="Show all suspects, not only five.")
    ] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Ranks the likely causes of a bad answer, each with the event that explains it and what to try next."""
    settings = settings_for_people(data_dir=data_dir)
    found = service.suspects(asyncio.run(read_trace(settings, query_id)))
    if as_json:
        print_json(msgspec.json.encode(found).decode())
        return
    if not found:
        out.print("Nothing stands out in this trace.")
        return
    shown = found if every else found[:SHOWN]
    for number, suspect in enumerate(shown, start=1):
        _show(number, suspect)
    if len(shown) < len(found):
        out.print(f"{len(found) - len(shown)} more: --all", style="dim")


def _show(number: int, suspect: service.Suspect) -> None:
    out.print(
        f"{number}. {one_line(suspect.text, 600)} (event {suspect.event_seq})",
        soft_wrap=True,
    )
    about = f"{suspect.area}, {one_line(suspect.kind, 40)}, weight {suspect.weight:.2f}"
    out.print(f"   {about}. {suspect.advice}", style="dim", soft_wrap=True)
