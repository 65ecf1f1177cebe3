"""The layer of tool usage: what was tried, why, what came of it, and which lessons the search has reached."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from antiphon.synthesizer.facts import Discovery
from antiphon.vocabulary.events import (
    BreakerTripped,
    Event,
    ReasoningCompleted,
    ToolFailed,
    ToolRequested,
    ToolsSettled,
    ToolStarted,
    ToolSubstituted,
    ToolSucceeded,
)
from antiphon.vocabulary.tool_calls import call_identity
from antiphon.vocabulary.values import Fact, ToolCall, Value

Outcome = Literal["requested", "running", "found", "nothing", "failed", "repeated"]


class Tried(Value, frozen=True, kw_only=True):
    """One tool call, from its request to its outcome.

    Attributes:
        arguments: The JSON object as the model wrote it.
        why: The reason that the model gave, or an empty text.
        facts: Ids of all facts that it brought, known ones included.
        new_facts: Ids of those that nobody had found before.
        substitute: The tool that was run in its place, or None.
        duration_ms: How long it ran, in milliseconds; 0 until it has ended.
        detail: What the tool said where it brought no evidence: the error, or that nothing was found.
    """

    id: str
    round: int
    tool: str
    arguments: str
    why: str = ""
    outcome: Outcome = "requested"
    facts: tuple[str, ...] = ()
    new_facts: tuple[str, ...] = ()
    substitute: str | None = None
    detail: str = ""
    duration_ms: float = 0.0


class ToolUsage(Value, frozen=True, kw_only=True):
    """All attempts.

    Attributes:
        settled: Attempts of rounds that are over, and repeated calls.
        open: Attempts of the round that is under way.
        asked: Every call that a reply asked for, with its round.
        refused: Ids of calls that were refused as repeated before their reply was complete.
    """

    settled: tuple[Tried, ...] = ()
    open: tuple[Tried, ...] = ()
    asked: tuple[tuple[int, ToolCall], ...] = ()
    refused: tuple[str, ...] = ()


def fold(usage: ToolUsage, event: Event) -> ToolUsage:
    """The layer after `event`; outcomes of calls that are not open are kept out."""
    if isinstance(event, ToolRequested):
        return replace(usage, open=(*usage.open, _tried(event.round, event.call)))
    if isinstance(event, ReasoningCompleted):
        return _note_repeated(replace(usage, asked=(*usage.asked, *((event.round, c) for c in event.tool_calls))))
    if isinstance(event, BreakerTripped):
        return _note_refusal(usage, event)
    if isinstance(event, ToolStarted | ToolSubstituted | ToolSucceeded | ToolFailed):
        return replace(usage, open=tuple(_told(t, event) if t.id == event.tool_call_id else t for t in usage.open))
    return usage


def settle(usage: ToolUsage, settled: ToolsSettled, discovery: Discovery) -> ToolUsage:
    """The layer after a round: confirmed attempts with what they brought; unconfirmed ones are forgotten."""
    confirmed = frozenset((*settled.succeeded, *settled.failed))
    brought = dict(discovery.by_call)
    new = {(fact.tool_call_id, fact.id) for fact in discovery.new}
    over = tuple(_with_facts(t, brought.get(t.id, ()), new) for t in usage.open if t.id in confirmed)
    return replace(usage, settled=(*usage.settled, *over), open=())


def facts_of(usage: ToolUsage, tried: Tried) -> tuple[str, ...]:
    """The facts behind an attempt: its own, or for a repeated call those of the call that it repeats."""
    if tried.outcome != "repeated":
        return tried.facts
    wanted = call_identity(tried.tool, tried.arguments)
    return next((t.facts for t in usage.settled if t.facts and call_identity(t.tool, t.arguments) == wanted), ())


def coverage(facts: tuple[Fact, ...]) -> dict[tuple[str, int | None], tuple[str, ...]]:
    """The search's reach: for each course and lesson, the ids of the facts found in it."""
    reached: dict[tuple[str, int | None], tuple[str, ...]] = {}
    for fact in facts:
        if fact.passage.course is not None:
            place = (fact.passage.course, fact.passage.lesson)
            reached[place] = (*reached.get(place, ()), fact.id)
    return reached


def arguments_of(written: str) -> dict[str, object]:
    """The arguments as an object; empty where the model wrote none that can be read."""
    try:
        return msgspec.json.decode(written, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return {}


def _tried(round_: int, call: ToolCall, outcome: Outcome = "requested") -> Tried:
    why = arguments_of(call.arguments).get("why")
    return Tried(
        id=call.id,
        round=round_,
        tool=call.name,
        arguments=call.arguments,
        why=why if isinstance(why, str) else "",
        outcome=outcome,
    )


def _told(tried: Tried, event: ToolStarted | ToolSubstituted | ToolSucceeded | ToolFailed) -> Tried:
    if isinstance(event, ToolStarted):
        return replace(tried, outcome="running")
    if isinstance(event, ToolSubstituted):
        return replace(tried, substitute=event.substitute)
    if isinstance(event, ToolFailed):
        return replace(tried, outcome="failed", detail=event.detail, duration_ms=event.duration_ms)
    tried = replace(tried, duration_ms=event.duration_ms)
    if event.passages:
        return replace(tried, outcome="found")
    return replace(tried, outcome="nothing", detail=event.output.text)


def _with_facts(tried: Tried, brought: tuple[str, ...], new: set[tuple[str, str]]) -> Tried:
    return replace(tried, facts=brought, new_facts=tuple(id_ for id_ in brought if (tried.id, id_) in new))


def _note_refusal(usage: ToolUsage, event: BreakerTripped) -> ToolUsage:
    if event.limit != "repeated_call" or event.tool_call_id is None:
        return usage
    return _note_repeated(replace(usage, refused=(*usage.refused, event.tool_call_id)))


def _note_repeated(usage: ToolUsage) -> ToolUsage:
    """Turns refusals whose call is known into attempts; either of the two events may come first."""
    calls = {call.id: (round_, call) for round_, call in usage.asked}
    known = [id_ for id_ in usage.refused if id_ in calls]
    noted = tuple(_tried(*calls[id_], "repeated") for id_ in known)
    refused = tuple(id_ for id_ in usage.refused if id_ not in calls)
    return replace(usage, settled=(*usage.settled, *noted), refused=refused)
