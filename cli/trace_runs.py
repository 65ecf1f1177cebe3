"""`antiphon traces replay|resume`: replays recorded queries, and resumes interrupted ones."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from antiphon import service
from antiphon.cli.rendering import describe, show_answer
from antiphon.cli.replaying import replay_all
from antiphon.cli.session import (
    DataDir,
    Json,
    Reasoner,
    TraceId,
    found_id,
    open_store,
    opened,
    settings_for_people,
)
from antiphon.cli.terminal import counted, err, one_line, out, print_json, short_id
from antiphon.vocabulary.errors import (
    BadInputError,
    ConfigurationError,
    ToolDefinitionError,
)
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.subscribers import Subscriber
from antiphon.vocabulary.values import StoredText

Subscribers = Sequence[Subscriber]


def replay(
    wanted: Annotated[
        str | None,
        typer.Argument(help="A trace's id, or an exported file.", show_default=False),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Replay every trace in the store.")
    ] = False,
    step: Annotated[
        bool,
        typer.Option("--step", help="Show how each component handles each event."),
    ] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Runs the rules over a trace again, without model or tools; exit code 1 if anything differs."""
    if (wanted is None) != every:
        raise BadInputError("Name one trace or file to replay, or say --all.")
    began = time.perf_counter()
    results = _replay_wanted(settings_for_people(data_dir=data_dir), wanted, step=step)
    different = [result for result in results if result.divergence is not None]
    if as_json:
        for result in results:
            print_json(msgspec.json.encode(result).decode())
    elif every:
        # There may be thousands of traces: only those that differ get a line.
        _show_results(different)
        took = time.perf_counter() - began
        out.print(
            f"{len(results) - len(different)} of {counted(len(results), 'trace')} replayed identically ({took:.1f} s)"
        )
    else:
        _show_results(results)
    if different:
        raise typer.Exit(1)


def _replay_wanted(
    settings: service.Settings, wanted: str | None, *, step: bool
) -> list[service.ReplayResult]:
    """Replays the trace of a file, one of the store, or all of the store if none is named."""
    subscribers = service.load_subscribers(settings.subscribers)
    tools = _present_tools(settings)
    if wanted is None:
        return replay_all(settings, tools)
    if not Path(wanted).is_file():
        return asyncio.run(
            _replay_stored(settings, subscribers, tools, wanted, step=step)
        )
    data = service.bytes_of_file(Path(wanted))
    if step:
        _step_through(
            service.read_trace_file(data, service.catalog_of(subscribers)), subscribers
        )
    # As lines in their written form, because the comparison covers how older versions wrote events.
    _, lines = service.trace_lines(data)
    return [service.replay_lines(lines, subscribers, tools)]


def _present_tools(settings: service.Settings) -> StoredText | None:
    """Returns the definitions of today's tools; None if they cannot be loaded, which a replay can do without."""
    try:
        return service.tool_definitions(settings.tools)
    except (ConfigurationError, ToolDefinitionError) as error:
        err.print(f"The tools are not compared: {error}", soft_wrap=True)
        return None


async def _replay_stored(
    settings: service.Settings,
    subscribers: Subscribers,
    tools: StoredText | None,
    wanted: str,
    *,
    step: bool,
) -> list[service.ReplayResult]:
    async with open_store(settings) as store:
        query_id = await service.whole_id(store, wanted)
        if step:
            _step_through(await store.read(query_id), subscribers)
        return [await service.replay_stored(store, query_id, subscribers, tools)]


def _step_through(events: Sequence[Recorded[Event]], subscribers: Subscribers) -> None:
    """Shows each event with the changes that it makes to the state of every part, and the events that parts emit."""
    run = service.ReplayRun(events, subscribers=subscribers)
    before = run.states()
    for recorded in events:
        kind = recorded.event.kind_name()
        out.print(
            f"{recorded.seq:>4} {kind}  {describe(recorded.event, 100)}  ← {recorded.cause}",
            soft_wrap=True,
        )
        # After the first difference the states mean nothing; the result shows the difference.
        if run.step(recorded) is not None:
            return
        after = run.states()
        for name, state in after.items():
            _show_changes(name, before[name], state)
        # A copy, because the next step empties the list.
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
        name = short_id(result.query_id)
        if result.divergence is not None:
            _show_divergence(name, result.divergence)
            continue
        end = "" if result.closed else " (the query is not over)"
        counts = f"{result.compared} of {counted(result.events, 'event')} said again, {result.verified} verified"
        out.print(f"{name}: identical, {counts}{end}", soft_wrap=True)
        for reason in result.skipped:
            out.print(f"  not compared: {reason}", soft_wrap=True)


def _show_divergence(name: str, found: service.Divergence) -> None:
    what = f"differs at event {found.seq} ({found.difference})"
    out.print(f"{name}: {what}: {one_line(found.detail, 300)}", soft_wrap=True)
    recorded, now = found.excerpts(300)
    if recorded:
        out.print(f"  recorded: {one_line(recorded, 300)}", soft_wrap=True)
    if now:
        out.print(f"  said now: {one_line(now, 300)}", soft_wrap=True)
    out.print(f"  because of: {' ← '.join(found.chain)}", soft_wrap=True)


def resume(
    query_id: TraceId,
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Resumes an interrupted query and repeats only the calls that were in flight."""
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner)

    async def work() -> None:
        interrupted = await found_id(settings, query_id)
        async with opened(settings) as antiphon:
            query = await antiphon.history.resume(interrupted)
            show_answer(await query.outcome())

    asyncio.run(work())
