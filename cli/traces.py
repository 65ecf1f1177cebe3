"""`antiphon traces list|show`: the questions asked, and the events behind each answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

import msgspec
import typer
from rich.table import Column
from rich.text import Text

from antiphon import service
from antiphon.cli.conversations import whole_conversation
from antiphon.cli.rendering import (
    conversation_lines,
    describe_recorded,
    shown_lines,
    source_lines,
)
from antiphon.cli.session import (
    DataDir,
    Json,
    TraceId,
    may_hold_traces,
    no_data_folder,
    open_store,
    read_trace,
    settings_for_people,
)
from antiphon.cli.terminal import (
    clean,
    filling,
    new_table,
    one_line,
    out,
    print_json,
    short_id,
)
from antiphon.vocabulary.events import (
    Confidence,
    Event,
    QueryReceived,
    Recorded,
    ResponseAssembled,
    Status,
)
from antiphon.vocabulary.feedback import Rating
from antiphon.vocabulary.ports import TraceFilter, TraceSummary


def listed(
    limit: Annotated[
        int,
        typer.Option("--limit", min=1, help="Maximum number of traces, newest first."),
    ] = 20,
    status: Annotated[
        Literal["open", Status] | None,
        typer.Option("--status", help="How the query ended; open means it has not."),
    ] = None,
    confidence: Annotated[
        Confidence | None,
        typer.Option("--confidence", help="Confidence of the answer."),
    ] = None,
    indicator: Annotated[
        str | None,
        typer.Option(
            "--indicator", help="An uncertainty indicator, such as tool_failed."
        ),
    ] = None,
    course: Annotated[
        str | None, typer.Option("--course", help="A course whose passages were found.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", help="A tool that was called.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--text", help="Words in the question or the answer.")
    ] = None,
    since_h: Annotated[
        float | None,
        typer.Option("--since-h", min=0.0, help="Asked within the last N hours."),
    ] = None,
    until_h: Annotated[
        float | None,
        typer.Option("--until-h", min=0.0, help="Asked more than N hours ago."),
    ] = None,
    session_id: Annotated[
        str | None, typer.Option("--conversation", help="A conversation's id.")
    ] = None,
    parent: Annotated[
        str | None, typer.Option("--parent", help="Only forks of this trace.")
    ] = None,
    feedback: Annotated[
        Literal[Rating, "any", "none"] | None,
        typer.Option("--feedback", help="Rating of the answer."),
    ] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Lists the traces, newest first."""
    where = TraceFilter(
        status=status,
        confidence=confidence,
        indicator=indicator,
        course=course,
        tool=tool,
        text=text,
        session_id=session_id,
        parent=parent,
        feedback=feedback,
        since=_hours_ago(since_h),
        until=_hours_ago(until_h),
    )
    # Refuses an unknown kind of doubt, which would find nothing and so look like a good sign.
    if indicator is not None:
        service.check_filter(where)
    settings = settings_for_people(data_dir=data_dir)
    # For this command alone, no traces at all is an answer rather than an error.
    if not may_hold_traces(settings):
        out.print(no_data_folder(settings), soft_wrap=True)
        return
    found = asyncio.run(_rows(settings, limit, where))
    if as_json:
        for row in found:
            print_json(msgspec.json.encode(row).decode())
    elif found:
        _show_rows(found)
    else:
        out.print("There are no such traces: ask something with `antiphon ask`.")


async def _rows(
    settings: service.Settings, limit: int, where: TraceFilter
) -> Sequence[TraceSummary]:
    if where.session_id is not None:
        whole = await whole_conversation(settings, where.session_id)
        where = msgspec.structs.replace(where, session_id=whole)
    async with open_store(settings) as store:
        return await store.list(limit, where=where)


def _show_rows(found: Sequence[TraceSummary]) -> None:
    # Ids and times are never cut, because half an id helps nobody; the question gets the rest of the line.
    table = new_table(
        Column("Query", no_wrap=True),
        Column("Asked", no_wrap=True),
        "Question",
        Column("Status", no_wrap=True),
        Column("Confidence", no_wrap=True),
        Column("ms", no_wrap=True, justify="right"),
    )
    for row, depth in in_families(found):
        table.add_row(*_cells(row, depth))
    out.table(table)


