"""Spans in the bytes in which OTLP sends them.

Serialised parts of a message that follow one another are that message
(https://protobuf.dev/programming-guides/encoding/#last-one-wins), so that what many spans have is made once: the same
few names and values are nearly all that spans hold. A message object of the library costs more than its bytes do; a
test holds that both are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from struct import Struct

from opentelemetry.proto.common.v1.common_pb2 import (
    AnyValue,
    ArrayValue,
    InstrumentationScope,
    KeyValue,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import (
    ResourceSpans,
    ScopeSpans,
    Span,
    Status,
)

from antiphon.telemetry.conventions import SCHEMA_URL, SCOPE
from antiphon.vocabulary.program import program_version

AttributeValue = str | bool | int | tuple[str, ...]
Attributes = Mapping[str, AttributeValue]

NANOSECONDS = 1_000_000_000
_VARINT = 0
_FIXED64 = 1
_LENGTH_DELIMITED = 2
"""How a field's value is written (https://protobuf.dev/programming-guides/encoding/#structure)."""
_RESOURCE_SPANS_IN_REQUEST = 1
_BITS_OF_INT = 64


def _tag(number: int, how: int) -> int:
    return number << 3 | how


SPAN_ID_BYTES = 8
SPAN_ID_TAG = bytes((_tag(Span.SPAN_ID_FIELD_NUMBER, _LENGTH_DELIMITED), SPAN_ID_BYTES))
"""What stands before the id of a span."""
_TIME = Struct("<BQ")
_START_TAG = _tag(Span.START_TIME_UNIX_NANO_FIELD_NUMBER, _FIXED64)
_END_TAG = _tag(Span.END_TIME_UNIX_NANO_FIELD_NUMBER, _FIXED64)
_SPAN_TAG = bytes((_tag(ScopeSpans.SPANS_FIELD_NUMBER, _LENGTH_DELIMITED),))
_DOUBLE = Struct("<Bd")
_DOUBLE_TAG = _tag(AnyValue.DOUBLE_VALUE_FIELD_NUMBER, _FIXED64)


def attributes_part(attributes: Attributes) -> bytes:
    """Returns attributes as a part of a serialised span."""
    return b"".join([attribute(key, value) for key, value in attributes.items()])


def fraction(key: str, value: float) -> bytes:
    """Returns an attribute that is a time or a price as a part of a serialised span: hardly any comes twice."""
    return _before_double(key) + _DOUBLE.pack(_DOUBLE_TAG, value)


# Typed, for to a cache True is 1.
@lru_cache(maxsize=2048, typed=True)
def attribute(key: str, value: AttributeValue) -> bytes:
    """Returns one attribute as a part of a serialised span."""
    pair = _key(key) + field(KeyValue.VALUE_FIELD_NUMBER, _any_value(value))
    return field(Span.ATTRIBUTES_FIELD_NUMBER, pair)


@lru_cache
def _before_double(key: str) -> bytes:
    """Returns an attribute that is a number with a fraction, up to that number."""
    number = _DOUBLE.pack(_DOUBLE_TAG, 0.0)
    pair = _key(key) + field(KeyValue.VALUE_FIELD_NUMBER, number)
    return field(Span.ATTRIBUTES_FIELD_NUMBER, pair)[: -len(number)]


@lru_cache
def _key(key: str) -> bytes:
    return field(KeyValue.KEY_FIELD_NUMBER, key.encode())


def _any_value(value: AttributeValue) -> bytes:
    if isinstance(value, str):
        return field(AnyValue.STRING_VALUE_FIELD_NUMBER, value.encode())
    # A bool is an int too.
    if isinstance(value, bool):
        return number_field(AnyValue.BOOL_VALUE_FIELD_NUMBER, int(value))
    if isinstance(value, int):
        return number_field(AnyValue.INT_VALUE_FIELD_NUMBER, value)
    texts = [field(ArrayValue.VALUES_FIELD_NUMBER, _any_value(text)) for text in value]
    return field(AnyValue.ARRAY_VALUE_FIELD_NUMBER, b"".join(texts))


@lru_cache
def name_and_kind(name: str, kind: int) -> bytes:
    """Returns the name of a span and its kind as a part of it."""
    return field(Span.NAME_FIELD_NUMBER, name.encode()) + number_field(
        Span.KIND_FIELD_NUMBER, kind
    )


def start_time(at: float) -> bytes:
    """Returns the time of its start as a part of a span."""
    return _TIME.pack(_START_TAG, int(at * NANOSECONDS))


def end_time(at: float) -> bytes:
    """Returns the time of its end as a part of a span."""
    return _TIME.pack(_END_TAG, int(at * NANOSECONDS))


def moment(name: str, at: float, attributes: Attributes) -> bytes:
    """Returns what happened at one moment as a part of a span."""
    # The attributes of a moment are no fields of a span, and moments are rare: by the library.
    event = Span.Event(name=name, time_unix_nano=int(at * NANOSECONDS))
    event.attributes.extend(Span.FromString(attributes_part(attributes)).attributes)
    return field(Span.EVENTS_FIELD_NUMBER, event.SerializeToString())


FAILED = Span(
    status=Status(code=Status.StatusCode.STATUS_CODE_ERROR)
).SerializeToString()
"""The status of a span that failed, as a part of it."""


def request_of(spans: Sequence[bytes]) -> bytes:
    """Returns serialised spans as the body of one request (`ExportTraceServiceRequest`)."""
    parts = [_scope()]
    for span in spans:
        parts += (_SPAN_TAG, _varint(len(span)), span)
    resource_spans = _resource() + field(
        ResourceSpans.SCOPE_SPANS_FIELD_NUMBER, b"".join(parts)
    )
    return field(_RESOURCE_SPANS_IN_REQUEST, resource_spans)


@lru_cache
def _scope() -> bytes:
    scope = InstrumentationScope(name=SCOPE, version=program_version())
    spans = ScopeSpans(scope=scope, schema_url=SCHEMA_URL)
    serialised: bytes = spans.SerializeToString()
    return serialised


@lru_cache
def _resource() -> bytes:
    about = {"service.name": "antiphon", "service.version": program_version()}
    resource = Resource()
    resource.attributes.extend(Span.FromString(attributes_part(about)).attributes)
    serialised: bytes = ResourceSpans(resource=resource).SerializeToString()
    return serialised


def field(number: int, data: bytes) -> bytes:
    """Returns a field of a message that holds text, bytes or another message."""
    return bytes((_tag(number, _LENGTH_DELIMITED),)) + _varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    """Returns a field of a message that holds a whole number."""
    return bytes((_tag(number, _VARINT),)) + _varint(value)


# Nearly all are lengths, below a thousand.
@lru_cache(maxsize=2048)
def _varint(number: int) -> bytes:
    digits = bytearray()
    # A negative number is written as the 64 bits that hold it.
    left = number % (1 << _BITS_OF_INT)
    while left > 0x7F:
        digits.append(left & 0x7F | 0x80)
        left >>= 7
    digits.append(left)
    return bytes(digits)
