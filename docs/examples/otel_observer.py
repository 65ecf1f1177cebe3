"""An acting subscriber: turns the events of each query into OpenTelemetry spans.

Use it with `ANTIPHON_SUBSCRIBERS=otel_observer:subscriber`, with this file's folder on `PYTHONPATH`; where the spans go
is what your process configures as its tracer provider. One span is made for the query, one for each round, each call of
the model and each tool call; the attributes are those of the conventions for generative AI
(https://opentelemetry.io/docs/specs/semconv/gen-ai/).

It emits nothing, so a query with it has the same trace as one without.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from opentelemetry import trace
from opentelemetry.trace import (
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    set_span_in_context,
)
from opentelemetry.util.types import AttributeValue

from antiphon.vocabulary.events import (
    Event,
    QueryClosed,
    QueryReceived,
    ReasoningCompleted,
    ReasoningFailed,
    ReasoningRequested,
    Recorded,
    ResponseAssembled,
    RoundOpened,
    ToolFailed,
    ToolRequested,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Subscription, on
from antiphon.vocabulary.subscribers import Subscriber, Surroundings

NAME = "otel_observer"
NANOSECONDS = 1_000_000_000

ATTRIBUTES: Mapping[type[Event], Callable[..., Mapping[str, AttributeValue]]] = {
    QueryReceived: lambda event: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "antiphon",
        "gen_ai.conversation.id": event.session_id,
    },
    ResponseAssembled: lambda event: {
        "antiphon.confidence": event.confidence,
        "gen_ai.response.model": event.reasoner,
        "gen_ai.usage.input_tokens": event.usage.all_input_tokens,
        "gen_ai.usage.output_tokens": event.usage.output_tokens,
    },
    QueryClosed: lambda event: {"antiphon.status": event.status},
    RoundOpened: lambda event: {
        "antiphon.round": event.round,
        "antiphon.round.final": event.final,
    },
    ReasoningRequested: lambda event: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": event.model,
        "gen_ai.request.max_tokens": event.max_tokens,
    },
    ReasoningCompleted: lambda event: {
        "gen_ai.response.model": event.model,
        "gen_ai.response.id": event.message_id,
        "gen_ai.response.finish_reasons": (event.stop_reason,),
        "gen_ai.usage.input_tokens": event.usage.all_input_tokens,
        "gen_ai.usage.output_tokens": event.usage.output_tokens,
    },
    ReasoningFailed: lambda event: {"error.type": event.failure},
    ToolRequested: lambda event: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": event.call.name,
        "gen_ai.tool.call.id": event.call.id,
    },
    ToolSucceeded: lambda event: {"antiphon.tool.passages": len(event.passages)},
    ToolFailed: lambda event: {"error.type": event.failure},
}
"""What each event says about its span: no text of a user, a document or a model, for spans leave the process."""


class Observer:
    """Keeps the open spans of one query.

    A query that goes on after an interruption has an observer that never heard its beginning: every handler works
    without the span that it would belong to.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._query: Span | None = None
        self._round: Span | None = None
        self._calls: dict[str, Span] = {}

    def subscriptions(self) -> Sequence[Subscription]:
        """Returns what it hears."""
        return (
            on(QueryReceived, self.on_query_received),
            on(RoundOpened, self.on_round_opened),
            on(ReasoningRequested, self.on_reasoning_requested),
            on(ReasoningCompleted, self.on_call_ended),
            on(ReasoningFailed, self.on_call_failed),
            on(ToolRequested, self.on_tool_requested),
            on(ToolSucceeded, self.on_tool_ended),
            on(ToolFailed, self.on_tool_failed),
            on(ResponseAssembled, self.on_response_assembled),
            on(QueryClosed, self.on_query_closed),
        )

    def on_query_received(self, recorded: Recorded[QueryReceived]) -> None:
        self._query = self._start(
            "invoke_agent antiphon", recorded, None, SpanKind.INTERNAL
        )

    def on_round_opened(self, recorded: Recorded[RoundOpened]) -> None:
        if self._round is not None:
            self._round.end(nanoseconds(recorded))
        self._round = self._start(
            f"round {recorded.event.round}", recorded, self._query, SpanKind.INTERNAL
        )

    def on_reasoning_requested(self, recorded: Recorded[ReasoningRequested]) -> None:
        event = recorded.event
        self._calls[event.call_id] = self._start(
            f"chat {event.model}", recorded, self._round, SpanKind.CLIENT
        )

    def on_call_ended(self, recorded: Recorded[ReasoningCompleted]) -> None:
        self._end(recorded.event.call_id, recorded)

    def on_call_failed(self, recorded: Recorded[ReasoningFailed]) -> None:
        self._end(recorded.event.call_id, recorded, failed=True)

    def on_tool_requested(self, recorded: Recorded[ToolRequested]) -> None:
        call = recorded.event.call
        self._calls[call.id] = self._start(
            f"execute_tool {call.name}", recorded, self._round, SpanKind.INTERNAL
        )

    def on_tool_ended(self, recorded: Recorded[ToolSucceeded]) -> None:
        self._end(recorded.event.tool_call_id, recorded)

    def on_tool_failed(self, recorded: Recorded[ToolFailed]) -> None:
        self._end(recorded.event.tool_call_id, recorded, failed=True)

    def on_response_assembled(self, recorded: Recorded[ResponseAssembled]) -> None:
        if self._query is not None:
            self._query.set_attributes(attributes_of(recorded))

    def on_query_closed(self, recorded: Recorded[QueryClosed]) -> None:
        if self._query is not None:
            self._query.set_attributes(attributes_of(recorded))
        # Calls that were given up may have no outcome; a span that is never ended would never be exported.
        for span in (*self._calls.values(), self._round, self._query):
            if span is not None:
                span.end(nanoseconds(recorded))

    def _start(
        self, name: str, recorded: Recorded[Event], parent: Span | None, kind: SpanKind
    ) -> Span:
        # Without a parent of ours the span belongs to whatever the caller has open, such as an HTTP request.
        context = None if parent is None else set_span_in_context(parent)
        return self._tracer.start_span(
            name,
            context,
            kind,
            attributes_of(recorded),
            start_time=nanoseconds(recorded),
        )

    def _end(
        self, call_id: str, recorded: Recorded[Event], *, failed: bool = False
    ) -> None:
        span = self._calls.pop(call_id, None)
        if span is None:
            return
        span.set_attributes(attributes_of(recorded))
        if failed:
            span.set_status(Status(StatusCode.ERROR))
        span.end(nanoseconds(recorded))


def attributes_of(recorded: Recorded[Event]) -> Mapping[str, AttributeValue]:
    """Returns what the event says about its span."""
    return ATTRIBUTES[type(recorded.event)](recorded.event)


def nanoseconds(recorded: Recorded[Event]) -> int:
    """Returns the event's time as OpenTelemetry wants it; the recorded one, so that spans and trace agree."""
    return int(recorded.at * NANOSECONDS)


def subscriber(tracer: Tracer | None = None) -> Subscriber:
    """Makes the observer; named in `ANTIPHON_SUBSCRIBERS`.

    Args:
        tracer: Makes the spans; None: the one of the process.
    """

    def act(_: Surroundings) -> Sequence[Subscription]:
        return Observer(tracer or trace.get_tracer("antiphon")).subscriptions()

    return Subscriber(name=NAME, act=act)
