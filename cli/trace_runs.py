"""`antiphon traces replay|resume|fork|whatif|fault`: a recorded query replayed, continued or changed."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
import typer

from antiphon import faults, service
from antiphon.cli.rendering import describe, show_answer
from antiphon.cli.session import (
    DataDir,
    Json,
    Reasoner,
    TraceId,
    every_id,
    found_id,
    open_store,
    opened,
    read_trace,
    settings_for_people,
)
from antiphon.cli.terminal import clean, err, one_line, out, print_json
from antiphon.cli.trace_views import show_diff
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.subscribers import Subscriber

Subscribers = Sequence[Subscriber]


def replay(
    wanted: Annotated[
        str | None,
        typer.Argument(help="A trace's id, or a file of one.", show_default=False),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Replay every trace of the store.")
    ] = False,
    step: Annotated[
        bool,
        typer.Option(
            "--step", help="Show each event with what every part makes of it."
        ),
    ] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Runs the deciding parts over a trace again, without model and tools; exit code 1 where anything differs."""
    if (wanted is None) != every:
        raise BadInputError("Name one trace or file to replay, or say --all.")
    began = time.perf_counter()
    results = _replay_wanted(settings_for_people(data_dir=data_dir), wanted, step=step)
    different = [result for result in results if result.divergence is not None]
    if as_json:
        for result in results:
            print_json(msgspec.json.encode(result).decode())
    elif every:
        # Of thousands of traces only those that differ are worth a line.
        _show_results(different)
        took = time.perf_counter() - began
        out.print(
            f"{len(results) - len(different)} of {len(results)} traces replay identically ({took:.1f} s)"
        )
    else:
        _show_results(results)
    if different:
        raise typer.Exit(1)


def _replay_wanted(
    settings: service.Settings, wanted: str | None, *, step: bool
) -> list[service.ReplayResult]:
    """Replays the trace of a file, or one of the store, or all of the store where none is wanted."""
    subscribers = service.load_subscribers(settings.subscribers)
    if wanted is None or not Path(wanted).is_file():
        return asyncio.run(_replay_stored(settings, subscribers, wanted, step=step))
    data = service.bytes_of_file(Path(wanted))
    if step:
        _step_through(
            service.read_trace_file(data, service.catalog_of(subscribers)), subscribers
        )
    # The lines as they were written: an event of an older version is part of what is compared.
    _, lines = service.trace_lines(data)
    return [service.replay_lines(lines, subscribers)]


async def _replay_stored(
    settings: service.Settings,
    subscribers: Subscribers,
    wanted: str | None,
    *,
    step: bool,
) -> list[service.ReplayResult]:
    async with open_store(settings) as store:
        if wanted is None:
            results: list[service.ReplayResult] = []
            async for each_id in every_id(store):
                results.append(await service.replay_stored(store, each_id, subscribers))
            return results
        query_id = await service.whole_id(store, wanted)
        if step:
            _step_through(await store.read(query_id), subscribers)
        return [await service.replay_stored(store, query_id, subscribers)]


def _step_through(events: Sequence[Recorded[Event]], subscribers: Subscribers) -> None:
    """Shows each event with what it changes in the state of every part, and what the parts emit upon it."""
    run = service.ReplayRun(events, subscribers=subscribers)
    before = run.states()
    for recorded in events:
        kind = recorded.event.kind_name()
        out.print(
            f"{recorded.seq:>4} {kind}  {describe(recorded.event, 100)}  ← {recorded.cause}",
            soft_wrap=True,
        )
        # From the first difference on the states mean nothing; the result shows it.
        if run.step(recorded) is not None:
            return
        after = run.states()
        for name, state in after.items():
            _show_changes(name, before[name], state)
        # A copy: the next step empties the list.
        for emitted in list(run.fold.emitted):
            out.print(f"       says {type(emitted.event).__name__}", style="cyan")
        before = after
        # Enter goes on to the next event; a pipe gets all of them at once.
        if sys.stdin.isatty():
            input()


def _show_changes(
    name: str, before: Mapping[str, object], after: Mapping[str, object]
) -> None:
    for field, value in after.items():
        old = before.get(field)
        if old != value:
            change = f"{one_line(str(old), 60)} → {one_line(str(value), 60)}"
            out.print(f"       {name}.{field}: {change}", soft_wrap=True, style="dim")


def _show_results(results: Sequence[service.ReplayResult]) -> None:
    for result in results:
        name = clean(result.query_id)
        if result.divergence is not None:
            _show_divergence(name, result.divergence)
            continue
        end = ""
        if not result.closed:
            end = " (the query is not over)"
        same = f"identical, {result.compared} of {result.events} events said again{end}"
        out.print(f"{name}: {same}", soft_wrap=True)


