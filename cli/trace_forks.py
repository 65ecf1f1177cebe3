"""`antiphon traces fork|whatif|fault`: runs a recorded query again with something changed, or broken on purpose."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer

from antiphon import faults, service
from antiphon.cli.session import (
    DataDir,
    Reasoner,
    TraceId,
    found_id,
    opened,
    read_trace,
    settings_for_people,
)
from antiphon.cli.terminal import clean, err, one_line, out, short_id
from antiphon.cli.trace_views import moved, show_diff
from antiphon.vocabulary.errors import BadInputError

Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do not ask before a live model costs money."),
]


class Fork(NamedTuple):
    """A fork with the options of the command line."""

    wanted: str
    at: int | None
    changes: Sequence[service.Change]
    mode: service.Mode
    plan: faults.Plan | None
    yes: bool


def fork(
    query_id: TraceId,
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            help="The event to change; with --fault alone, the first event that may break.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", help="Change a field of the event: field=value."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--setting", help="Change a setting of the query: name=value."),
    ] = None,
    reply: Annotated[
        Path | None, typer.Option("--reply", help="A file with the reply of the call.")
    ] = None,
    tool_results: Annotated[
        list[str] | None,
        typer.Option(
            "--tool-result",
            help="Replace the result of a tool call: CALL=FILE, with its id or the number of one of its events.",
        ),
    ] = None,
    fault: Annotated[
        Path | None,
        typer.Option(
            "--fault",
            help="A fault plan (YAML or JSON) for everything from there on.",
        ),
    ] = None,
    mode: Annotated[
        Literal["recorded", "remodel", "live"],
        typer.Option(
            "--mode",
            help="recorded: every call from the recording; remodel: only the model live; live: everything live.",
        ),
    ] = "recorded",
    yes: Yes = False,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Runs a query again from one event, with a change there, as a new trace, and compares the two."""
    changes = [*_changes("setting", settings), *_changes("set", sets)]
    for given in tool_results or ():
        name, file = _pair(given)
        changes.append(service.Change(kind="tool", name=name, value=_text(Path(file))))
    if reply:
        changes.append(service.Change(kind="reply", value=_text(reply)))
    plan: faults.Plan | None = None
    if fault:
        plan = faults.read_plan(fault)
        # A fork without any change would look like a fault that did no harm.
        if not plan.faults:
            path = clean(str(fault))
            raise BadInputError(
                f"{path} names no faults: see docs/faults.md, or `antiphon traces fault`."
            )
    asked = Fork(query_id, at, changes, mode, plan, yes=yes)
    asyncio.run(_fork(asked, data_dir, reasoner))


def _changes(
    kind: Literal["set", "setting"], given: list[str] | None
) -> list[service.Change]:
    changes: list[service.Change] = []
    for each in given or ():
        name, value = _pair(each)
        changes.append(service.Change(kind=kind, name=name, value=value))
    return changes


def whatif(
    query_id: TraceId,
    without: Annotated[
        str, typer.Option("--without", help="The id of a passage, or of a fact (f1).")
    ],
    yes: Yes = False,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Drops one passage, reruns the query from the call that found it, and says whether the answer changed."""
    # The model gave the recorded replies with the passage in view: it alone can answer again without it.
    change = service.Change(kind="drop", name=without)
    asked = Fork(query_id, None, [change], "remodel", None, yes=yes)
    found = asyncio.run(_fork(asked, data_dir, reasoner))
    if found is not None:
        out.print(moved(found), soft_wrap=True)


def fault(
    query_id: TraceId,
    at: Annotated[int, typer.Option("--at", help="The event to break.")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="The kind of fault (`antiphon faults list`)."),
    ] = None,
    point: Annotated[
        str | None,
        typer.Option("--point", help="The injection point, if the event has several."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Prints a fault plan that breaks a query at one of its events, for `antiphon traces fork --fault`."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir), query_id))
    found = faults.fault_at(events, at, kind, point)
    out.print(
        f"# antiphon traces fork {short_id(events[0].query_id)} --at {found.at} --fault THIS_FILE",
        soft_wrap=True,
    )
    out.print(faults.write_plan(found.plan), end="", soft_wrap=True)
    for at_point, kinds in found.kinds:
        err.print(f"{at_point}: {', '.join(kinds)}", style="dim", soft_wrap=True)


async def _fork(
    asked: Fork, data_dir: Path | None, reasoner: str | None
) -> service.Diff | None:
    """Runs a fork and shows the differences; returns None if the user declined its possible cost."""
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner)
    injector = None if asked.plan is None else faults.Injector(asked.plan.faults)
    query_id = await found_id(settings, asked.wanted)
    async with opened(settings) as antiphon:
        what = (query_id, asked.at, asked.changes, asked.mode, injector)
        planned = await antiphon.history.plan_fork(*what)
        err.print(planned.sentence, style="dim", soft_wrap=True)
        if not _may_begin(planned, yes=asked.yes):
            return None
        query = await antiphon.history.fork(*what)
        if injector is None:
            outcome = await query.outcome()
        else:
            outcome = await _outcome_under(injector, query)
        found = await antiphon.history.diff(query_id, query.query_id)
        stopped = service.recording_ended(await antiphon.store.read(query.query_id))
    names = f"{short_id(query.query_id)} of {short_id(query_id)}"
    err.print(f"fork {names}: {outcome.status}", style="dim", soft_wrap=True)
    if stopped:
        err.print(one_line(stopped, 500), style="red", soft_wrap=True)
    show_diff(found)
    # A failure, because the comparison shows a query that no fault broke, or only the part before the recording ended.
    if stopped or (injector is not None and not injector.injected.fired):
        raise typer.Exit(1)
    return found


def _may_begin(planned: service.ForkPlan, *, yes: bool) -> bool:
    """Asks for confirmation before spending money, if standard input is a terminal."""
    if yes or not planned.may_cost or not sys.stdin.isatty():
        return True
    return typer.confirm("Go on?", err=True)


async def _outcome_under(
    injector: faults.Injector, query: service.Query
) -> service.Outcome:
    """Waits for the outcome of a fork under a fault plan, and prints the faults that fired."""
    # A plan may have the caller go away or follow too slowly, so a task plays the caller.
    leaving = asyncio.create_task(
        faults.leave_as_planned(query, injector.injected, injector.injected.stored_seq)
    )
    outcome = await query.outcome()
    await leaving
    for fired in injector.injected.fired:
        err.print(
            f"fired: {fired.kind} at {one_line(fired.point, 100)} in {fired.when}",
            style="dim",
        )
    if not injector.injected.fired:
        err.print(
            "No fault fired: the query did not pass that point again. Fork at an earlier event.",
            style="red",
        )
    return outcome


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
