"""Spans, and the trace that a query's spans belong to.

They are made in the form in which they are sent; OpenTelemetry's own SDK makes others first, and costs a query more
than a millisecond (docs/decisions/197-spans-as-they-are-sent.md).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from antiphon.telemetry import conventions as c
from antiphon.telemetry.identifiers import identifier
from antiphon.telemetry.wire import AttributeValue, key_value, span_attribute
from antiphon.vocabulary.caller_trace import caller_trace
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import Usage

Attributes = Mapping[str, AttributeValue]
NANOSECONDS = 1_000_000_000

INTERNAL = Span.SpanKind.SPAN_KIND_INTERNAL
CLIENT = Span.SpanKind.SPAN_KIND_CLIENT

_PROPAGATOR = TraceContextTextMapPropagator()
_TRACE_ID = re.compile(r"[0-9a-f]{32}")
# Ids of spans tell them apart and are no secrets; asking the system for each costs more than making it.
_RANDOM = Random()  # no secret


class SpanParent(NamedTuple):
    """The span that another one is part of.

    Attributes:
        span_id: Empty for the outermost span of a trace.
        recorded: False where its owner does not record the trace, and wants no part of it.
    """

    trace_id: bytes
    span_id: bytes = b""
    recorded: bool = True


def caller_parent() -> SpanParent | None:
    """Returns the span that a query belongs to: the caller's by its headers, else one that is open in this process."""
    context = None
    headers = caller_trace.get()
    if headers is not None:
        context = _PROPAGATOR.extract(headers)
    found = get_current_span(context).get_span_context()
    if not found.is_valid:
        return None
    return SpanParent(
        trace_id=found.trace_id.to_bytes(16, "big"),
        span_id=found.span_id.to_bytes(8, "big"),
        recorded=found.trace_flags.sampled,
    )


def own_trace(query_id: str) -> SpanParent:
    """Returns the trace of a query that belongs to no caller's: its id is the query's, so that each leads to the other.

    An id that a caller or an older program chose may have another form.
    """
    if _TRACE_ID.fullmatch(query_id) is None:
        return SpanParent(_RANDOM.randbytes(16))
    return SpanParent(bytes.fromhex(query_id))


class OpenSpan:
    """A span that begins with an event, which it names.

    Attributes:
        as_parent: Itself, as its inner spans name it.
    """

    __slots__ = ("_attributes", "_span", "as_parent")

    def __init__(
        self,
        name: str,
        recorded: Recorded[Event],
        parent: SpanParent,
        attributes: Attributes,
        kind: Span.SpanKind.ValueType = INTERNAL,
    ) -> None:
        self.as_parent = SpanParent(parent.trace_id, _RANDOM.randbytes(8))
        self._span = Span(
            name=name,
            trace_id=parent.trace_id,
            span_id=self.as_parent.span_id,
            parent_span_id=parent.span_id,
            kind=kind,
            start_time_unix_nano=nanoseconds(recorded.at),
        )
        self._attributes = {**attributes, **_link(recorded)}

    def set(self, attributes: Attributes) -> None:
        """Adds attributes; one that is there already is replaced."""
        self._attributes.update(attributes)

    def fail(self, failure: str) -> None:
        """Marks it as failed."""
        self.set({c.ERROR_TYPE: failure})
        self._span.status.code = Status.StatusCode.STATUS_CODE_ERROR

    def add_moment(
        self, name: str, recorded: Recorded[Event], attributes: Attributes
    ) -> None:
        """Adds what happened at one moment of it."""
        moment = self._span.events.add(
            name=name, time_unix_nano=nanoseconds(recorded.at)
        )
        for key, value in {**attributes, **_link(recorded)}.items():
            moment.attributes.append(key_value(key, value))

    def end(self, at: float) -> bytes:
        """Ends it, and returns it as it is sent."""
        self._span.end_time_unix_nano = nanoseconds(at)
        parts = [self._span.SerializeToString()]
        for key, value in self._attributes.items():
            parts.append(span_attribute(key, value))
        return b"".join(parts)


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


def nanoseconds(at: float) -> int:
    """Returns a time as OpenTelemetry wants it."""
    return int(at * NANOSECONDS)


def _link(recorded: Recorded[Event]) -> Attributes:
    return {c.QUERY_ID: identifier(recorded.query_id), c.EVENT_SEQ: recorded.seq}
