"""Counts what happens in one query: calls, tokens, cost, tools, limits, doubts, and how long each takes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, NamedTuple

from antiphon.telemetry.identifiers import BoundedNames, identifier, offered
from antiphon.telemetry.sums import Sums
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Usage

Call = e.ReasoningRequested | e.SummaryRequested
Reply = e.ReasoningCompleted | e.SummaryCompleted
Failure = e.ReasoningFailed | e.SummaryFailed


class Counted(NamedTuple):
    """What all queries of a service share to count.

    Attributes:
        models: The names of models that have been labels.
        tools: The names of the tools that there are.
    """

    sums: Sums
    models: BoundedNames
    tools: Container[str]


class _CallUnderWay:
    """One call of a model."""

    __slots__ = ("asked_at", "model", "purpose", "spoke")

    def __init__(self, model: str, purpose: str, asked_at: float) -> None:
        self.model = model
        self.purpose = purpose
        self.asked_at = asked_at
        self.spoke = False


class Counting:
    """What one query adds; the times are those of its events."""

    def __init__(self, counted: Counted) -> None:
        self._sums = counted.sums
        self._counted = counted
        self._received_at: float | None = None
        self._text_came = False
        self._calls: dict[str, _CallUnderWay] = {}
        self._tool_calls: dict[str, tuple[str, float]] = {}

    @property
    def kinds(self) -> Iterable[type[Event]]:
        return RULES

    def handle(self, recorded: Recorded[Event]) -> None:
        rule = RULES.get(type(recorded.event))
        if rule is not None:
            rule(self, recorded)

    def handle_again(self, recorded: Recorded[Event]) -> None:
        self.handle(recorded)

    def handle_text(self, call_id: str, at: float) -> None:
        self._note_first(call_id, at)
        if not self._text_came and self._received_at is not None:
            self._text_came = True
            self._sums.observe(
                "antiphon_query_first_token_seconds", at - self._received_at
            )

    def on_query_received(self, recorded: Recorded[e.QueryReceived]) -> None:
        self._received_at = recorded.at

    def on_round_opened(self, _: Recorded[e.RoundOpened]) -> None:
        self._sums.increment("antiphon_rounds")

    def on_call_requested(self, recorded: Recorded[Call]) -> None:
        event = recorded.event
        purpose = "reasoning"
        if isinstance(event, e.SummaryRequested):
            purpose = "summary"
        self._calls[event.call_id] = _CallUnderWay(
            self._counted.models.label(event.model), purpose, recorded.at
        )

    def on_reasoning_started(self, recorded: Recorded[e.ReasoningStarted]) -> None:
        call = self._calls.get(recorded.event.call_id)
        # A server with a name of its own, such as the offline reasoner, answers whichever model is asked for.
        if call is not None:
            call.model = self._counted.models.label(recorded.event.reasoner)

    def on_reasoning_retried(self, recorded: Recorded[e.ReasoningRetried]) -> None:
        self._sums.increment("antiphon_call_retries", recorded.event.why)

    def on_tool_call_streamed(self, recorded: Recorded[e.ToolCallStreamed]) -> None:
        self._note_first(recorded.event.call_id, recorded.at)

    def on_call_completed(self, recorded: Recorded[Reply]) -> None:
        event = recorded.event
        usage = event.usage + event.wasted
        self._end_call(event.call_id, recorded, "completed", usage)

    def on_call_failed(self, recorded: Recorded[Failure]) -> None:
        event = recorded.event
        self._end_call(event.call_id, recorded, event.failure, event.usage)

    def on_tool_requested(self, recorded: Recorded[e.ToolRequested]) -> None:
        call = recorded.event.call
        tool = offered(call.name, self._counted.tools)
        self._tool_calls[call.id] = (tool, recorded.at)

    def on_tool_substituted(self, recorded: Recorded[e.ToolSubstituted]) -> None:
        tool = offered(recorded.event.failed, self._counted.tools)
        self._sums.increment("antiphon_tool_substitutions", tool)

    def on_tool_succeeded(self, recorded: Recorded[e.ToolSucceeded]) -> None:
        self._end_tool_call(recorded.event.tool_call_id, recorded, "succeeded")

    def on_tool_failed(self, recorded: Recorded[e.ToolFailed]) -> None:
        event = recorded.event
        self._end_tool_call(event.tool_call_id, recorded, event.failure)

    def on_breaker_tripped(self, recorded: Recorded[e.BreakerTripped]) -> None:
        self._sums.increment("antiphon_breaker_trips", recorded.event.limit)

    def on_recovery_started(self, recorded: Recorded[e.RecoveryStarted]) -> None:
        self._sums.increment("antiphon_recoveries", recorded.event.level)

    def on_handler_failed(self, _: Recorded[e.HandlerFailed]) -> None:
        self._sums.increment("antiphon_component_failures")

    def on_recording_failed(self, _: Recorded[e.RecordingFailed]) -> None:
        self._sums.increment("antiphon_recording_failures")

    def on_session_stalled(self, _: Recorded[e.SessionStalled]) -> None:
        self._sums.increment("antiphon_stalls")

    def on_response_assembled(self, recorded: Recorded[e.ResponseAssembled]) -> None:
        event = recorded.event
        reasoner = self._counted.models.label(event.reasoner)
        self._sums.increment("antiphon_answers", event.confidence, reasoner)
        # A kind counts once an answer: what is watched is the share of answers that carry it.
        for kind in {doubt.kind for doubt in event.indicators}:
            self._sums.increment("antiphon_doubts", identifier(kind))

    def on_query_closed(self, recorded: Recorded[e.QueryClosed]) -> None:
        self._sums.increment("antiphon_queries", recorded.event.status)
        if self._received_at is not None:
            self._sums.observe(
                "antiphon_query_duration_seconds", recorded.at - self._received_at
            )

    def _note_first(self, call_id: str, at: float) -> None:
        call = self._calls.get(call_id)
        if call is None or call.spoke:
            return
        call.spoke = True
        self._sums.observe(
            "antiphon_call_first_token_seconds", at - call.asked_at, call.model
        )

    def _end_call(
        self, call_id: str, recorded: Recorded[Event], outcome: str, usage: Usage
    ) -> None:
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        sums = self._sums
        sums.increment("antiphon_calls", call.model, call.purpose, outcome)
        sums.observe(
            "antiphon_call_duration_seconds", recorded.at - call.asked_at, call.model
        )
        if usage.is_empty:
            return
        for kind, tokens in _tokens(usage):
            if tokens:
                sums.increment("antiphon_tokens", kind, call.model, by=tokens)
        if usage.cost_usd is None:
            sums.increment("antiphon_unpriced_calls", call.model)
        else:
            sums.increment("antiphon_cost_usd", call.model, by=usage.cost_usd)

    def _end_tool_call(
        self, call_id: str, recorded: Recorded[Event], outcome: str
    ) -> None:
        begun = self._tool_calls.pop(call_id, None)
        if begun is None:
            return
        tool, asked_at = begun
        self._sums.increment("antiphon_tool_calls", tool, outcome)
        self._sums.observe(
            "antiphon_tool_duration_seconds", recorded.at - asked_at, tool
        )


RULES: Mapping[type[Event], Callable[[Counting, Recorded[Any]], None]] = {
    e.QueryReceived: Counting.on_query_received,
    e.RoundOpened: Counting.on_round_opened,
    e.ReasoningRequested: Counting.on_call_requested,
    e.SummaryRequested: Counting.on_call_requested,
    e.ReasoningStarted: Counting.on_reasoning_started,
    e.ReasoningRetried: Counting.on_reasoning_retried,
    e.ToolCallStreamed: Counting.on_tool_call_streamed,
    e.ReasoningCompleted: Counting.on_call_completed,
    e.SummaryCompleted: Counting.on_call_completed,
    e.ReasoningFailed: Counting.on_call_failed,
    e.SummaryFailed: Counting.on_call_failed,
    e.ToolRequested: Counting.on_tool_requested,
    e.ToolSubstituted: Counting.on_tool_substituted,
    e.ToolSucceeded: Counting.on_tool_succeeded,
    e.ToolFailed: Counting.on_tool_failed,
    e.BreakerTripped: Counting.on_breaker_tripped,
    e.RecoveryStarted: Counting.on_recovery_started,
    e.HandlerFailed: Counting.on_handler_failed,
    e.RecordingFailed: Counting.on_recording_failed,
    e.SessionStalled: Counting.on_session_stalled,
    e.ResponseAssembled: Counting.on_response_assembled,
    e.QueryClosed: Counting.on_query_closed,
}


def _tokens(usage: Usage) -> tuple[tuple[str, int], ...]:
    """Returns tokens by kind; all input is input, cache_read and cache_write together."""
    return (
        ("input", usage.input_tokens),
        ("output", usage.output_tokens),
        ("cache_read", usage.cache_read_tokens),
        ("cache_write", usage.cache_write_tokens),
    )
