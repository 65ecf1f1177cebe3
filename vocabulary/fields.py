"""Marks on the fields of events and values: declared at the field, read by everything that treats such fields alike.

Redaction, comparison and packing derive what they do from these marks. A text without a mark counts as untrusted, so
that a field which somebody forgot to mark is redacted rather than leaked.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import msgspec


class Mark(enum.Enum):
    """One fact about a field."""

    UNTRUSTED = (
        "text from outside: a caller, a document, a tool, a model or an error of theirs"
    )
    CONTENT_BLOCK = (
        "the JSON of a content block: its contents are untrusted, its structure is not"
    )
    JSON = "JSON written by a model: every value and every name in it is untrusted"
    NAME = "a name or an id that tells things apart; changing it would separate what belongs together"
    MEASURED = "depends on when the query ran, and who read along: a time, or how a reply was asked for"
    SEQ = "the place of an event in its trace"
    RUN = "an id that is new in every run: never the same twice"
    FORK = "says only that the trace is a fork, and of which"


Untrusted = Annotated[str, Mark.UNTRUSTED]
JsonText = Annotated[str, Mark.JSON]
Name = Annotated[str, Mark.NAME]
Id = Annotated[str, Mark.NAME]
RunId = Annotated[str, Mark.NAME, Mark.RUN]
Measured = Annotated[float, Mark.MEASURED]
Seq = Annotated[int, Mark.SEQ]


class Leaf(NamedTuple):
    """One of the types that a field is made of, with the marks on it."""

    kind: Any
    marks: frozenset[Mark]

    @property
    def is_struct(self) -> bool:
        """True for an event or value."""
        return isinstance(self.kind, type) and issubclass(self.kind, msgspec.Struct)

    @property
    def holds_text(self) -> bool:
        """True if it can be any text: not for a struct, a number, or one of a few constants."""
        return (
            not self.is_struct
            and self.kind not in _NUMBERS
            and get_origin(self.kind) is not Literal
        )


_NUMBERS = (int, float, bool, NoneType)


def leaves_of(hint: Any) -> tuple[Leaf, ...]:
    """Returns the types that a field's annotation is made of, those inside `tuple[…]` and `… | None` included."""
    return tuple(_leaves(hint, frozenset()))


def marks_of(struct: type[msgspec.Struct]) -> dict[str, frozenset[Mark]]:
    """Returns the marks of each field of an event or value, those inside `tuple[…]` and `… | None` included."""
    hints = get_type_hints(struct, include_extras=True)
    return {name: _marks_in(hints[name]) for name in struct.__struct_fields__}


def _marks_in(hint: Any) -> frozenset[Mark]:
    # The marks of all its leaves: a text inside a tuple or beside None is as untrusted as one by itself.
    return frozenset().union(*(leaf.marks for leaf in leaves_of(hint)))


def _leaves(hint: Any, outer: frozenset[Mark]) -> Iterator[Leaf]:
    if get_origin(hint) is Annotated:
        marks = {mark for mark in hint.__metadata__ if isinstance(mark, Mark)}
        yield from _leaves(hint.__origin__, outer | marks)
    elif get_origin(hint) in (tuple, Union, UnionType):
        for part in get_args(hint):
            # `tuple[X, ...]` is made of X alone.
            if part is not Ellipsis:
                yield from _leaves(part, outer)
    else:
        yield Leaf(hint, outer)
