"""Finds what went wrong on the way: failed and slow tools, limits, recoveries, and deliberate changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from antiphon.history.suspicion.reading import Finding, Reading
from antiphon.vocabulary.events import (
    BreakerTripped,
    DeadlinePassed,
    DraftReviewed,
    Event,
    HandlerFailed,
    Limit,
    QueryCancelled,
    QueryReceived,
    QueryResumed,
    ReasoningFailed,
    ReasoningRetried,
    RecordingFailed,
    RecoveryStarted,
    SessionStalled,
    SummaryFailed,
    SummarySkipped,
    ToolAnsweredLate,
    ToolFailed,
    ToolSubstituted,
)

SLOW_SHARE = 0.5
"""A call that took at least this share of its time limit is slow."""
DETAIL_CHARS = 240
NOT_FOUND_SHARE = 0.4
"""Low, because "not found" is an answer more often than a failure."""


class Incident(NamedTuple):
    """The kind of suspect that an event is in itself, and its sentence, with gaps for the event's fields."""

    kind: str
    wording: str


INCIDENTS: Mapping[type[Event], Incident] = {
    ToolFailed: Incident(
        "tool_failed", "The tool {name} brought nothing ({failure}): {detail}"
    ),
    ToolSubstituted: Incident(
        "tool_substituted", "{failed} failed, and {substitute} stood in for it: {why}"
    ),
    ToolAnsweredLate: Incident(
        "tool_late",
        "{name} came back after it had been given up; the {passages} passage(s) that it brought were not used.",
    ),
    DeadlinePassed: Incident("deadline", "No time was left for another call."),
    RecoveryStarted: Incident(
        "recovery", "The query went on another way (level {level}): {why}"
    ),
    ReasoningFailed: Incident(
        "reasoning_failed", "A call of the model brought no reply ({failure}): {detail}"
    ),
    ReasoningRetried: Incident(
        "reasoning_retried",
        "An attempt at a call of the model failed ({why}): {detail}",
    ),
    SummaryFailed: Incident(
        "summary_missing", "Earlier rounds were not summed up ({failure}): {detail}"
    ),
    SummarySkipped: Incident(
        "summary_missing", "Earlier rounds were not summed up ({limit}): {detail}"
    ),
    HandlerFailed: Incident("component_failed", "{handler} failed: {error}"),
    SessionStalled: Incident("stalled", "The query stood still: {waiting_for}"),
    RecordingFailed: Incident(
        "trace_incomplete", "The trace could not be written for a while: {detail}"
    ),
    QueryCancelled: Incident("cancelled", "The query was cancelled: {why}"),
    QueryResumed: Incident(
        "resumed", "The query was interrupted and went on later: {why}"
    ),
}
LIMITS: Mapping[Limit, Incident] = {
    "tokens": Incident("budget", "The budget of tokens cut it short: {detail}"),
    "cost": Incident("budget", "The budget in dollars cut it short: {detail}"),
    "deadline": Incident("deadline", "The deadline cut it short: {detail}"),
    "rounds": Incident("round_limit", "The limit on rounds cut it short: {detail}"),
    "tool_calls": Incident(
        "tool_call_limit", "The limit on tool calls cut it short: {detail}"
    ),
    "no_progress": Incident("no_progress", "No further round was made: {detail}"),
    "repeated_call": Incident("repeated_call", "A call was not made again: {detail}"),
    "provider_open": Incident("reasoning_failed", "The model was not asked: {detail}"),
    "reasoning_failed": Incident(
        "reasoning_failed", "The model was not asked again: {detail}"
    ),
    "all_tools_failed": Incident("tool_failed", "No further round was made: {detail}"),
    "tool_failed": Incident("tool_failed", "No further tool was called: {detail}"),
}
"""The incidents for each limit that may trip."""


def incidents(reading: Reading) -> Iterator[Finding]:
    """Yields the findings from single events, in the order of the trace."""
    for recorded in reading.events:
        event = recorded.event
        incident = INCIDENTS.get(type(event))
        if incident is not None:
            yield Finding(
                incident.kind, _worded(incident, event), recorded.seq, _share(event)
            )
        elif isinstance(event, BreakerTripped):
            trip = LIMITS[event.limit]
            yield Finding(trip.kind, _worded(trip, event), recorded.seq)
        elif isinstance(event, DraftReviewed) and not event.accepted:
            text = f"{event.reviewer} did not accept the answer: {event.why}"
            yield Finding("not_verified", _line(text), recorded.seq)


def _share(event: Event) -> float:
    if isinstance(event, ToolFailed) and event.failure == "not_found":
        return NOT_FOUND_SHARE
    return 1.0


def _worded(incident: Incident, event: Event) -> str:
    fields: dict[str, str] = {}
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if isinstance(value, tuple):
            value = ", ".join(map(str, value))
        fields[name] = str(value)
    return _line(incident.wording.format_map(fields))


def _line(text: str) -> str:
    """Returns a sentence of ours that quotes text from outside as one line, cut, with a full stop."""
    line = " ".join(text[: 4 * DETAIL_CHARS].split())
    if len(line) > DETAIL_CHARS:
        line = line[: DETAIL_CHARS - 1].rstrip() + "…"
    if line.endswith((".", "…", "!", "?")):
        return line
    return f"{line}."


def on_purpose(reading: Reading) -> Iterator[Finding]:
    """Yields deliberate changes: injected faults, and the change of a fork."""
    for seq, event in reading.of(QueryReceived):
        if event.faults:
            faults = ", ".join(event.faults)
            yield Finding("fault", _line(f"Broken on purpose: {faults}"), seq)
        if event.change:
            text = f"A fork, in which this was changed: {event.change}"
            yield Finding("changed", _line(text), max(event.parent_seq, 1))


def slow_tools(reading: Reading) -> Iterator[Finding]:
    """Yields tool calls that took a large part of their time limit."""
    for search in reading.searches:
        limit_s = search.requested.event.timeout_s
        took_s = search.found.event.duration_ms / 1000
        if limit_s > 0 and took_s >= SLOW_SHARE * limit_s:
            text = f"{search.found.event.name} took {took_s:.1f} of the {limit_s:.1f} seconds that it may."
            yield Finding("tool_slow", text, search.found.seq, took_s / limit_s)
