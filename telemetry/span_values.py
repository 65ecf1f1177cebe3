"""Makes spans of events: their times, tokens, and the trace that a query's spans belong to."""

from __future__ import annotations

import re
from collections.abc import Mapping

from opentelemetry.context import Context
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, SpanKind, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from antiphon.telemetry import conventions as c
from antiphon.telemetry.identifiers import identifier
from antiphon.vocabulary.caller_trace import caller_trace
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Usage

Attributes = Mapping[str, AttributeValue]
NANOSECONDS = 1_000_000_000

_PROPAGATOR = TraceContextTextMapPropagator()
_TRACE_ID = re.compile(r"[0-9a-f]{32}")


class TraceIds(RandomIdGenerator):
    """Gives a query that belongs to no caller's trace its own id as the id of the trace: each leads to the other."""

    def __init__(self) -> None:
        self.next_trace_id: int | None = None

    def generate_trace_id(self) -> int:
        if self.next_trace_id is None:
            return super().generate_trace_id()
        return self.next_trace_id


def caller_context() -> Context | None:
    """Returns where a query belongs: to the caller's trace by its headers, else (None) to whatever is open here."""
    headers = caller_trace.get()
    if headers is None:
        return None
    return _PROPAGATOR.extract(headers)


def trace_id_of(query_id: str) -> int | None:
    """Returns a query's id as the id of a trace, as which most can be read; None for any other."""
    if _TRACE_ID.fullmatch(query_id) is None:
        return None
    return int(query_id, 16) or None


def usage_attributes(usage: Usage) -> dict[str, AttributeValue]:
    """Returns tokens and cost as attributes."""
    attributes: dict[str, AttributeValue] = {
        c.INPUT_TOKENS: usage.all_input_tokens,
        c.OUTPUT_TOKENS: usage.output_tokens,
        c.CACHE_READ_TOKENS: usage.cache_read_tokens,
        c.CACHE_WRITE_TOKENS: usage.cache_write_tokens,
    }
    if usage.cost_usd is not None:
        attributes[c.COST] = usage.cost_usd
    return attributes


def start_span(
    tracer: Tracer,
    name: str,
    recorded: Recorded[Event],
    parent: Span | None,
    attributes: Attributes,
    kind: SpanKind = SpanKind.INTERNAL,
) -> Span:
    """Starts a span with an event, which it names."""
    context = None
    if parent is not None:
        context = set_span_in_context(parent)
    linked = {
        **attributes,
        c.QUERY_ID: identifier(recorded.query_id),
        c.EVENT_SEQ: recorded.seq,
    }
    at = nanoseconds(recorded.at)
    return tracer.start_span(name, context, kind, linked, start_time=at)


def add_moment(
    span: Span, name: str, recorded: Recorded[Event], attributes: Attributes
) -> None:
    """Adds to a span what happened at one moment of it."""
    linked = {**attributes, c.EVENT_SEQ: recorded.seq}
    span.add_event(name, linked, nanoseconds(recorded.at))


def nanoseconds(at: float) -> int:
    """Returns a time as OpenTelemetry wants it."""
    return int(at * NANOSECONDS)
