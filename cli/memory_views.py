"""`antiphon traces memory` and `antiphon traces briefing`: what was remembered, and what each call was shown of it."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from antiphon.cli.options import DataDir, Json
from antiphon.cli.session import settings_for_people
from antiphon.cli.terminal import one_line, out, print_json
from antiphon.cli.trace_store import read_trace
from antiphon.synthesizer import BriefingView, MemoryView, briefings_of, memory_at

TraceId = Annotated[str, typer.Argument(help="The trace's id, or enough of its beginning.")]


def add_to(group: typer.Typer) -> None:
    """Makes the commands known."""
    group.command("memory")(memory)
    group.command("briefing")(briefing)


def memory(
    query_id: TraceId,
    at: Annotated[int | None, typer.Option("--at", min=1, help="After this event (seq); else after the last.")] = None,
    part: Annotated[int | None, typer.Option("--part", min=1, help="Only facts that serve this part.")] = None,
    tool: Annotated[str | None, typer.Option("--tool", help="Only attempts of this tool.")] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Shows what a query remembered after any of its events: parts, facts, attempts, coverage, what is open."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir).data_dir, query_id))
    found = memory_at(events, at)
    if part is not None:
        found = msgspec.structs.replace(found, facts=found.facts_for_part(part))
    if tool is not None:
        found = msgspec.structs.replace(found, attempts=found.attempts_of(tool))
    if as_json:
        print_json(msgspec.json.encode(found).decode())
    else:
        _show_memory(found)


def briefing(query_id: TraceId, as_json: Json = False, data_dir: DataDir = None) -> None:
    """Shows what each call of a query was shown, and what came, decayed, was merged or dropped since the one before."""
    found = briefings_of(asyncio.run(read_trace(settings_for_people(data_dir=data_dir).data_dir, query_id)))
    if as_json:
        print_json(msgspec.json.encode(found).decode())
        return
    for each in found:
        _show_briefing(each)


def _show_memory(found: MemoryView) -> None:
    out.print(f"After event {found.at}: {one_line(found.question, 200)}", soft_wrap=True)
    for part in found.parts:
        state = "open" if part.open else f"served by {', '.join(part.facts)}"
        out.print(f"  part {part.number} ({part.kind}): {one_line(part.text, 100)}: {state}", soft_wrap=True)
    if found.beyond:
        out.print(f"  looked for beside it: {one_line(', '.join(found.beyond), 200)}", soft_wrap=True)
    facts = Table("Fact", "Round", "Source", "Serves", "Begins")
    for fact in found.facts:
        note = f" (like {fact.like})" if fact.like else f" (with {', '.join(fact.merged)})" if fact.merged else ""
        serves = ", ".join(map(str, fact.serves))
        facts.add_row(
            fact.id + note, str(fact.round), one_line(fact.source, 60), serves, one_line(fact.sentences[0], 60)
        )
    out.print(facts)
    for tried in found.attempts:
        brought = f", new {', '.join(tried.new_facts)}" if tried.new_facts else ""
        came = f"{tried.outcome}{brought}, {tried.duration_ms:.0f} ms"
        line = f"  round {tried.round}: {tried.tool} {tried.arguments}: {came}"
        out.print(one_line(line, 250), soft_wrap=True)
    for place in found.coverage:
        lesson = "whole course" if place.lesson is None else f"lesson {place.lesson}"
        out.print(f"  reached: {one_line(place.course, 80)}, {lesson}: {', '.join(place.facts)}", soft_wrap=True)
    if found.summary:
        out.print(f"  summed up by a model: {one_line(found.summary, 400)}", soft_wrap=True)


def _show_briefing(found: BriefingView) -> None:
    out.print(f"{found.call_id} (event {found.seq}): {found.tokens} tokens, +{found.came} -{found.went}")
    if found.summary:
        out.print(f"  with the summary of {found.summary} among its notes")
    for change in found.changes:
        numbers = f" sentences {', '.join(map(str, change.sentences))}" if change.sentences else ""
        line = f"  {change.change:9} {change.what}{numbers}: {change.why} ({change.tokens} tokens)"
        out.print(one_line(line, 250), soft_wrap=True)
