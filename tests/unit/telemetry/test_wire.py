"""Spans put together from bytes are the messages that the protocol's own library makes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from antiphon.telemetry.span_values import CLIENT, OpenSpan, SpanParent
from antiphon.telemetry.wire import (
    AttributeValue,
    attribute,
    attributes_part,
    fraction,
    number_field,
)
from antiphon.vocabulary.events import QueryClosed, Recorded

TEXTS = st.text(max_size=300)
KEYS = st.text(min_size=1, max_size=200)
WHOLE = st.integers(-(2**63), 2**63 - 1)
VALUES = TEXTS | st.booleans() | WHOLE | st.lists(TEXTS, max_size=4).map(tuple)


def by_the_library(key: str, value: AttributeValue) -> KeyValue:
    made = KeyValue(key=key)
    if isinstance(value, bool):
        made.value.bool_value = value
    elif isinstance(value, int):
        made.value.int_value = value
    elif isinstance(value, str):
        made.value.string_value = value
    else:
        made.value.array_value.SetInParent()
        for text in value:
            made.value.array_value.values.add(string_value=text)
    return made


@given(KEYS, VALUES)
def test_an_attribute_is_the_librarys(key: str, value: AttributeValue) -> None:
    expected = Span(attributes=[by_the_library(key, value)])

    assert attribute(key, value) == expected.SerializeToString()


@given(KEYS, st.floats(allow_nan=False))
def test_a_fraction_is_the_librarys(key: str, value: float) -> None:
    expected = KeyValue(key=key)
    expected.value.double_value = value

    found = fraction(key, value)

    assert found == Span(attributes=[expected]).SerializeToString()


@given(st.integers(1, 15), st.integers(0, 2**63 - 1))
def test_a_whole_number_is_read_as_it_was_written(number: int, value: int) -> None:
    # An unknown field is kept by the library, and written as it came.
    written = number_field(number, value)
    digits = written[1:]
    read = sum((digit & 0x7F) << (7 * at) for at, digit in enumerate(digits))

    assert (written[0] >> 3, written[0] & 7) == (number, 0)
    assert read == value


def test_true_is_not_one_however_often_both_are_asked_for() -> None:
    for _ in range(2):
        assert attribute("a", True) != attribute("a", 1)


def test_a_span_is_read_as_it_was_made() -> None:
    recorded = Recorded(
        query_id="q1", seq=7, cause=0, at=12.5, event=QueryClosed(status="failed")
    )
    parent = SpanParent(bytes(range(16)), b"12345678")

    span = OpenSpan("chat m", recorded, parent, attributes_part({"a": "b"}), CLIENT)
    span.set("retries", attribute("retries", 1))
    span.set("retries", attribute("retries", 2))
    span.add_moment("retried", recorded, {"why": "timeout"})
    read = Span.FromString(span.end(14.0, "timeout"))

    assert (read.trace_id, read.parent_span_id) == (parent.trace_id, parent.span_id)
    assert read.span_id == span.as_parent.span_id
    assert (read.name, read.kind) == ("chat m", CLIENT)
    assert (read.start_time_unix_nano, read.end_time_unix_nano) == (
        12_500_000_000,
        14_000_000_000,
    )
    assert read.status.code == Status.StatusCode.STATUS_CODE_ERROR
    found = {each.key: each.value for each in read.attributes}
    assert len(read.attributes) == len(found) == 5
    assert (found["a"].string_value, found["retries"].int_value) == ("b", 2)
    assert found["antiphon.event.seq"].int_value == 7
    assert found["error.type"].string_value == "timeout"
    [moment] = read.events
    assert (moment.name, moment.time_unix_nano) == ("retried", 12_500_000_000)
    assert {each.key for each in moment.attributes} == {
        "why",
        "antiphon.query.id",
        "antiphon.event.seq",
    }
