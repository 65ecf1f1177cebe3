"""`antiphon traces memory|briefing|diff|lineage`: a query's memory and briefings, two traces side by side, and the
origins of an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from antiphon import service
from antiphon.cli.comparing import dollars
from antiphon.cli.session import (
    DataDir,
    Json,
    TraceId,
    open_store,
    read_trace,
    settings_for_people,
)
from antiphon.cli.terminal import clean, one_line, out, print_json
from antiphon.vocabulary.events import Event, Recorded

SHOWN = 20
Trace = Sequence[Recorded[Event]]


def memory(
    query_id: TraceId,
    at: Annotated[
        int | None,
        typer.Option(
            "--at", min=1, help="After this event (seq); else after the last."
        ),
    ] = None,
    part: Annotated[
        int | None,
        typer.Option("--part", min=1, help="Only facts that serve this part."),
    ] = None,
    tool: Annotated[
        str | None, typer.Option("--tool", help="Only attempts of this tool.")
    ] = None,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Shows what a query remembered after any of its events: parts, facts, attempts, coverage, what is open."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir), query_id))
    found = service.memory_at(events, at)
    if part is not None:
        found = msgspec.structs.replace(found, facts=found.facts_for_part(part))
    if tool is not None:
        found = msgspec.structs.replace(found, attempts=found.attempts_of(tool))
    if as_json:
        print_json(msgspec.json.encode(found).decode())
    else:
        _show_memory(found)


def briefing(
    query_id: TraceId, as_json: Json = False, data_dir: DataDir = None
) -> None:
    """Shows what each call of a query was shown, and what came, decayed, was merged or dropped since the one before."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir), query_id))
    found = service.briefings_of(events)
    if as_json:
        print_json(msgspec.json.encode(found).decode())
        return
    for each in found:
        _show_briefing(each)


def _show_memory(found: service.MemoryView) -> None:
    out.print(
        f"After event {found.at}: {one_line(found.question, 200)}", soft_wrap=True
    )
    for part in found.parts:
        state = f"served by {', '.join(part.facts)}"
        if part.open:
            state = "open"
        out.print(
            f"  part {part.number} ({part.kind}): {one_line(part.text, 100)}: {state}",
            soft_wrap=True,
        )
    if found.beyond:
        out.print(
            f"  looked for beside it: {one_line(', '.join(found.beyond), 200)}",
            soft_wrap=True,
        )
    _show_facts(found)
    _show_attempts(found)
    for place in found.coverage:
        lesson = f"lesson {place.lesson}"
        if place.lesson is None:
            lesson = "whole course"
        out.print(
            f"  reached: {one_line(place.course, 80)}, {lesson}: {', '.join(place.facts)}",
            soft_wrap=True,
        )
    if found.summary:
        out.print(
            f"  summed up by a model: {one_line(found.summary, 400)}", soft_wrap=True
        )


def _show_attempts(found: service.MemoryView) -> None:
    for attempt in found.attempts:
        outcome: str = attempt.outcome
        if attempt.new_facts:
            outcome += f", new {', '.join(attempt.new_facts)}"
        line = f"  round {attempt.round}: {attempt.tool} {attempt.arguments}: {outcome}, {attempt.duration_ms:.0f} ms"
        out.print(one_line(line, 250), soft_wrap=True)


def _show_facts(found: service.MemoryView) -> None:
    table = Table("Fact", "Round", "Source", "Serves", "Begins")
    for fact in found.facts:
        name = fact.id
        if fact.like:
            name += f" (like {fact.like})"
        elif fact.merged:
            name += f" (with {', '.join(fact.merged)})"
        serves = ", ".join(map(str, fact.serves))
        table.add_row(
            name,
            str(fact.round),
            one_line(fact.source, 60),
            serves,
            one_line(fact.sentences[0], 60),
        )
    out.print(table)


def _show_briefing(found: service.BriefingView) -> None:
    out.print(
        f"{found.call_id} (event {found.seq}): {found.tokens} tokens, +{found.came} -{found.went}"
    )
    if found.summary:
        out.print(f"  with the summary of {found.summary} among its notes")
    for change in found.changes:
        what = change.what
        if change.sentences:
            what += f" sentences {', '.join(map(str, change.sentences))}"
        line = f"  {change.change:9} {what}: {change.why} ({change.tokens} tokens)"
        out.print(one_line(line, 250), soft_wrap=True)


