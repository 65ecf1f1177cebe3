"""OpenTelemetry spans of one query: the query, its rounds, its calls of the model, its tool calls.

Start and end of a span are the recorded times of events, so that spans and trace agree. The names are those of
conventions.py. It emits nothing, so that a query with it has the same trace as one without.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

from antiphon.telemetry import conventions as c
from antiphon.telemetry.identifiers import identifier, offered
from antiphon.telemetry.span_parts import (
    QUERY_PART,
    call_part,
    round_part,
    sent_part,
    tool_part,
    usage_part,
)
from antiphon.telemetry.span_values import (
    CLIENT,
    OpenSpan,
    SpanParent,
    caller_parent,
    own_trace,
)
from antiphon.telemetry.wire import (
    Attributes,
    AttributeValue,
    attribute,
    attributes_part,
    fraction,
)
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Recorded

Call = e.ReasoningRequested | e.SummaryRequested
Reply = e.ReasoningCompleted | e.SummaryCompleted
Failure = e.ReasoningFailed | e.SummaryFailed
Send = Callable[[bytes], None]
"""Takes a span that has ended; it returns at once."""


class QuerySpans:
    """The open spans of one query.

    A query that goes on after an interruption begins with `query_resumed`, and its calls may have begun before that:
    every handler works without the span that it would belong to.
    """

    def __init__(
        self,
        send: Send,
        parent: SpanParent | None,
        tools: Container[str],
    ) -> None:
        self._send = send
        self._parent = parent
        self._tools = tools
        self._query: OpenSpan | None = None
        self._round: OpenSpan | None = None
        self._calls: dict[str, OpenSpan] = {}
        self._asked_at: dict[str, float] = {}
        self._retries: dict[str, int] = {}

    @property
    def kinds(self) -> Iterable[type[Event]]:
        return RULES

    def handle(self, recorded: Recorded[Event]) -> None:
        rule = RULES.get(type(recorded.event))
        if rule is not None:
            rule(self, recorded)

    def handle_again(self, recorded: Recorded[Event]) -> None:
        if self._query is None:
            self._begin_query(recorded, {c.RESUMED: True})
        self.handle(recorded)

    def handle_text(self, call_id: str, at: float) -> None:
        self._note_first(call_id, at)

    def on_query_received(self, recorded: Recorded[e.QueryReceived]) -> None:
        event = recorded.event
        more: dict[str, AttributeValue] = {c.CONVERSATION: identifier(event.session_id)}
        if event.parent is not None:
            more[c.PARENT_QUERY] = identifier(event.parent)
        self._begin_query(recorded, more)

    def on_query_resumed(self, recorded: Recorded[e.QueryResumed]) -> None:
        # Calls that are made once more come before it.
        if self._query is None:
            self._begin_query(recorded, {c.RESUMED: True})

    def on_round_opened(self, recorded: Recorded[e.RoundOpened]) -> None:
        event = recorded.event
        if self._round is not None:
            self._send(self._round.end(recorded.at))
        self._round = OpenSpan(
            f"round {event.round}",
            recorded,
            self._place_of(self._query, recorded),
            round_part(event.round, event.final),
        )

    def on_call_requested(self, recorded: Recorded[Call]) -> None:
        event = recorded.event
        purpose = "reasoning"
        if isinstance(event, e.SummaryRequested):
            purpose = "summary"
        model = identifier(event.model)
        self._asked_at[event.call_id] = recorded.at
        self._calls[event.call_id] = OpenSpan(
            f"chat {model}",
            recorded,
            self._place_of(self._round or self._query, recorded),
            call_part(model, event.max_tokens, purpose)
            + attribute(c.CALL_ID, identifier(event.call_id)),
            CLIENT,
        )

    def on_reasoning_started(self, recorded: Recorded[e.ReasoningStarted]) -> None:
        event = recorded.event
        span = self._calls.get(event.call_id)
        if span is not None:
            span.set("sent", sent_part(event.reasoner, event.request.stream))

    def on_reasoning_retried(self, recorded: Recorded[e.ReasoningRetried]) -> None:
        event = recorded.event
        span = self._calls.get(event.call_id)
        if span is not None:
            retries = self._retries.get(event.call_id, 0) + 1
            self._retries[event.call_id] = retries
            span.set("retries", attribute(c.RETRIES, retries))
            span.add_moment("retried", recorded, {c.ERROR_TYPE: event.why})

    def on_tool_call_streamed(self, recorded: Recorded[e.ToolCallStreamed]) -> None:
        self._note_first(recorded.event.call_id, recorded.at)

    def on_call_completed(self, recorded: Recorded[Reply]) -> None:
        event = recorded.event
        reply = (
            attribute(c.RESPONSE_MODEL, identifier(event.model))
            + attribute(c.RESPONSE_ID, identifier(event.message_id))
            + attribute(c.FINISH_REASONS, (identifier(event.stop_reason),))
        )
        usage = usage_part(event.usage + event.wasted)
        self._end_call(event.call_id, recorded, reply + usage)

    def on_call_failed(self, recorded: Recorded[Failure]) -> None:
        event = recorded.event
        self._end_call(event.call_id, recorded, usage_part(event.usage), event.failure)

    def on_tool_requested(self, recorded: Recorded[e.ToolRequested]) -> None:
        call = recorded.event.call
        tool = offered(call.name, self._tools)
        self._calls[call.id] = OpenSpan(
            f"execute_tool {tool}",
            recorded,
            self._place_of(self._round or self._query, recorded),
            tool_part(tool) + attribute(c.TOOL_CALL_ID, identifier(call.id)),
        )

    def on_tool_succeeded(self, recorded: Recorded[e.ToolSucceeded]) -> None:
        event = recorded.event
        passages = attribute(c.PASSAGES, len(event.passages))
        self._end_call(event.tool_call_id, recorded, passages)

    def on_tool_failed(self, recorded: Recorded[e.ToolFailed]) -> None:
        event = recorded.event
        self._end_call(event.tool_call_id, recorded, b"", event.failure)

    def on_breaker_tripped(self, recorded: Recorded[e.BreakerTripped]) -> None:
        if self._query is not None:
            limit = {c.LIMIT: recorded.event.limit}
            self._query.add_moment("breaker_tripped", recorded, limit)

    def on_recovery_started(self, recorded: Recorded[e.RecoveryStarted]) -> None:
        if self._query is not None:
            level = {c.LEVEL: recorded.event.level}
            self._query.add_moment("recovery_started", recorded, level)

    def on_response_assembled(self, recorded: Recorded[e.ResponseAssembled]) -> None:
        if self._query is None:
            return
        event = recorded.event
        doubts = sorted({doubt.kind for doubt in event.indicators})
        answer = (
            attribute(c.CONFIDENCE, event.confidence)
            + attribute(c.DOUBTS, tuple(doubts))
            + attribute(c.RESPONSE_MODEL, identifier(event.reasoner))
        )
        usage = usage_part(event.usage + event.summary_usage)
        self._query.set("reply", answer + usage)

    def on_query_closed(self, recorded: Recorded[e.QueryClosed]) -> None:
        # Calls that were given up may have no outcome; a span that is never ended would never be sent.
        for span in (*self._calls.values(), self._round):
            if span is not None:
                self._send(span.end(recorded.at))
        if self._query is None:
            return
        status = recorded.event.status
        self._query.set("status", attribute(c.STATUS, status))
        failure = ""
        if status == "failed":
            failure = status
        self._send(self._query.end(recorded.at, failure))

    def _begin_query(self, recorded: Recorded[Event], more: Attributes) -> None:
        self._query = OpenSpan(
            "invoke_agent antiphon",
            recorded,
            self._place_of(None, recorded),
            QUERY_PART + attributes_part(more),
        )

    def _place_of(
        self, outer: OpenSpan | None, recorded: Recorded[Event]
    ) -> SpanParent:
        if outer is not None:
            return outer.as_parent
        return self._parent or own_trace(recorded.query_id)

    def _note_first(self, call_id: str, at: float) -> None:
        asked_at = self._asked_at.pop(call_id, None)
        if asked_at is not None:
            waited = fraction(c.FIRST_CHUNK, max(0.0, at - asked_at))
            self._calls[call_id].set("first", waited)

    def _end_call(
        self,
        call_id: str,
        recorded: Recorded[Event],
        reply: bytes,
        failure: str = "",
    ) -> None:
        span = self._calls.pop(call_id, None)
        self._asked_at.pop(call_id, None)
        self._retries.pop(call_id, None)
        if span is not None:
            span.set("reply", reply)
            self._send(span.end(recorded.at, failure))


RULES: Mapping[type[Event], Callable[[QuerySpans, Recorded[Any]], None]] = {
    e.QueryReceived: QuerySpans.on_query_received,
    e.QueryResumed: QuerySpans.on_query_resumed,
    e.RoundOpened: QuerySpans.on_round_opened,
    e.ReasoningRequested: QuerySpans.on_call_requested,
    e.SummaryRequested: QuerySpans.on_call_requested,
    e.ReasoningStarted: QuerySpans.on_reasoning_started,
    e.ReasoningRetried: QuerySpans.on_reasoning_retried,
    e.ToolCallStreamed: QuerySpans.on_tool_call_streamed,
    e.ReasoningCompleted: QuerySpans.on_call_completed,
    e.SummaryCompleted: QuerySpans.on_call_completed,
    e.ReasoningFailed: QuerySpans.on_call_failed,
    e.SummaryFailed: QuerySpans.on_call_failed,
    e.ToolRequested: QuerySpans.on_tool_requested,
    e.ToolSucceeded: QuerySpans.on_tool_succeeded,
    e.ToolFailed: QuerySpans.on_tool_failed,
    e.BreakerTripped: QuerySpans.on_breaker_tripped,
    e.RecoveryStarted: QuerySpans.on_recovery_started,
    e.ResponseAssembled: QuerySpans.on_response_assembled,
    e.QueryClosed: QuerySpans.on_query_closed,
}


def spans_of(send: Send, tools: Container[str]) -> QuerySpans | None:
    """Returns what makes the spans of a query; None where its caller wants none."""
    parent = caller_parent()
    if parent is not None and not parent.recorded:
        return None
    return QuerySpans(send, parent, tools)