def _show_divergence(name: str, found: service.Divergence) -> None:
    what = f"differs at event {found.seq} ({found.difference})"
    out.print(f"{name}: {what}: {one_line(found.detail, 300)}", soft_wrap=True)
    if found.recorded:
        out.print(f"  recorded: {one_line(found.recorded, 300)}", soft_wrap=True)
    if found.now:
        out.print(f"  said now: {one_line(found.now, 300)}", soft_wrap=True)
    out.print(f"  because of: {' ← '.join(found.chain)}", soft_wrap=True)


def resume(
    query_id: TraceId,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Goes on with a query that was interrupted: only what was under way is asked again."""
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner)

    async def work() -> None:
        interrupted = await found_id(settings, query_id)
        async with opened(settings) as antiphon:
            query = await antiphon.history.resume(interrupted)
            show_answer(await query.outcome())

    asyncio.run(work())


def fork(
    query_id: TraceId,
    at: Annotated[
        int | None,
        typer.Option(
            "--at",
            help="The event to change, or with --fault alone the first that may break.",
        ),
    ] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="field=value of the event.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--setting", help="name=value of the query.")
    ] = None,
    reply: Annotated[
        Path | None, typer.Option("--reply", help="A file: the reply of the call.")
    ] = None,
    tool_results: Annotated[
        list[str] | None, typer.Option("--tool-result", help="CALL=FILE.")
    ] = None,
    fault: Annotated[
        Path | None,
        typer.Option(
            "--fault",
            help="A fault plan (YAML or JSON) for all that happens from there on.",
        ),
    ] = None,
    mode: Annotated[
        Literal["recorded", "remodel", "live"],
        typer.Option(
            "--mode",
            help="recorded: as recorded where unchanged; remodel: so, but the model live; live.",
        ),
    ] = "recorded",
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Runs a query again from one event on, with something changed there, as a trace of its own; then compares."""
    changes = [*_changes("setting", settings), *_changes("set", sets)]
    for given in tool_results or ():
        name, file = _pair(given)
        changes.append(service.Change(kind="tool", name=name, value=_text(Path(file))))
    if reply:
        changes.append(service.Change(kind="reply", value=_text(reply)))
    plan: faults.Plan | None = None
    if fault:
        plan = faults.read_plan(fault)
        # A fork with nothing changed would look like a fault that did no harm.
        if not plan.faults:
            path = clean(str(fault))
            raise BadInputError(
                f"{path} names no faults: see docs/faults.md, or `antiphon traces fault`."
            )
    asyncio.run(_fork(query_id, at, changes, mode, plan, data_dir, reasoner))


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
        str, typer.Option("--without", help="A passage's id, or a fact's (f1).")
    ],
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Drops one passage, runs the query again from where it was found, and shows whether the answer moved."""
    asyncio.run(
        _fork(
            query_id,
            None,
            [service.Change(kind="drop", name=without)],
            "recorded",
            None,
            data_dir,
            reasoner,
        )
    )


def fault(
    query_id: TraceId,
    at: Annotated[int, typer.Option("--at", help="The event to break.")],
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="What is to happen (`antiphon faults list`)."),
    ] = None,
    point: Annotated[
        str | None, typer.Option("--point", help="At which of the event's points.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Prints the fault plan that breaks a query at one of its events: `antiphon traces fork --fault` takes it."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir), query_id))
    found = faults.fault_at(events, at, kind, point)
    out.print(
        f"# antiphon traces fork {clean(events[0].query_id)} --at {found.at} --fault THIS_FILE",
        soft_wrap=True,
    )
    out.print(faults.write_plan(found.plan), end="", soft_wrap=True)
    for at_point, kinds in found.kinds:
        err.print(f"{at_point}: {', '.join(kinds)}", style="dim", soft_wrap=True)


async def _fork(
    wanted: str,
    at: int | None,
    changes: Sequence[service.Change],
    mode: service.Mode,
    plan: faults.Plan | None,
    data_dir: Path | None,
    reasoner: str | None,
) -> None:
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner)
    injector: faults.Injector | None = None
    if plan is not None:
        injector = faults.Injector(plan.faults)
    query_id = await found_id(settings, wanted)
    async with opened(settings) as antiphon:
        query = await antiphon.history.fork(query_id, at, changes, mode, injector)
        if injector is None:
            outcome = await query.outcome()
        else:
            outcome = await _outcome_under(injector, query)
        found = await antiphon.history.diff(query_id, query.query_id)
    err.print(f"fork {query.query_id} of {query_id}: {outcome.status}", style="dim")
    show_diff(found)
    # The comparison would show a query that nothing had broken.
    if injector is not None and not injector.injected.fired:
        raise typer.Exit(1)


async def _outcome_under(
    injector: faults.Injector, query: service.QueryHandle
) -> service.Outcome:
    """Waits for the outcome of a fork under a fault plan, and prints the faults that fired."""
    # A plan may have the caller go away, or follow too slowly: somebody must play the caller.
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
            "No fault fired: the query did not come by there again. Fork at an earlier event.",
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
