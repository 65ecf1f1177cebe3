"""`antiphon traces fork|whatif|fault`: a query run again from one of its events on, with something changed there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from antiphon.cli.options import DataDir, Reasoner
from antiphon.cli.session import opened, settings_for_people
from antiphon.cli.terminal import clean, err, one_line, out
from antiphon.cli.trace_diff import show_diff
from antiphon.cli.trace_store import read_trace, whole_id
from antiphon.faults import Injector, Plan, fault_at, leave_as_planned, read_plan, write_plan
from antiphon.service import Antiphon, Change, Mode, Outcome, QueryHandle, diff
from antiphon.vocabulary.errors import BadInputError

Id = Annotated[str, typer.Argument(help="The trace's id, or enough of its beginning.")]


def fork(
    query_id: Id,
    at: Annotated[
        int | None, typer.Option("--at", help="The event to change, or with --fault alone the first that may break.")
    ] = None,
    sets: Annotated[list[str] | None, typer.Option("--set", help="field=value of the event.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--setting", help="name=value of the query.")] = None,
    reply: Annotated[Path | None, typer.Option("--reply", help="A file: the reply of the call.")] = None,
    tool_results: Annotated[list[str] | None, typer.Option("--tool-result", help="CALL=FILE.")] = None,
    fault: Annotated[
        Path | None, typer.Option("--fault", help="A fault plan (YAML or JSON) for all that happens from there on.")
    ] = None,
    mode: Annotated[
        Literal["recorded", "remodel", "live"],
        typer.Option("--mode", help="recorded: as recorded where unchanged; remodel: so, but the model live; live."),
    ] = "recorded",
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Runs a query again from one event on, with something changed there, as a trace of its own; then compares."""
    changes = [
        *(Change(kind="setting", name=name, value=value) for name, value in map(_pair, settings or ())),
        *(Change(kind="set", name=name, value=value) for name, value in map(_pair, sets or ())),
        *(Change(kind="tool", name=name, value=_text(Path(file))) for name, file in map(_pair, tool_results or ())),
        *((Change(kind="reply", value=_text(reply)),) if reply else ()),
    ]
    plan = _plan(fault) if fault else None
    asyncio.run(_fork(query_id, at, changes, mode, plan, data_dir, reasoner))


def whatif(
    query_id: Id,
    without: Annotated[str, typer.Option("--without", help="A passage's id, or a fact's (f1).")],
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Drops one passage, runs the query again from where it was found, and shows whether the answer moved."""
    asyncio.run(_fork(query_id, None, [Change(kind="drop", name=without)], "recorded", None, data_dir, reasoner))


def fault(
    query_id: Id,
    at: Annotated[int, typer.Option("--at", help="The event to break.")],
    kind: Annotated[str | None, typer.Option("--kind", help="What is to happen (`antiphon faults list`).")] = None,
    point: Annotated[str | None, typer.Option("--point", help="At which of the event's doors.")] = None,
    data_dir: DataDir = None,
) -> None:
    """Prints the fault plan that breaks a query at one of its events: `antiphon traces fork --fault` takes it."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir).data_dir, query_id))
    struck = fault_at(events, at, kind, point)
    out.print(f"# antiphon traces fork {clean(events[0].query_id)} --at {struck.at} --fault THIS_FILE", soft_wrap=True)
    out.print(write_plan(struck.plan), end="", soft_wrap=True)
    for door, kinds in struck.kinds:
        err.print(f"{door}: {', '.join(kinds)}", style="dim", soft_wrap=True)


async def _fork(
    wanted: str,
    at: int | None,
    changes: Sequence[Change],
    mode: Mode,
    plan: Plan | None,
    data_dir: Path | None,
    reasoner: str | None,
) -> None:
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner)
    async with opened(settings) as service:
        query_id = await whole_id(service.store, wanted)
        if plan is None:
            running = await service.history.fork(query_id, at, changes, mode)
            outcome, silent = await running.outcome(), False
        else:
            running, outcome, silent = await _broken(service, query_id, at, changes, mode, plan)
        found = diff(await service.store.read(query_id), await service.store.read(running.query_id))
    err.print(f"fork {running.query_id} of {query_id}: {outcome.status}", style="dim")
    show_diff(found)
    if silent:
        raise typer.Exit(1)


async def _broken(
    service: Antiphon, query_id: str, at: int | None, changes: Sequence[Change], mode: Mode, plan: Plan
) -> tuple[QueryHandle, Outcome, bool]:
    """The fork under a fault plan; the last says whether nothing of the plan fired."""
    injector = Injector(plan.faults)
    running = await service.history.fork(query_id, at, changes, mode, injector)
    leaving = asyncio.create_task(leave_as_planned(running, injector.injected, injector.injected.stored_seq))
    outcome = await running.outcome()
    await leaving
    for fired in injector.injected.fired:
        err.print(f"fired: {fired.kind} at {one_line(fired.point, 100)} in {fired.when}", style="dim")
    if not injector.injected.fired:
        err.print("No fault fired: the query did not come by there again. Fork at an earlier event.", style="red")
    return running, outcome, not injector.injected.fired


def _plan(path: Path) -> Plan:
    plan = read_plan(path)
    if not plan.faults:
        raise BadInputError(f"{clean(str(path))} names no faults: see docs/faults.md, or `antiphon traces fault`.")
    return plan


def _pair(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise BadInputError(f"{clean(given)!r} is not of the form name=value.")
    return name, value


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInputError(f"{path} cannot be read: {error}") from error