def in_families(rows: Sequence[TraceSummary]) -> list[tuple[TraceSummary, int]]:
    """Returns the rows with each fork under its parent, and its depth.

    A fork whose parent is not among the rows keeps its own place, like any other trace.
    """
    first, forks = _by_parent(rows)
    found: list[tuple[TraceSummary, int]] = []
    waiting = [(row, 0) for row in reversed(first)]
    while waiting:
        row, depth = waiting.pop()
        found.append((row, depth))
        # The stack is popped from its end: a row's forks come right after it, the newest first.
        for fork in reversed(forks.pop(row.query_id, [])):
            waiting.append((fork, depth + 1))
    # Imported traces may claim to be forks of each other: such a circle hangs on no row, but must appear too.
    for circle in forks.values():
        found += [(row, 0) for row in circle]
    return found


def _by_parent(
    rows: Sequence[TraceSummary],
) -> tuple[list[TraceSummary], dict[str, list[TraceSummary]]]:
    """Returns the rows that come at the top level, and the forks of each parent."""
    listed_ids = {row.query_id for row in rows}
    first: list[TraceSummary] = []
    forks: dict[str, list[TraceSummary]] = {}
    for row in rows:
        # An imported trace may claim to be a fork of itself.
        if row.parent not in listed_ids or row.parent == row.query_id:
            first.append(row)
        else:
            forks.setdefault(str(row.parent), []).append(row)
    return first, forks


def _hours_ago(hours: float | None) -> float | None:
    return None if hours is None else time.time() - hours * 3600


def show(
    query_id: TraceId,
    as_json: Json = False,
    full: Annotated[
        bool, typer.Option("--full", help="Show every field of each event.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """Shows a trace, one event per line (seq, time, kind, summary, cause), and the answer at the end."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir), query_id))
    if as_json:
        for recorded in events:
            print_json(service.to_json(recorded).decode())
        return
    _show_events(events, full=full)
    # The answer is printed below all events, even if others came after it.
    for recorded in events:
        if isinstance(recorded.event, ResponseAssembled):
            _show_response(recorded.event)


def _show_events(events: Sequence[Recorded[Event]], *, full: bool) -> None:
    width = 500 if full else 120
    briefings = {briefing.seq: briefing for briefing in service.briefings_of(events)}
    for recorded in events:
        out.print(describe_recorded(recorded, events[0].at, width), soft_wrap=True)
        if isinstance(recorded.event, QueryReceived):
            _show_indented(conversation_lines(recorded.event.history))
        if recorded.seq in briefings:
            _show_indented(shown_lines(briefings[recorded.seq], width))
        if full:
            print_json(service.to_json(recorded).decode())


def _show_indented(lines: Sequence[str]) -> None:
    for line in lines:
        out.print(f"{'':>18}{line}", style="dim", soft_wrap=True)


def _show_response(response: ResponseAssembled) -> None:
    out.print(f"\n{clean(response.answer)}", soft_wrap=True)
    for line in source_lines(response):
        out.print(line, soft_wrap=True)
    for indicator in response.indicators:
        out.print(
            f"! {one_line(indicator.detail, 200)} (event {indicator.event_seq})",
            soft_wrap=True,
        )


def _in_words(at: float) -> str:
    """Writes a time for people; the store of an earlier version may hold one that is outside the calendar."""
    try:
        return datetime.fromtimestamp(at).astimezone().strftime("%d %b %H:%M")
    except (OverflowError, ValueError, OSError):
        return "no time"


def _cells(row: TraceSummary, depth: int) -> tuple[str | Text, ...]:
    return (
        short_id(row.query_id),
        _in_words(row.started_at),
        filling(_question(row, depth)),
        row.status,
        row.confidence or "",
        "" if row.duration_ms is None else f"{row.duration_ms:.0f}",
    )


def _question(row: TraceSummary, depth: int) -> str:
    if row.parent is None:
        return row.query
    # Under its parent an arrow is enough to show whose fork it is; elsewhere the parent's id is needed.
    if depth:
        return f"{'  ' * (depth - 1)}↳ fork: {row.query}"
    return f"↳ fork of {short_id(row.parent)}: {row.query}"
