"""Spans of one query by the tracer of OpenTelemetry's SDK, each linked to the event that begins it."""

from __future__ import annotations

from collections.abc import Mapping

from opentelemetry.context import Context, get_current
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from antiphon.telemetry import conventions as c
from antiphon.telemetry.exporting import current_query
from antiphon.telemetry.identifiers import identifier
from antiphon.vocabulary.caller_trace import caller_trace
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Usage

Attributes = Mapping[str, AttributeValue]
NANOSECONDS = 1_000_000_000

FINISHES = {"end_turn": "stop", "max_tokens": "length", "tool_use": "tool_call"}
"""The conventions' names for the stop reasons of the Messages API."""

_PROPAGATOR = TraceContextTextMapPropagator()


class Spans:
    """Begins the spans of one query; constructed in the context of its caller."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        # Read here, because handlers of the query's events run in other contexts.
        self._caller = _callers_context()

    def begin(
        self,
        name: str,
        recorded: Recorded[Event],
        outer: Span | None,
        attributes: Attributes,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        """Begins a span at an event.

        Args:
            outer: The parent span; None: it is the query's outermost span.
        """
        # The SDK asks for the trace's id while it starts the span.
        current_query.set(recorded.query_id)
        return self._tracer.start_span(
            name,
            self._caller if outer is None else set_span_in_context(outer),
            kind,
            {**attributes, **_link_to(recorded)},
            start_time=_nanoseconds(recorded.at),
        )


def add_moment(
    span: Span | None, name: str, recorded: Recorded[Event], attributes: Attributes
) -> None:
    """Adds an event to a span, if there is one."""
    if span is not None:
        at = _nanoseconds(recorded.at)
        span.add_event(name, {**attributes, **_link_to(recorded)}, at)


def end(span: Span | None, at: float, failure: str = "") -> None:
    """Ends a span, if there is one.

    Args:
        failure: What failed; empty if nothing did.
    """
    if span is None:
        return
    if failure:
        span.set_status(StatusCode.ERROR)
        span.set_attribute(c.ERROR_TYPE, failure)
    span.end(_nanoseconds(at))


def usage_attributes(usage: Usage) -> Attributes:
    """Returns the token counts that are not zero, and the cost if it is known."""
    tokens = {
        c.INPUT_TOKENS: usage.all_input_tokens,
        c.OUTPUT_TOKENS: usage.output_tokens,
        c.CACHE_READ_TOKENS: usage.cache_read_tokens,
        c.CACHE_WRITE_TOKENS: usage.cache_write_tokens,
        # Phoenix and Langfuse know cache writes, which cost more than other input, only by their old name.
        c.CACHE_CREATION_TOKENS: usage.cache_write_tokens,
    }
    used = {name: count for name, count in tokens.items() if count}
    return used if usage.cost_usd is None else {**used, c.COST: usage.cost_usd}


def finish_reason(stop_reason: str) -> str:
    """Returns why a reply ended, in the conventions' words; a reason that they have no word for stays as it is."""
    return FINISHES.get(stop_reason, identifier(stop_reason))


def _callers_context() -> Context:
    """Returns the parent of a query's first span: the caller's span by its headers, else one open in this process."""
    headers = caller_trace.get()
    if headers is None:
        return get_current()
    # The caller's `tracestate` is left out, because it may hold any text.
    carrier = {"traceparent": headers.get("traceparent", "")}
    return _PROPAGATOR.extract(carrier, Context())


def _link_to(recorded: Recorded[Event]) -> Attributes:
    return {c.QUERY_ID: identifier(recorded.query_id), c.EVENT_SEQ: recorded.seq}


def _nanoseconds(at: float) -> int:
    return int(at * NANOSECONDS)
