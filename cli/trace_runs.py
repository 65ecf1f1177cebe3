"""`antiphon traces replay|resume`: a recorded query is a run to have again."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from antiphon.cli.answers import show_answer
from antiphon.cli.options import DataDir, Json, Reasoner
from antiphon.cli.session import opened, settings_for_people
from antiphon.cli.telling import tell
from antiphon.cli.terminal import clean, one_line, out, print_json
from antiphon.cli.trace_store import every_id, open_store, whole_id
from antiphon.service import Divergence, ReplayResult, ReplayRun, replay_lines, replay_stored
from antiphon.traces import read_trace_file, trace_lines
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.events import Event, Recorded


def replay(
    wanted: Annotated[str | None, typer.Argument(help="A trace's id, or a file of one.", show_default=False)] = None,
    every: Annotated[bool, typer.Option("--all", help="Replay every trace of the store.")] = False,
    step: Annotated[bool, typer.Option("--step", help="Show each event with what every part makes of it.")] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Runs the deciding parts over a trace again, without model and tools; exit code 1 where anything differs."""
    if (wanted is None) != every:
        raise BadInputError("Name one trace or file to replay, or say --all.")
    began = time.perf_counter()
    if wanted is not None and Path(wanted).is_file():
        results = [_replay_file(Path(wanted), step=step)]
    else:
        results = asyncio.run(_replay(settings_for_people(data_dir=data_dir).data_dir, wanted, step=step))
    for result in results:
        if as_json:
            print_json(msgspec.json.encode(result).decode())
        elif result.divergence is not None or not every:
            _show(result)
    different = sum(result.divergence is not None for result in results)
    if every and not as_json:
        took = time.perf_counter() - began
        out.print(f"{len(results) - different} of {len(results)} traces replay identically ({took:.1f} s)")
    if different:
        raise typer.Exit(1)


def _replay_file(path: Path, *, step: bool) -> ReplayResult:
    data = path.read_bytes()
    if step:
        _step_through(read_trace_file(data))
    return replay_lines(trace_lines(data)[1])


async def _replay(data_dir: Path, wanted: str | None, *, step: bool) -> list[ReplayResult]:
    async with open_store(data_dir) as store:
        if wanted is None:
            return [await replay_stored(store, query_id) async for query_id in every_id(store)]
        query_id = await whole_id(store, wanted)
        if step:
            _step_through(await store.read(query_id))
        return [await replay_stored(store, query_id)]


def _step_through(events: Sequence[Recorded[Event]]) -> None:
    run = ReplayRun(events)
    before = run.states()
    for recorded in events:
        kind = str(recorded.event.__struct_config__.tag)
        out.print(f"{recorded.seq:>4} {kind}  {tell(recorded.event, 100)}  ← {recorded.cause}", soft_wrap=True)
        if run.step(recorded) is not None:
            return
        after = run.states()
        for name, state in after.items():
            for field, value in state.items():
                if before[name].get(field) != value:
                    told = f"{one_line(str(before[name].get(field)), 60)} → {one_line(str(value), 60)}"
                    out.print(f"       {name}.{field}: {told}", soft_wrap=True, style="dim")
        for said in list(run.fold.emitted):
            out.print(f"       says {type(said.event).__name__}", style="cyan")
        before = after
        if sys.stdin.isatty():
            input()


def _show(result: ReplayResult) -> None:
    name = clean(result.query_id)
    if result.divergence is None:
        end = "" if result.closed else " (the query is not over)"
        out.print(f"{name}: identical, {result.compared} of {result.events} events said again{end}", soft_wrap=True)
        return
    _show_divergence(name, result.divergence)


def _show_divergence(name: str, found: Divergence) -> None:
    out.print(
        f"{name}: differs at event {found.seq} ({found.difference}): {one_line(found.detail, 300)}", soft_wrap=True
    )
    if found.recorded:
        out.print(f"  recorded: {one_line(found.recorded, 300)}", soft_wrap=True)
    if found.now:
        out.print(f"  said now: {one_line(found.now, 300)}", soft_wrap=True)
    out.print(f"  because of: {' ← '.join(found.chain)}", soft_wrap=True)


def resume(
    query_id: Annotated[str, typer.Argument(help="The trace's id, or enough of its beginning.")],
    data_dir: DataDir = None,
    reasoner: Reasoner = None,
) -> None:
    """Goes on with a query that was interrupted: only what was under way is asked again."""
    settings = settings_for_people(data_dir=data_dir, reasoner=reasoner)

    async def work() -> None:
        async with opened(settings) as service:
            running = await service.history.resume(await whole_id(service.store, query_id))
            show_answer(await running.outcome())

    asyncio.run(work())
