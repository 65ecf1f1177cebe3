"""Spans in the bytes in which OTLP sends them.

Serialised parts of a message that follow one another are that message
(https://protobuf.dev/programming-guides/encoding/#last-one-wins), so that an attribute that many spans have is made
once: the same few names and values are nearly all that spans hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from antiphon.telemetry.conventions import SCHEMA_URL, SCOPE
from antiphon.vocabulary.program import program_version

AttributeValue = str | bool | int | float | tuple[str, ...]

_SPAN_ATTRIBUTES = Span.ATTRIBUTES_FIELD_NUMBER
_LENGTH_DELIMITED = 2
_RESOURCE_SPANS_IN_REQUEST = 1


def key_value(key: str, value: AttributeValue) -> KeyValue:
    """Returns one attribute."""
    made = KeyValue(key=key)
    # A bool is an int too.
    if isinstance(value, str):
        made.value.string_value = value
    elif isinstance(value, bool):
        made.value.bool_value = value
    elif isinstance(value, int):
        made.value.int_value = value
    elif isinstance(value, float):
        made.value.double_value = value
    else:
        for each in value:
            made.value.array_value.values.add(string_value=each)
    return made


# Typed, for to a cache True is 1.
@lru_cache(maxsize=2048, typed=True)
def span_attribute(key: str, value: AttributeValue) -> bytes:
    """Returns an attribute as a part of a serialised span."""
    return _field(_SPAN_ATTRIBUTES, key_value(key, value).SerializeToString())


def request_of(spans: Sequence[bytes]) -> bytes:
    """Returns serialised spans as the body of one request (`ExportTraceServiceRequest`)."""
    resource = Resource()
    for name, value in (
        ("service.name", "antiphon"),
        ("service.version", program_version()),
    ):
        resource.attributes.append(key_value(name, value))
    scope = ScopeSpans(
        scope=InstrumentationScope(name=SCOPE, version=program_version()),
        schema_url=SCHEMA_URL,
    )
    parts = [scope.SerializeToString()]
    for span in spans:
        parts.append(_field(ScopeSpans.SPANS_FIELD_NUMBER, span))
    resource_spans = ResourceSpans(resource=resource).SerializeToString() + _field(
        ResourceSpans.SCOPE_SPANS_FIELD_NUMBER, b"".join(parts)
    )
    return _field(_RESOURCE_SPANS_IN_REQUEST, resource_spans)


def _field(number: int, data: bytes) -> bytes:
    """Returns a field of a message that holds bytes or another message."""
    return bytes((number << 3 | _LENGTH_DELIMITED,)) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)
