"""Which tool calls are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from antiphon.vocabulary.tool_calls import (
    MAX_NESTING,
    call_identity,
    nests_too_deep,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('{"a":1}', '  { "a" : 1 }\n'),
        ('{"query":"a","why":"to know"}', '{"query":"a"}'),
        ('{"query":"a","why":"to know"}', '{"why":"to be sure","query":"a"}'),
        ("", "{}"),
        (" \n", "{}"),
        ('{"query":"a","lesson":null}', '{"query":"a"}'),
        ('{"lesson":1}', '{"lesson":1.0}'),
        ('{"lessons":[1,{"number":2}]}', '{"lessons":[1.0,{"number":2.0}]}'),
        ('{"query":"\\u00e9"}', '{"query":"é"}'),
        ('{"query":"a', '{"query":"a'),
    ],
)
def test_calls_that_ask_for_the_same_are_the_same(one: str, other: str) -> None:
    assert call_identity("search", one) == call_identity("search", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"query":"a"', '{"query":"b"'),
        ('{"query":"a"', '{"query":"a"}'),
        ('{"query":"a"', ""),
        ('{"query":"a"}', '{"query":"b"}'),
        ('{"query":"a"}', '{"query":"A"}'),
        ('{"lesson":1}', '{"lesson":"1"}'),
        ('{"lesson":1}', '{"lesson":true}'),
        ('{"lesson":1}', '{"lesson":1.5}'),
        ('{"filter":{"why":"x"}}', '{"filter":{}}'),
        ('{"lessons":[null]}', '{"lessons":[]}'),
        ("[]", "{}"),
        ("null", "{}"),
    ],
)
def test_calls_that_ask_for_something_else_differ(one: str, other: str) -> None:
    assert call_identity("search", one) != call_identity("search", other)


@given(depth=st.integers(0, 2 * MAX_NESTING), objects=st.booleans())
def test_nesting_is_counted_the_same_wherever_it_is_asked_for(
    depth: int, objects: bool
) -> None:
    value: object = "x"
    for _ in range(depth):
        value = [value]
        if objects:
            value = {"x": value.pop()}

    assert nests_too_deep(value, b"[" * 1000) == (depth > MAX_NESTING)


def test_brackets_within_a_text_are_no_nesting() -> None:
    text = "[" * 1000

    assert not nests_too_deep([text], f'["{text}"]'.encode())
