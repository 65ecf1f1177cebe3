"""One line for each event: what matters of it, for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from antiphon.cli.terminal import one_line
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import ToolCall, Usage

Line = Callable[[Any], str]

_LINES: Mapping[type[e.Event], Line] = {
    e.QueryReceived: lambda it: f"“{it.query}” (at most {it.settings.max_rounds} rounds, {it.settings.deadline_s:g} s)",
    e.RoundOpened: lambda it: f"final call {it.call_id}" if it.final else f"round {it.round}, call {it.call_id}",
    e.SummaryWanted: lambda it: f"of {len(it.of)} facts, {it.tokens} tokens, for {it.call_id}",
    e.SummaryRequested: lambda it: f"{it.call_id} by {it.model}, within {it.timeout_s:.1f} s",
    e.SummarySkipped: lambda it: f"{it.limit}: {it.detail}",
    e.SummaryFailed: lambda it: f"{it.call_id}: {it.failure}: {it.detail}",
    e.SummaryCompleted: lambda it: f"{it.stop_reason}, {_tokens(it.usage)}: “{it.text.text}”",
    e.BriefingPrepared: lambda it: f"{it.tokens} tokens, {len(it.facts)} facts, {len(it.dropped)} things dropped",
    e.ReasoningRequested: lambda it: (
        f"{it.call_id} of the {it.reasoner} reasoner, within {it.timeout_s:.1f} s "
        f"({it.elapsed_s:.1f} s used, {it.kept_s:.1f} s kept)"
    ),
    e.ReasoningStarted: lambda it: f"{it.call_id}: {it.reasoner}, attempt {it.attempt}",
    e.ToolCallStreamed: lambda it: _call(it.call),
    e.ReasoningRetried: lambda it: f"attempt {it.attempt} failed ({it.why}: {it.detail}), again in {it.wait_s:.1f} s",
    e.ReasoningFailed: lambda it: f"{it.call_id}: {it.failure}: {it.detail}",
    e.ReasoningCompleted: lambda it: _reply(it),
    e.ToolRequested: lambda it: _call(it.call),
    e.ToolStarted: lambda it: it.name,
    e.ToolSubstituted: lambda it: f"{it.failed} → {it.substitute}: {it.why}",
    e.ToolSucceeded: lambda it: f"{it.name}: {_passages(it)}, {it.duration_ms:.0f} ms",
    e.ToolFailed: lambda it: f"{it.name}: {it.failure}: {it.detail}",
    e.ToolAnsweredLate: lambda it: f"{it.name}: {it.passages} passages after {it.duration_ms:.0f} ms, not used",
    e.ToolCallsConfirmed: lambda it: f"round {it.round}: {len(it.tool_call_ids)} calls",
    e.ToolsSettled: lambda it: f"round {it.round}: {len(it.succeeded)} succeeded, {len(it.failed)} failed",
    e.ContextSynthesized: lambda it: f"{len(it.facts)} new facts, {len(it.repeated)} found again{_still_open(it)}",
    e.BreakerTripped: lambda it: f"{it.limit}: {it.detail}",
    e.DeadlineNeared: lambda it: f"{it.left_s:.1f} s left",
    e.DeadlinePassed: lambda it: f"{it.left_s:.1f} s left",
    e.CallsAbandoned: lambda it: f"{', '.join(it.call_ids)}: {it.why}",
    e.RecoveryStarted: lambda it: f"{it.level}: {it.why} (event {it.event_seq})",
    e.QueryCancelled: lambda it: it.why,
    e.QueryResumed: lambda it: f"{it.why}, after {it.away_s:.1f} s",
    e.HandlerFailed: lambda it: f"{it.handler}: {it.error} (event {it.event_seq})",
    e.SessionStalled: lambda it: f"waiting for {'; '.join(it.waiting_for)}",
    e.RecordingFailed: lambda it: it.detail,
    e.AnswerRequested: lambda it: f"{it.mode}{f': {it.why}' if it.why else ''}",
    e.ResponseAssembled: lambda it: f"{it.confidence} confidence, {len(it.sources)} sources, {it.calls} calls",
    e.QueryClosed: lambda it: it.status,
}

NOTABLE = frozenset(
    {e.ToolRequested, e.ToolSucceeded, e.ToolFailed, e.ToolSubstituted, e.BreakerTripped, e.RecoveryStarted}
    | {e.RoundOpened, e.ReasoningRetried, e.ReasoningFailed, e.DeadlineNeared, e.DeadlinePassed, e.HandlerFailed}
    | {e.SummaryRequested, e.SummarySkipped, e.SummaryFailed}
    | {e.QueryResumed, e.SessionStalled, e.RecordingFailed, e.QueryCancelled}
)
"""What somebody who waits for an answer wants to see."""


def tell(event: Event, width: int = 160) -> str:
    """What matters of `event`, on one line that is safe to print."""
    return one_line(_LINES[type(event)](event), width)


def tell_recorded(said: Recorded[Event], began_at: float, width: int = 160) -> str:
    """One line of a trace: seq, time since the beginning, kind, what matters, and the event that led to it."""
    since_ms = (said.at - began_at) * 1000
    return f"{said.seq:>4} {since_ms:>9.1f} ms  {said.event.kind_name():<22} {tell(said.event, width)}  ← {said.cause}"


def _call(call: ToolCall) -> str:
    return f"{call.name} {call.arguments}"


def _reply(reply: e.ReasoningCompleted) -> str:
    said = f"{len(reply.tool_calls)} tool calls" if reply.tool_calls else f"“{reply.text.text}”"
    return f"{reply.stop_reason}, {_tokens(reply.usage)}: {said}"


def _tokens(usage: Usage) -> str:
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    return f"{read} tokens in, {usage.output_tokens} out"


def _passages(result: e.ToolSucceeded) -> str:
    sources = list(dict.fromkeys(passage.source for passage in result.passages))
    return f"{len(result.passages)} passages ({', '.join(sources)})" if sources else "nothing found"


def _still_open(context: e.ContextSynthesized) -> str:
    return f"; open: {', '.join(context.open_parts)}" if context.open_parts else ""
