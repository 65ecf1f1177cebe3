"""Hypothesis strategies for every event and value, built from their fields."""

from __future__ import annotations

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from hypothesis import strategies as st

from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event, Recorded
from antiphon.vocabulary.values import StoredText

_SIMPLE: dict[object, st.SearchStrategy[Any]] = {
    str: st.text(max_size=40),
    int: st.integers(min_value=-(2**63), max_value=2**63 - 1),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    NoneType: st.none(),
    # Stores keep short texts in place and long ones apart: draw from both sides of the limit.
    StoredText: st.one_of(
        st.text(max_size=20),
        st.text(min_size=1, max_size=9).map(lambda text: text * 30),
    ).map(StoredText),
}


@cache
def values(kind: Any) -> st.SearchStrategy[Any]:
    """Values of a type that occurs in fields of the vocabulary."""
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        return st.builds(kind, **{field.name: values(field.type) for field in fields})
    return _of_parts(get_origin(kind), get_args(kind))


def _of_parts(origin: Any, parts: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if origin is Annotated:
        return values(parts[0])
    if origin is Literal:
        return st.sampled_from(parts)
    if origin in (Union, UnionType):
        return st.one_of(*(values(part) for part in parts))
    if origin is tuple and parts[-1] is Ellipsis:
        return st.lists(values(parts[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(values(part) for part in parts))
    raise NotImplementedError(
        f"no strategy for {origin}[{parts}]: add it to tests/strategies.py"
    )


def recorded(kind: Any) -> st.SearchStrategy[Recorded[Any]]:
    """Events of one kind, with a place in a trace."""
    return st.builds(
        Recorded,
        query_id=st.text(min_size=1, max_size=20),
        seq=st.integers(min_value=1, max_value=10_000),
        cause=st.integers(min_value=0, max_value=10_000),
        at=st.floats(min_value=0, max_value=1e10),
        event=values(kind),
    )


EVENT_KINDS: tuple[type[Event], ...] = BUILT_IN.events
"""Every kind of event."""
