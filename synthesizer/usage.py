"""The layer of tool usage: the attempts, their reasons and outcomes, and the lessons that the search has reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
from msgspec.structs import replace

from antiphon.language.lengths import shorten
from antiphon.language.markup import Attempt, NoteLine
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
from antiphon.vocabulary.tool_calls import WHY, CallIdentity, call_identity
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Fact, ToolCall, Value

DETAIL_CHARS = 300
ARGUMENT_CHARS = 300
NAME_CHARS = 100
MOST_ARGUMENTS = 12
MOST_ALIKE = 3
"""Most facts that one attempt's note names as saying nearly the same as a shown fact."""

Outcome = Literal["requested", "running", "found", "nothing", "failed", "repeated"]


class ToolAttempt(Value, frozen=True, kw_only=True):
    """One tool call, from its request to its outcome.

    Attributes:
        arguments: The JSON object as the model wrote it.
        why: The reason that the model gave, or an empty text.
        facts: Ids of all facts that it brought, known ones included.
        new_facts: Ids of those that no earlier call had found.
        substitute: The tool that was run in its place, or None.
        duration_ms: How long it ran, in milliseconds; 0 until it has ended.
        detail: The tool's words if it brought no evidence: the error, or that nothing was found.
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


class AlikeFact(Value, frozen=True, kw_only=True):
    """A fact left out because it says nearly the same as another, and its place."""

    id: str
    source: str


class SettledAttempt(Value, frozen=True, kw_only=True):
    """A finished attempt, with its note for briefings: short, no matter how much the model or a tool wrote.

    Attributes:
        note: The note without its facts, because their numbers differ from request to request.
        identity: The identity that it shares with a call that repeats it.
        alike: Those of its new facts that briefings leave out.
    """

    attempt: ToolAttempt
    note: Attempt
    identity: CallIdentity
    alike: tuple[AlikeFact, ...] = ()


class AskedCall(Value, frozen=True, kw_only=True):
    """A call that a reply asked for, run or refused."""

    round: int
    call: ToolCall


class ToolUsage(Value, frozen=True, kw_only=True):
    """All attempts.

    Attributes:
        settled: Attempts of finished rounds, and repeated calls.
        open: Attempts of the current round.
        asked: Every call that a reply made.
        refused: Ids of calls refused as repeats before their reply was complete.
    """

    settled: tuple[SettledAttempt, ...] = ()
    open: tuple[ToolAttempt, ...] = ()
    asked: tuple[AskedCall, ...] = ()
    refused: tuple[str, ...] = ()


def fold(usage: ToolUsage, event: Event) -> ToolUsage:
    """Returns the layer after `event`; it ignores outcomes of calls that are not open."""
    if isinstance(event, ToolRequested):
        return replace(usage, open=(*usage.open, _attempt(event.round, event.call)))
    if isinstance(event, ReasoningCompleted):
        asked = [AskedCall(round=event.round, call=call) for call in event.tool_calls]
        return _with_refusals(replace(usage, asked=(*usage.asked, *asked)))
    if isinstance(event, BreakerTripped):
        if event.limit != "repeated_call" or event.tool_call_id is None:
            return usage
        return _with_refusals(
            replace(usage, refused=(*usage.refused, event.tool_call_id))
        )
    if isinstance(event, (ToolStarted, ToolSubstituted, ToolSucceeded, ToolFailed)):
        return _with_progress(usage, event)
    return usage


def _with_progress(
    usage: ToolUsage, event: ToolStarted | ToolSubstituted | ToolSucceeded | ToolFailed
) -> ToolUsage:
    # Only one attempt of a round's many changes, so the list is copied in one go.
    attempts = list(usage.open)
    for place, attempt in enumerate(usage.open):
        if attempt.id == event.tool_call_id:
            attempts[place] = _after(attempt, event)
    return replace(usage, open=tuple(attempts))


def settle(usage: ToolUsage, settled: ToolsSettled, discovery: Discovery) -> ToolUsage:
    """Returns the layer after a round: confirmed attempts with their facts; it forgets the others."""
    confirmed = frozenset((*settled.succeeded, *settled.failed))
    brought = dict(discovery.by_call)
    found = {fact.id: fact for fact in discovery.new}
    over: list[SettledAttempt] = []
    for attempt in usage.open:
        if attempt.id not in confirmed:
            continue
        facts = brought.get(attempt.id, ())
        # A fact that several calls of one round found is new to the first of them.
        new: dict[str, Fact] = {}
        for fact_id in facts:
            fact = found.get(fact_id)
            if fact is not None and fact.tool_call_id == attempt.id:
                new[fact_id] = fact
        done = replace(attempt, facts=facts, new_facts=tuple(new))
        over.append(_settled(done, new.values()))
    return replace(usage, settled=(*usage.settled, *over), open=())


def coverage(facts: Sequence[Fact]) -> dict[tuple[str, int | None], tuple[str, ...]]:
    """Returns the coverage of the search: for each course and lesson, the ids of the facts found in it."""
    reached: dict[tuple[str, int | None], tuple[str, ...]] = {}
    for fact in facts:
        if fact.passage.course is not None:
            place = (fact.passage.course, fact.passage.lesson)
            reached[place] = (*reached.get(place, ()), fact.id)
    return reached


def noted_attempts(usage: ToolUsage, numbers: Mapping[str, int]) -> list[NoteLine]:
    """Returns a line for each settled attempt.

    Args:
        numbers: Each fact's number in the request.
    """
    lines: list[NoteLine] = []
    for settled in usage.settled:
        behind = _facts_behind(usage, settled)
        facts = [numbers[fact_id] for fact_id in behind if fact_id in numbers]
        detail = _detail(settled, numbers)
        note = replace(settled.note, facts=tuple(facts), detail=detail)
        lines.append(note.line())
    return lines


def _detail(settled: SettledAttempt, numbers: Mapping[str, int]) -> str:
    """Returns the note's detail, and the places that say nearly the same as a shown result."""
    # This is here and not in the result's title, because a block must never change.
    alike = [
        f"{fact.source} says nearly the same as result {numbers[fact.id]}"
        for fact in settled.alike
        if fact.id in numbers
    ]
    return ". ".join(filter(None, (settled.note.detail, *alike[:MOST_ALIKE])))


