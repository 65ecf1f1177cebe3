"""Every text in the vocabulary says what it is, so that nothing is redacted, or left alone, by accident."""

from __future__ import annotations

import inspect
from typing import Annotated, Literal, get_type_hints

import msgspec
import pytest

from antiphon.vocabulary import values
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.fields import Id, Mark, Name, Untrusted, leaves_of, marks_of
from antiphon.vocabulary.values import ContentBlock, StoredText, Value

TEXT_MARKS = {Mark.UNTRUSTED, Mark.CONTENT_BLOCK, Mark.JSON, Mark.NAME}


def _values() -> list[type[msgspec.Struct]]:
    return [
        kind
        for _, kind in inspect.getmembers(values, inspect.isclass)
        if issubclass(kind, Value)
    ]


@pytest.mark.parametrize("struct", [*BUILT_IN.events, *_values()])
def test_every_text_of_every_event_and_value_carries_exactly_one_mark_of_its_kind(
    struct: type[msgspec.Struct],
) -> None:
    for name, hint in get_type_hints(struct, include_extras=True).items():
        if name not in struct.__struct_fields__:
            continue
        for leaf in leaves_of(hint):
            if leaf.holds_text:
                assert len(leaf.marks & TEXT_MARKS) == 1, (
                    f"{struct.__name__}.{name}: mark its text"
                )


class Marked(Value, frozen=True, kw_only=True):
    """A value with text in every place where a field may hold some."""

    plain: str
    name: Name
    optional: Untrusted | None = None
    many: tuple[ContentBlock, ...] = ()
    pairs: tuple[tuple[Name, Untrusted], ...] = ()
    one_of_few: Literal["a", "b"] = "a"
    number: int = 0
    both: Annotated[str, Mark.NAME, Mark.FORK] | None = None


def test_marks_are_found_inside_tuples_and_unions() -> None:
    assert marks_of(Marked) == {
        "plain": frozenset(),
        "name": {Mark.NAME},
        "optional": {Mark.UNTRUSTED},
        "many": {Mark.CONTENT_BLOCK},
        "pairs": {Mark.NAME, Mark.UNTRUSTED},
        "one_of_few": frozenset(),
        "number": frozenset(),
        "both": {Mark.NAME, Mark.FORK},
    }


def test_only_what_may_be_any_text_holds_text() -> None:
    kinds = {
        leaf.kind: leaf.holds_text
        for leaf in leaves_of(Literal["a"] | Id | StoredText | Marked | int | None)
    }

    assert kinds == {
        Literal["a"]: False,
        str: True,
        StoredText: True,
        Marked: False,
        int: False,
        type(None): False,
    }
