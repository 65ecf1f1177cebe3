"""Spans, and the trace that a query's spans belong to.

They are made in the form in which they are sent; OpenTelemetry's own SDK makes others first, and costs a query more
than a millisecond (docs/decisions/197-spans-as-they-are-sent.md).
"""

from __future__ import annotations

import re
from functools import lru_cache
from random import Random
from typing import Literal, NamedTuple

from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from antiphon.telemetry import conventions as c
from antiphon.telemetry.identifiers import identifier
from antiphon.telemetry.wire import (
    FAILED,
    SPAN_ID_BYTES,
    SPAN_ID_TAG,
    Attributes,
    attribute,
    end_time,
    field,
    moment,
    name_and_kind,
    start_time,
)
from antiphon.vocabulary.caller_trace import caller_trace
from antiphon.vocabulary.events import Event, Recorded

INTERNAL = Span.SpanKind.SPAN_KIND_INTERNAL
CLIENT = Span.SpanKind.SPAN_KIND_CLIENT

Part = Literal["first", "reply", "retries", "sent", "status"]
"""What becomes known of a span after its beginning; when it becomes known anew, the newest holds."""

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
        span_id=found.span_id.to_bytes(SPAN_ID_BYTES, "big"),
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

    Args:
        attributes: Those that are known at its beginning, as `attributes_part` makes them.

    Attributes:
        as_parent: Itself, as its inner spans name it.
    """

    __slots__ = ("_beginning", "_moments", "_parts", "as_parent")

    def __init__(
        self,
        name: str,
        recorded: Recorded[Event],
        parent: SpanParent,
        attributes: bytes,
        kind: Span.SpanKind.ValueType = INTERNAL,
    ) -> None:
        span_id = _RANDOM.getrandbits(8 * SPAN_ID_BYTES).to_bytes(SPAN_ID_BYTES, "big")
        self.as_parent = SpanParent(parent.trace_id, span_id)
        self._beginning = (
            _place(parent),
            SPAN_ID_TAG + span_id,
            name_and_kind(name, kind),
            start_time(recorded.at),
            attributes,
            attribute(c.QUERY_ID, identifier(recorded.query_id)),
            attribute(c.EVENT_SEQ, recorded.seq),
        )
        self._parts: dict[Part, bytes] = {}
        self._moments = b""

    def set(self, part: Part, attributes: bytes) -> None:
        """Adds attributes, in the place of those that the part had before."""
        self._parts[part] = attributes

    def add_moment(
        self, name: str, recorded: Recorded[Event], attributes: Attributes
    ) -> None:
        """Adds what happened at one moment of it."""
        linked = {
            **attributes,
            c.QUERY_ID: identifier(recorded.query_id),
            c.EVENT_SEQ: recorded.seq,
        }
        self._moments += moment(name, recorded.at, linked)

    def end(self, at: float, failure: str = "") -> bytes:
        """Ends it, and returns it as it is sent.

        Args:
            failure: What failed; empty where nothing did.
        """
        parts = [*self._beginning, *self._parts.values(), self._moments, end_time(at)]
        if failure:
            parts += (FAILED, attribute(c.ERROR_TYPE, failure))
        return b"".join(parts)


# Spans that lie within the same one have it in common, and those of a query its trace.
@lru_cache(maxsize=256)
def _place(parent: SpanParent) -> bytes:
    return field(Span.TRACE_ID_FIELD_NUMBER, parent.trace_id) + field(
        Span.PARENT_SPAN_ID_FIELD_NUMBER, parent.span_id
    )