def arguments_of(written: str) -> dict[str, object]:
    """Returns the arguments as an object; empty if the model's text is not one."""
    try:
        return msgspec.json.decode(written, type=prepared(dict[str, object]))
    except (msgspec.DecodeError, RecursionError):
        return {}


def _attempt(
    round_: int, call: ToolCall, outcome: Outcome = "requested"
) -> ToolAttempt:
    # The model may write anything as its reason, or nothing.
    written = arguments_of(call.arguments).get(WHY)
    why = written if isinstance(written, str) else ""
    return ToolAttempt(
        id=call.id,
        round=round_,
        tool=call.name,
        arguments=call.arguments,
        why=why,
        outcome=outcome,
    )


def _after(
    attempt: ToolAttempt,
    event: ToolStarted | ToolSubstituted | ToolSucceeded | ToolFailed,
) -> ToolAttempt:
    if isinstance(event, ToolStarted):
        return replace(attempt, outcome="running")
    if isinstance(event, ToolSubstituted):
        return replace(attempt, substitute=event.substitute)
    if isinstance(event, ToolFailed):
        return replace(
            attempt,
            outcome="failed",
            detail=event.detail,
            duration_ms=event.duration_ms,
        )
    if event.passages:
        return replace(attempt, outcome="found", duration_ms=event.duration_ms)
    return replace(
        attempt,
        outcome="nothing",
        detail=event.output.text,
        duration_ms=event.duration_ms,
    )


def _with_refusals(usage: ToolUsage) -> ToolUsage:
    """Turns refusals of known calls into attempts; either of the two events may come first."""
    asked = {each.call.id: each for each in usage.asked}
    # A refusal of an unknown call waits until the reply that made the call is complete.
    noted: list[SettledAttempt] = []
    waiting: list[str] = []
    for call_id in usage.refused:
        known = asked.get(call_id)
        if known is None:
            waiting.append(call_id)
        else:
            noted.append(_settled(_attempt(known.round, known.call, "repeated"), ()))
    return replace(usage, settled=(*usage.settled, *noted), refused=tuple(waiting))


def _facts_behind(usage: ToolUsage, settled: SettledAttempt) -> tuple[str, ...]:
    """Returns the facts of an attempt: its own, or those of the call that it repeats."""
    if settled.attempt.outcome != "repeated":
        return settled.attempt.facts
    for other in usage.settled:
        if other.attempt.facts and other.identity == settled.identity:
            return other.attempt.facts
    return ()


def _settled(attempt: ToolAttempt, new: Iterable[Fact]) -> SettledAttempt:
    """Returns the attempt with its note; `new` holds the facts that it found first."""
    details: list[str] = []
    if attempt.substitute:
        details.append(f"answered by {shorten(attempt.substitute, NAME_CHARS)}")
    if error := shorten(attempt.detail, DETAIL_CHARS):
        details.append(error)
    outcome = attempt.outcome
    # An attempt without an outcome ended with its round, and found nothing.
    if outcome == "requested" or outcome == "running":
        outcome = "failed"
    note = Attempt(
        round=attempt.round,
        tool=shorten(attempt.tool, NAME_CHARS),
        arguments=_short_arguments(attempt.arguments),
        outcome=outcome,
        detail=". ".join(details),
    )
    alike: list[AlikeFact] = []
    for fact in new:
        if fact.like is not None:
            source = shorten(fact.passage.source, NAME_CHARS)
            alike.append(AlikeFact(id=fact.id, source=source))
    identity = call_identity(attempt.tool, attempt.arguments)
    return SettledAttempt(
        attempt=attempt, note=note, identity=identity, alike=tuple(alike)
    )


def _short_arguments(written: str) -> dict[str, object]:
    """Returns the arguments with long or nested values as one short line: the model may write anything."""
    shown: dict[str, object] = {}
    for name, value in list(arguments_of(written).items())[:MOST_ARGUMENTS]:
        if isinstance(value, dict | list):
            value = msgspec.json.encode(value).decode()
        if isinstance(value, str):
            value = shorten(value, ARGUMENT_CHARS)
        shown[shorten(name, NAME_CHARS)] = value
    return shown
