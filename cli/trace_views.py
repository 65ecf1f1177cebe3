"""`antiphon traces memory|briefing|diff`: show a query's memory and briefings, and compare two traces."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import typer

from antiphon import service
from antiphon.cli.comparing import dollars
from antiphon.cli.rendering import conversation_lines
from antiphon.cli.session import (
    DataDir,
    Json,
    TraceId,
    open_store,
    read_trace,
    settings_for_people,
)
from antiphon.cli.terminal import (
    counted,
    filling,
    new_table,
    one_line,
    out,
    print_json,
    short_id,
)
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Dropped

SHOWN_OF_A_CAUSE = 5
MOST_FIELDS = 4
"""Fields of one event that are shown: `--json` has all."""

CAUSES: Mapping[str, str] = {
    "question": "another question or conversation",
    "change": "what was changed by hand",
    "model": "another reply of the model",
    "tool": "another result of a tool",
    "code": "the rules",
    "order": "another order of the same events",
    "settings": "other settings or versions",
    "time": "the time",
    "subscriber": "a component from outside",
}
Trace = Sequence[Recorded[Event]]


def memory(
    query_id: TraceId,
    at: Annotated[
        int | None,
        typer.Option(
            "--at", min=1, help="After this event (seq); by default after the last one."
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
    """Shows what a query remembered after any of its events: parts, facts, attempts, coverage, open points."""
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
    """Shows the briefing of each call, and what was added, decayed, merged or dropped since the previous one."""
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
        state = "open" if part.open else f"served by {', '.join(part.facts)}"
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
        lesson = "whole course" if place.lesson is None else f"lesson {place.lesson}"
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
    table = new_table("Fact", "Round", "Source", "Serves", "Begins")
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
            filling(fact.sentences[0]),
        )
    out.table(table)


def _show_briefing(found: service.BriefingView) -> None:
    tokens = counted(found.tokens, "token")
    out.print(
        f"{one_line(found.call_id, 40)} (event {found.seq}): {tokens}, +{found.came} -{found.went}"
    )
    for line in conversation_lines(found.conversation):
        out.print(f"  {line}", soft_wrap=True)
    if found.summary:
        out.print(
            f"  with the summary of {one_line(found.summary, 40)} among its notes"
        )
    for shown in found.shown:
        out.print(
            f"  {one_line(shown.fact, 40)} {one_line(shown.source, 80)}", soft_wrap=True
        )
        for number, sentence in shown.sentences:
            out.print(f"    {number:>3} {one_line(sentence, 400)}", soft_wrap=True)
    for change in found.changes:
        what = change.what
        if change.sentences:
            what += f" sentences {', '.join(map(str, change.sentences))}"
        line = f"  {change.change:9} {what}: {change.why} ({counted(change.tokens, 'token')})"
        out.print(one_line(line, 250), soft_wrap=True)
    for dropped in found.dropped:
        out.print(one_line(f"  without   {_dropped(dropped)}", 250), soft_wrap=True)


def _dropped(dropped: Dropped) -> str:
    """Describes an item that a briefing leaves out, with its score and the score that it would have needed."""
    words = dropped.what
    if dropped.sentences:
        words += f" sentences {', '.join(map(str, dropped.sentences))}"
    words += f": {dropped.why} ({counted(dropped.tokens, 'token')})"
    if dropped.scores:
        words += f", worth {', '.join(map(str, dropped.scores))}"
    if dropped.bar is not None:
        words += f" where {dropped.bar} was needed"
    return words


def differences(
    left: Annotated[
        str, typer.Argument(help="One trace's id, or enough of its beginning.")
    ],
    right: Annotated[str, typer.Argument(help="The other trace's id.")],
    every: Annotated[
        bool,
        typer.Option("--all", help="Show all differences, not only five per cause."),
    ] = False,
    as_json: Json = False,
    data_dir: DataDir = None,
) -> None:
    """Compares two traces: their differences by cause, and their answers sentence by sentence."""
    settings = settings_for_people(data_dir=data_dir)
    one, other = asyncio.run(_read_both(settings, left, right))
    found = service.diff(one, other, service.load_subscribers(settings.subscribers))
    if as_json:
        print_json(msgspec.json.encode(found).decode())
    else:
        show_diff(found, every=every)


async def _read_both(
    settings: service.Settings, left: str, right: str
) -> tuple[Trace, Trace]:
    async with open_store(settings) as store:
        one = await store.read(await service.whole_id(store, left))
        other = await store.read(await service.whole_id(store, right))
        return one, other


def show_diff(found: service.Diff, *, every: bool = False) -> None:
    """Prints a comparison, with the first few differences of each cause, or all of them."""
    table = new_table("", "left", "right")
    left, right = _figures(found.left), _figures(found.right)
    for name in left:
        table.add_row(name, left[name], right[name])
    out.table(table)
    _show_differences(found, every=every)
    marks = {mark for mark, _ in found.sentences}
    # `<=` and not `==`, because two answers without any sentence are the same too.
    if marks <= {"="}:
        out.print("The answers are the same.")
        return
    out.print("The answers:")
    for mark, sentence in found.sentences:
        out.print(f"  {mark} {one_line(sentence, 200)}", soft_wrap=True)


def moved(found: service.Diff) -> str:
    """Returns a sentence that tells if the answer changed, and how much."""
    counts = Counter(mark for mark, _ in found.sentences)
    if counts["-"] + counts["+"] == 0:
        return "The answer did not move."
    all_left = counts["="] + counts["-"]
    words = (
        f"The answer moved: {counts['-']} of {counted(all_left, 'sentence')} went, "
        f"{counts['+']} came."
    )
    if found.left.confidence != found.right.confidence:
        words += f" Confidence: {found.left.confidence}, then {found.right.confidence}."
    return words


def _show_differences(found: service.Diff, *, every: bool) -> None:
    if found.change:
        out.print(f"Changed: {one_line(found.change, 200)}", soft_wrap=True)
    if not found.differences:
        out.print(f"Nothing differs: {counted(found.same, 'event')} the same.")
        return
    out.print(
        f"{counted(found.same, 'event')} the same, {len(found.differences)} different."
    )
    for group in found.groups:
        kinds = ", ".join(f"{count} {kind}" for kind, count in group.kinds)
        out.print(f"Because of {CAUSES[group.because]}: {kinds}", soft_wrap=True)
        # A single cause may have hundreds of differences.
        shown = [each for each in found.differences if each.because == group.because]
        most = len(shown) if every else SHOWN_OF_A_CAUSE
        for each in shown[:most]:
            _show_difference(each)
        if len(shown) > most:
            out.print(f"  … and {len(shown) - most} more: --all shows them")


def _show_difference(found: service.Difference) -> None:
    place = _place(found.left, found.right)
    lines = [str(field) for field in found.fields] or [found.detail]
    for line in lines[:MOST_FIELDS]:
        out.print(f"  {place}  {found.kind}  {one_line(line, 300)}", soft_wrap=True)
    if len(lines) > MOST_FIELDS:
        more = counted(len(lines) - MOST_FIELDS, "more field")
        out.print(f"  {place}  … and {more}")


def _place(left: int | None, right: int | None) -> str:
    """Writes an event's number on both sides; `-` if one side has none."""
    return f"{left or '-'} | {right or '-'}"


def _figures(side: service.Side) -> dict[str, str]:
    usage = side.usage
    return {
        "query": short_id(side.query_id),
        "status": side.status,
        "confidence": side.confidence,
        "rounds, calls": f"{side.rounds}, {side.calls}",
        "tokens in, out": f"{usage.all_input_tokens:,}, {usage.output_tokens:,}",
        "cost": dollars(usage.cost_usd),
        "ms": f"{side.duration_ms:.0f}",
    }
