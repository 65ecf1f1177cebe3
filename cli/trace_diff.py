"""`antiphon traces diff|lineage`: two traces side by side, and where an answer comes from."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer
from rich.table import Table

from antiphon.cli.comparing import dollars
from antiphon.cli.options import DataDir, Json
from antiphon.cli.session import settings_for_people
from antiphon.cli.terminal import clean, one_line, out, print_json
from antiphon.cli.trace_store import open_store, whole_id
from antiphon.service import Diff, Side, contributions, diff, lineage
from antiphon.vocabulary.events import Event, Recorded

SHOWN = 20
Trace = Sequence[Recorded[Event]]


def differences(
    left: Annotated[str, typer.Argument(help="One trace's id, or enough of its beginning.")],
    right: Annotated[str, typer.Argument(help="The other's.")],
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Compares two traces: where they first differ and why, and their answers sentence by sentence."""
    one, other = asyncio.run(_read(settings_for_people(data_dir=data_dir).data_dir, left, right))
    found = diff(one, other)
    if as_json:
        print_json(msgspec.json.encode(found).decode())
    else:
        show_diff(found)


def show_lineage(
    query_id: Annotated[str, typer.Argument(help="The trace's id, or enough of its beginning.")],
    reverse: Annotated[bool, typer.Option("--reverse", help="What did each passage contribute?")] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Leads every sentence of an answer back: citation, passage, tool call, reply, and the request's bytes."""
    [events] = asyncio.run(_read(settings_for_people(data_dir=data_dir).data_dir, query_id))
    if as_json:
        told = msgspec.json.encode(contributions(events) if reverse else lineage(events))
        print_json(told.decode())
    elif reverse:
        _show_contributions(events)
    else:
        _show_sentences(events)


def show_diff(found: Diff) -> None:
    """Prints a comparison."""
    table = Table("", "left", "right")
    for name, left, right in zip(("", *_ROWS), ("", *_cells(found.left)), ("", *_cells(found.right)), strict=True):
        if name:
            table.add_row(name, left, right)
    out.print(table)
    if not found.differences:
        out.print(f"The {found.same} events are the same.")
    else:
        first = found.differences[0]
        place = f"{first.left or '-'} | {first.right or '-'}"
        out.print(f"{found.same} events are the same. The first difference ({first.because}):")
        out.print(f"  {place}  {first.kind}  {one_line(first.detail, 160)}", soft_wrap=True)
        for each in found.differences[1:SHOWN]:
            place = f"{each.left or '-'} | {each.right or '-'}"
            out.print(f"  {place}  {each.kind} ({each.because})  {one_line(each.detail, 120)}", soft_wrap=True)
    if all(mark == "=" for mark, _ in found.sentences):
        out.print("The answers are the same.")
        return
    out.print("The answers:")
    for mark, sentence in found.sentences:
        out.print(f"  {mark} {one_line(sentence, 200)}", soft_wrap=True)


_ROWS = ("query", "status", "confidence", "rounds, calls", "tokens in, out", "cost", "ms")


def _cells(side: Side) -> tuple[str, ...]:
    usage = side.usage
    return (
        clean(side.query_id)[:12],
        side.status,
        side.confidence,
        f"{side.rounds}, {side.calls}",
        f"{usage.all_input_tokens:,}, {usage.output_tokens:,}",
        dollars(usage.cost_usd),
        f"{side.duration_ms:.0f}",
    )


def _show_sentences(events: Trace) -> None:
    for sentence in lineage(events):
        out.print(one_line(sentence.text, 200), soft_wrap=True)
        if not sentence.origins:
            out.print("  cites nothing", style="yellow")
        for origin in sentence.origins:
            out.print(f"  “{one_line(origin.cited_text, 100)}”", soft_wrap=True)
            out.print(f"  ← {one_line(origin.source, 80)} ({origin.fact}, passage {origin.passage_id})", soft_wrap=True)
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
    for each in contributions(events):
        out.print(f"{each.fact} {one_line(each.source, 80)} (passage {each.passage_id})", soft_wrap=True)
        for sentence in each.sentences or ("contributed nothing to the answer",):
            out.print(f"  → {one_line(sentence, 160)}", soft_wrap=True)


async def _read(data_dir: Path, *wanted: str) -> list[Trace]:
    async with open_store(data_dir) as store:
        return [await store.read(await whole_id(store, each)) for each in wanted]
