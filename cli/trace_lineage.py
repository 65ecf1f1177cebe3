"""`antiphon traces lineage`: traces sentences of an answer back to bytes, and passages forward to sentences."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import typer

from antiphon import service
from antiphon.cli.session import DataDir, Json, TraceId, read_trace, settings_for_people
from antiphon.cli.terminal import counted, one_line, out, print_json
from antiphon.vocabulary.events import Event, Recorded

Trace = Sequence[Recorded[Event]]


def show_lineage(
    query_id: TraceId,
    reverse: Annotated[
        bool, typer.Option("--reverse", help="Show what each passage contributed.")
    ] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Traces every sentence of an answer back to its call, citation, file, tool call and request bytes."""
    settings = settings_for_people(data_dir=data_dir)
    events = asyncio.run(read_trace(settings, query_id))
    if reverse and as_json:
        print_json(msgspec.json.encode(service.contributions(events)).decode())
    elif reverse:
        _show_contributions(events)
    elif as_json:
        print_json(msgspec.json.encode(service.lineage(events)).decode())
    else:
        _show_sentences(events, service.document_paths(settings.data_dir))


def _show_sentences(events: Trace, files: Mapping[str, str]) -> None:
    for sentence in service.lineage(events):
        out.print(one_line(sentence.text, 200), soft_wrap=True)
        if sentence.written_by is None:
            out.print("  put together without a model")
        else:
            out.print(f"  written by {_in_words(sentence.written_by)}", soft_wrap=True)
        if not sentence.origins:
            out.print("  cites nothing", style="yellow")
        for origin in sentence.origins:
            _show_origin(origin, files)


def _show_origin(origin: service.Origin, files: Mapping[str, str]) -> None:
    out.print(f"  “{one_line(origin.cited_text, 100)}”", soft_wrap=True)
    found = f"({one_line(origin.fact, 40)}, passage {one_line(origin.passage_id, 80)})"
    out.print(
        f"  ← {one_line(origin.source, 80)}{_place(origin, files)} {found}",
        soft_wrap=True,
    )
    out.print(
        f"  ← event {origin.found_seq}: {one_line(origin.tool, 80)} {one_line(origin.arguments, 100)} "
        f"(asked for at {origin.requested_seq})",
        soft_wrap=True,
    )
    out.print(
        f"  ← event {origin.reply_seq}: the reply of {origin.asked_by}, to the {counted(origin.request_bytes, 'byte')} "
        f"of event {origin.request_seq} (SHA-256 {origin.request_sha256[:16]}…)",
        soft_wrap=True,
    )
    for step in origin.earlier:
        out.print(f"    ← before it {_in_words(step)}", soft_wrap=True)


def _in_words(step: service.CallStep) -> str:
    shown = ", ".join(step.shown) or "nothing but the question"
    request = counted(step.request_bytes, "byte")
    return (
        f"{one_line(step.call_id, 40)} (event {step.reply_seq}), which was shown {one_line(shown, 200)} "
        f"in the {request} of event {step.request_seq} (SHA-256 {step.request_sha256[:16]}…)"
    )


def _place(origin: service.Origin, files: Mapping[str, str]) -> str:
    """Names the file that is indexed now, and the place in the lesson's text."""
    path, offset = files.get(origin.course or ""), origin.offset
    file = "" if path is None else f", {one_line(path, 200)}"
    return file if offset is None else f"{file}, character {offset} of the lesson"


def _show_contributions(events: Trace) -> None:
    for each in service.contributions(events):
        out.print(
            f"{one_line(each.fact, 40)} {one_line(each.source, 80)} (passage {one_line(each.passage_id, 80)})",
            soft_wrap=True,
        )
        for sentence in each.sentences or ("contributed nothing to the answer",):
            out.print(f"  → {one_line(sentence, 160)}", soft_wrap=True)
