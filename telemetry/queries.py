"""Follows one query: makes its spans, and adds it to the metrics.

All times are those of recorded events, so that spans and metrics agree with the trace. It emits nothing, so that a
query has the same trace with it as without it.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from opentelemetry.trace import NoOpTracer, Span, SpanKind, Tracer

from antiphon.telemetry import conventions as c
from antiphon.telemetry.content import content_of, retrieval_of
from antiphon.telemetry.exporting import Redact, SpanExport
from antiphon.telemetry.identifiers import BoundedNames, identifier, offered
from antiphon.telemetry.metrics import Metrics
from antiphon.telemetry.spans import (
    Attributes,
    Spans,
    add_moment,
    end,
    finish_reason,
    usage_attributes,
)
from antiphon.vocabulary import events as e
from antiphon.vocabulary.events import Event, Live, Recorded, TextDelta
from antiphon.vocabulary.ports import Clock, Subscription
from antiphon.vocabulary.subscribers import Subscriber, Surroundings
from antiphon.vocabulary.values import Usage

ModelRequest = e.ReasoningRequested | e.SummaryRequested
Reply = e.ReasoningCompleted | e.SummaryCompleted
Failure = e.ReasoningFailed | e.SummaryFailed


def observer(
    tools: Container[str], metrics: Metrics | None, spans: SpanExport | None
) -> Subscriber:
    """Returns the component that observes queries.

    Args:
        tools: The names of the tools that exist.
        metrics: None: it counts into metrics that nobody reads.
        spans: None: no spans are made.
    """
    tracer = NoOpTracer() if spans is None else spans.tracer
    redact = None if spans is None else spans.redact
    counted = metrics or Metrics()
    models = BoundedNames()

    def act(surroundings: Surroundings) -> Sequence[Subscription]:
        query = ObservedQuery(
            tracer, counted, tools, models, surroundings.clock, redact
        )
        surroundings.hear_live(query.hear_live)
        hear, hear_again = query.hear, query.hear_again
        return [Subscription(kind, hear, _NAME, hear_again) for kind in _HEARD]

    return Subscriber(name="telemetry", act=act)


@dataclass(slots=True)
class _Call:
    """A call of a model or a tool that has no outcome yet.

    Attributes:
        asked: The event that began it.
        name: The model or the tool, as a label.
    """

    span: Span
    asked: Recorded[Any]
    name: str
    purpose: str = ""
    spoke: bool = False
    retries: int = 0


class ObservedQuery:
    """The observed state of one query.

    A query that resumes after an interruption begins with `query_resumed`, and its calls may have begun earlier: every
    handler works without the span or the call that its event belongs to.

    Args:
        tools: The names of the tools that exist.
        models: The model names that have been used as labels.
        redact: Redacts an event before its content is exported; None: spans carry no content.
    """

    def __init__(
        self,
        tracer: Tracer,
        metrics: Metrics,
        tools: Container[str],
        models: BoundedNames,
        clock: Clock,
        redact: Redact | None,
    ) -> None:
        self._redact = redact
        self._spans = Spans(tracer)
        self._metrics = metrics
        self._tools = tools
        self._models = models
        self._clock = clock
        self._received_at: float | None = None
        self._text_came = False
        self._query: Span | None = None
        self._round: Span | None = None
        self._calls: dict[str, _Call] = {}
        self._tool_calls: dict[str, _Call] = {}

    def hear(self, recorded: Recorded[Event]) -> None:
        kind = type(recorded.event)
        if kind in COUNTED:
            self._metrics.increment(*COUNTED[kind](recorded.event))
        if kind in RULES:
            RULES[kind](self, recorded)

    def hear_again(self, recorded: Recorded[Event]) -> None:
        """Takes in a request that a resumed query repeats: its time is now, not that of the first request."""
        again = replace(recorded, at=self._clock.now())
        self.on_query_resumed(again)
        self.hear(again)

    def hear_live(self, live: Live) -> None:
        # Every piece of every reply passes here, so it must be cheap.
        if not isinstance(live, TextDelta):
            return
        call = self._calls.get(live.call_id)
        if self._text_came and (call is None or call.spoke):
            return
        at = self._clock.now()
        self._note_first(call, at)
        if not self._text_came and self._received_at is not None:
            self._text_came = True
            self._metrics.observe(
                "antiphon_query_first_token_seconds", at - self._received_at
            )

    def on_query_received(self, recorded: Recorded[e.QueryReceived]) -> None:
        event = recorded.event
        self._received_at = recorded.at
        attributes = {c.CONVERSATION: identifier(event.session_id)}
        if event.parent is not None:
            attributes[c.PARENT_QUERY] = identifier(event.parent)
        self._begin_query(recorded, {**attributes, **self._content(event)})

    def on_query_resumed(self, recorded: Recorded[Any]) -> None:
        # Repeated calls come before the event, and have begun the span already.
        if self._query is None:
            self._begin_query(recorded, {c.RESUMED: True})

    def on_round_opened(self, recorded: Recorded[e.RoundOpened]) -> None:
        event = recorded.event
        # A round lasts until the next one opens, or the query closes.
        end(self._round, recorded.at)
        attributes = {c.ROUND: event.round, c.ROUND_FINAL: event.final}
        self._round = self._spans.begin(
            f"round {event.round}", recorded, self._query, attributes
        )

    def on_call_requested(self, recorded: Recorded[ModelRequest]) -> None:
        event = recorded.event
        is_summary = isinstance(event, e.SummaryRequested)
        purpose = "summary" if is_summary else "reasoning"
        model = identifier(event.model)
        attributes: Attributes = {
            c.OPERATION: "chat",
            c.REQUEST_MODEL: model,
            c.REQUEST_MAX_TOKENS: event.max_tokens,
            c.CALL_PURPOSE: purpose,
            c.CALL_ID: identifier(event.call_id),
        }
        # A query that resumed in the middle of a round has no span of that round.
        outer = self._round or self._query
        span = self._spans.begin(
            f"chat {model}", recorded, outer, attributes, SpanKind.CLIENT
        )
        label = self._models.label(event.model)
        self._calls[event.call_id] = _Call(span, recorded, label, purpose)

    def on_reasoning_started(self, recorded: Recorded[e.ReasoningStarted]) -> None:
        event = recorded.event
        call = self._calls.get(event.call_id)
        if call is None:
            return
        # A reasoner with a name of its own, such as the offline one, answers under it, not under the requested model's.
        call.name = self._models.label(event.reasoner)
        provider = "antiphon" if event.reasoner == "offline" else "anthropic"
        call.span.set_attributes({c.PROVIDER: provider, **self._content(event)})
        if event.request.stream:
            call.span.set_attribute(c.REQUEST_STREAM, True)

    def on_reasoning_retried(self, recorded: Recorded[e.ReasoningRetried]) -> None:
        event = recorded.event
        call = self._calls.get(event.call_id)
        if call is not None:
            call.retries += 1
            call.span.set_attribute(c.RETRIES, call.retries)
            add_moment(call.span, "retried", recorded, {c.ERROR_TYPE: event.why})

    def on_tool_call_streamed(self, recorded: Recorded[e.ToolCallStreamed]) -> None:
        self._note_first(self._calls.get(recorded.event.call_id), recorded.at)

    def on_call_completed(self, recorded: Recorded[Reply]) -> None:
        event = recorded.event
        reply = {
            c.RESPONSE_MODEL: identifier(event.model),
            c.RESPONSE_ID: identifier(event.message_id),
            c.FINISH_REASONS: (finish_reason(event.stop_reason),),
            **self._content(event),
        }
        # Attempts that failed before this reply used tokens too.
        usage = event.usage + event.wasted
        self._end_call(event.call_id, recorded.at, usage, reply)

    def on_call_failed(self, recorded: Recorded[Failure]) -> None:
        event = recorded.event
        reply = {c.FINISH_REASONS: ("error",)}
        self._end_call(event.call_id, recorded.at, event.usage, reply, event.failure)

    def on_tool_requested(self, recorded: Recorded[e.ToolRequested]) -> None:
        call = recorded.event.call
        tool = offered(call.name, self._tools)
        attributes = {
            c.OPERATION: "execute_tool",
            c.TOOL_NAME: tool,
            c.TOOL_TYPE: "function",
            c.TOOL_CALL_ID: identifier(call.id),
            **self._content(recorded.event),
        }
        outer = self._round or self._query
        span = self._spans.begin(f"execute_tool {tool}", recorded, outer, attributes)
        self._tool_calls[call.id] = _Call(span, recorded, tool)

    def on_tool_substituted(self, recorded: Recorded[e.ToolSubstituted]) -> None:
        tool = offered(recorded.event.failed, self._tools)
        self._metrics.increment("antiphon_tool_substitutions", tool)

    def on_tool_succeeded(self, recorded: Recorded[e.ToolSucceeded]) -> None:
        event = recorded.event
        # Before the tool call ends, because its span is the parent of the retrieval's.
        self._show_retrieval(event, recorded.at)
        found = {c.PASSAGES: len(event.passages), **self._content(event)}
        self._end_tool_call(event.tool_call_id, recorded.at, found)

    def on_tool_failed(self, recorded: Recorded[e.ToolFailed]) -> None:
        event = recorded.event
        why = self._content(event)
        self._end_tool_call(event.tool_call_id, recorded.at, why, event.failure)

    def on_breaker_tripped(self, recorded: Recorded[e.BreakerTripped]) -> None:
        limit = {c.LIMIT: recorded.event.limit}
        add_moment(self._query, "breaker_tripped", recorded, limit)

    def on_recovery_started(self, recorded: Recorded[e.RecoveryStarted]) -> None:
        level = {c.LEVEL: recorded.event.level}
        add_moment(self._query, "recovery_started", recorded, level)

    def on_response_assembled(self, recorded: Recorded[e.ResponseAssembled]) -> None:
        event = recorded.event
        reasoner = self._models.label(event.reasoner)
        self._metrics.increment("antiphon_answers", event.confidence, reasoner)
        # A kind counts once an answer, so that the metric gives the share of answers that carry it.
        doubts = sorted({doubt.kind for doubt in event.indicators})
        for kind in doubts:
            self._metrics.increment("antiphon_doubts", identifier(kind))
        if self._query is not None:
            answer = {
                c.CONFIDENCE: event.confidence,
                c.DOUBTS: doubts,
                c.REASONER: identifier(event.reasoner),
            }
            usage = usage_attributes(event.usage + event.summary_usage)
            self._query.set_attributes({**answer, **usage, **self._content(event)})

    def on_query_closed(self, recorded: Recorded[e.QueryClosed]) -> None:
        status = recorded.event.status
        if self._received_at is not None:
            self._metrics.observe(
                "antiphon_query_duration_seconds", recorded.at - self._received_at
            )
        # Abandoned calls may have no outcome, and the SDK never exports a span that does not end.
        for call in (*self._calls.values(), *self._tool_calls.values()):
            end(call.span, recorded.at)
        end(self._round, recorded.at)
        if self._query is not None:
            self._query.set_attribute(c.STATUS, status)
            end(self._query, recorded.at, status if status == "failed" else "")

    def _content(self, event: Event) -> Attributes:
        """Returns the content of an event; none if the settings do not ask for it."""
        return {} if self._redact is None else content_of(self._redact(event))

    def _show_retrieval(self, found: e.ToolSucceeded, at: float) -> None:
        call = self._tool_calls.get(found.tool_call_id)
        if self._redact is None or call is None or not found.passages:
            return
        said = retrieval_of(self._redact(call.asked.event), self._redact(found))
        operation = {c.OPERATION: "retrieval"}
        span = self._spans.begin(
            "retrieval", call.asked, call.span, {**operation, **said}, SpanKind.CLIENT
        )
        end(span, at)

    def _begin_query(self, recorded: Recorded[Event], attributes: Attributes) -> None:
        agent = {c.OPERATION: "invoke_agent", c.AGENT: "antiphon"}
        self._query = self._spans.begin(
            "invoke_agent antiphon", recorded, None, {**agent, **attributes}
        )

    def _note_first(self, call: _Call | None, at: float) -> None:
        if call is None or call.spoke:
            return
        call.spoke = True
        waited_s = max(0.0, at - call.asked.at)
        self._metrics.observe("antiphon_call_first_token_seconds", waited_s, call.name)
        call.span.set_attribute(c.FIRST_CHUNK, waited_s)

    def _end_call(
        self,
        call_id: str,
        at: float,
        usage: Usage,
        reply: Attributes,
        failure: str = "",
    ) -> None:
        call = self._calls.pop(call_id, None)
        if call is None:
            return
        call.span.set_attributes({**reply, **usage_attributes(usage)})
        end(call.span, at, failure)
        outcome = failure or "completed"
        self._metrics.increment("antiphon_calls", call.name, call.purpose, outcome)
        self._metrics.observe(
            "antiphon_call_duration_seconds", at - call.asked.at, call.name
        )
        self._metrics.count_usage(usage, call.name)

    def _end_tool_call(
        self, call_id: str, at: float, attributes: Attributes, failure: str = ""
    ) -> None:
        call = self._tool_calls.pop(call_id, None)
        if call is None:
            return
        call.span.set_attributes(attributes)
        end(call.span, at, failure)
        outcome = failure or "succeeded"
        self._metrics.increment("antiphon_tool_calls", call.name, outcome)
        self._metrics.observe(
            "antiphon_tool_duration_seconds", at - call.asked.at, call.name
        )


RULES: Mapping[type[Event], Callable[[ObservedQuery, Recorded[Any]], None]] = {
    e.QueryReceived: ObservedQuery.on_query_received,
    e.QueryResumed: ObservedQuery.on_query_resumed,
    e.RoundOpened: ObservedQuery.on_round_opened,
    e.ReasoningRequested: ObservedQuery.on_call_requested,
    e.SummaryRequested: ObservedQuery.on_call_requested,
    e.ReasoningStarted: ObservedQuery.on_reasoning_started,
    e.ReasoningRetried: ObservedQuery.on_reasoning_retried,
    e.ToolCallStreamed: ObservedQuery.on_tool_call_streamed,
    e.ReasoningCompleted: ObservedQuery.on_call_completed,
    e.SummaryCompleted: ObservedQuery.on_call_completed,
    e.ReasoningFailed: ObservedQuery.on_call_failed,
    e.SummaryFailed: ObservedQuery.on_call_failed,
    e.ToolRequested: ObservedQuery.on_tool_requested,
    e.ToolSubstituted: ObservedQuery.on_tool_substituted,
    e.ToolSucceeded: ObservedQuery.on_tool_succeeded,
    e.ToolFailed: ObservedQuery.on_tool_failed,
    e.BreakerTripped: ObservedQuery.on_breaker_tripped,
    e.RecoveryStarted: ObservedQuery.on_recovery_started,
    e.ResponseAssembled: ObservedQuery.on_response_assembled,
    e.QueryClosed: ObservedQuery.on_query_closed,
}

COUNTED: Mapping[type[Event], Callable[[Any], tuple[str, ...]]] = {
    e.RoundOpened: lambda _: ("antiphon_rounds",),
    e.ReasoningRetried: lambda event: ("antiphon_call_retries", event.why),
    e.BreakerTripped: lambda event: ("antiphon_breaker_trips", event.limit),
    e.RecoveryStarted: lambda event: ("antiphon_recoveries", event.level),
    e.HandlerFailed: lambda _: ("antiphon_component_failures",),
    e.RecordingFailed: lambda _: ("antiphon_recording_failures",),
    e.SessionStalled: lambda _: ("antiphon_stalls",),
    e.QueryClosed: lambda event: ("antiphon_queries", event.status),
}
"""For events that each add one to a counter: the counter's name and labels."""

_HEARD = tuple(RULES.keys() | COUNTED.keys())
_NAME = f"{ObservedQuery.__name__}.{ObservedQuery.hear.__name__}"