def differences(
    left: Annotated[
        str, typer.Argument(help="One trace's id, or enough of its beginning.")
    ],
    right: Annotated[str, typer.Argument(help="The other's.")],
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Compares two traces: where they first differ and why, and their answers sentence by sentence."""
    settings = settings_for_people(data_dir=data_dir)
    one, other = asyncio.run(_read_both(settings, left, right))
    found = service.diff(one, other, service.load_subscribers(settings.subscribers))
    if as_json:
        print_json(msgspec.json.encode(found).decode())
    else:
        show_diff(found)


def show_lineage(
    query_id: TraceId,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="What did each passage contribute?")
    ] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Leads every sentence of an answer back: citation, passage, tool call, reply, and the request's bytes."""
    events = asyncio.run(read_trace(settings_for_people(data_dir=data_dir), query_id))
    if reverse and as_json:
        print_json(msgspec.json.encode(service.contributions(events)).decode())
    elif reverse:
        _show_contributions(events)
    elif as_json:
        print_json(msgspec.json.encode(service.lineage(events)).decode())
    else:
        _show_sentences(events)


async def _read_both(
    settings: service.Settings, left: str, right: str
) -> tuple[Trace, Trace]:
    async with open_store(settings) as store:
        one = await store.read(await service.whole_id(store, left))
        other = await store.read(await service.whole_id(store, right))
        return one, other


def show_diff(found: service.Diff) -> None:
    """Prints a comparison."""
    table = Table("", "left", "right")
    left, right = _figures(found.left), _figures(found.right)
    for name in left:
        table.add_row(name, left[name], right[name])
    out.print(table)
    _show_differences(found)
    marks = {mark for mark, _ in found.sentences}
    # Two answers without a sentence are the same too.
    if marks <= {"="}:
        out.print("The answers are the same.")
        return
    out.print("The answers:")
    for mark, sentence in found.sentences:
        out.print(f"  {mark} {one_line(sentence, 200)}", soft_wrap=True)


def _show_differences(found: service.Diff) -> None:
    if not found.differences:
        out.print(f"The {found.same} events are the same.")
        return
    first = found.differences[0]
    out.print(
        f"{found.same} events are the same. The first difference ({first.because}):"
    )
    out.print(
        f"  {_place(first.left, first.right)}  {first.kind}  {one_line(first.detail, 160)}",
        soft_wrap=True,
    )
    for each in found.differences[1:SHOWN]:
        place = _place(each.left, each.right)
        out.print(
            f"  {place}  {each.kind} ({each.because})  {one_line(each.detail, 120)}",
            soft_wrap=True,
        )


def _place(left: int | None, right: int | None) -> str:
    """Writes an event's number on both sides; `-` where one side has none."""
    return f"{left or '-'} | {right or '-'}"


def _figures(side: service.Side) -> dict[str, str]:
    usage = side.usage
    return {
        "query": clean(side.query_id)[:12],
        "status": side.status,
        "confidence": side.confidence,
        "rounds, calls": f"{side.rounds}, {side.calls}",
        "tokens in, out": f"{usage.all_input_tokens:,}, {usage.output_tokens:,}",
        "cost": dollars(usage.cost_usd),
        "ms": f"{side.duration_ms:.0f}",
    }


def _show_sentences(events: Trace) -> None:
    for sentence in service.lineage(events):
        out.print(one_line(sentence.text, 200), soft_wrap=True)
        if not sentence.origins:
            out.print("  cites nothing", style="yellow")
        for origin in sentence.origins:
            _show_origin(origin)


def _show_origin(origin: service.Origin) -> None:
    out.print(f"  “{one_line(origin.cited_text, 100)}”", soft_wrap=True)
    out.print(
        f"  ← {one_line(origin.source, 80)} ({origin.fact}, passage {origin.passage_id})",
        soft_wrap=True,
    )
    out.print(
        f"  ← event {origin.found_seq}: {origin.tool} {one_line(origin.arguments, 100)} "
        f"(asked for at {origin.requested_seq})",
        soft_wrap=True,
    )
    out.print(
        f"  ← event {origin.reply_seq}: the reply of {origin.asked_by}, to the {origin.request_bytes} bytes "
        f"of event {origin.request_seq} (SHA-256 {origin.request_sha256[:16]}…)",
        soft_wrap=True,
    )


def _show_contributions(events: Trace) -> None:
    for each in service.contributions(events):
        out.print(
            f"{each.fact} {one_line(each.source, 80)} (passage {each.passage_id})",
            soft_wrap=True,
        )
        for sentence in each.sentences or ("contributed nothing to the answer",):
            out.print(f"  → {one_line(sentence, 160)}", soft_wrap=True)
