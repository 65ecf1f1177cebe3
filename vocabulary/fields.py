"""Marks on the fields of events and values: declared at the field, read by everything that treats such fields alike.

Redaction, comparison and packing derive what they do from these marks. A text without a mark counts as untrusted, so
that a field which somebody forgot to mark is redacted rather than leaked.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_type_hints

import msgspec


class Mark(enum.Enum):
    """One fact about a field."""

    UNTRUSTED = "text from outside: a caller, a document, a tool, a model or an error of theirs"
    CONTENT_BLOCK = "the JSON of a content block: what stands in it is untrusted, what holds it together is not"
    JSON = "JSON written by a model: every value and every name in it is untrusted"
    NAME = "a name or an id by which things are told apart; changing it would take apart what belongs together"
    MEASURED = "a time that depends on when the query ran: never the same twice"
    SEQ = "the place of an event in its trace"
    FORK = "says only that the trace is a fork, and of which"


Untrusted = Annotated[str, Mark.UNTRUSTED]
JsonText = Annotated[str, Mark.JSON]
Name = Annotated[str, Mark.NAME]
Id = Annotated[str, Mark.NAME]
Measured = Annotated[float, Mark.MEASURED]
Seq = Annotated[int, Mark.SEQ]


def marks_of(struct: type[msgspec.Struct]) -> dict[str, frozenset[Mark]]:
    """Returns the marks of each field of an event or value, those inside `tuple[…]` and `… | None` included."""
    hints = get_type_hints(struct, include_extras=True)
    return {name: frozenset(_marks_in(hints[name])) for name in struct.__struct_fields__}


def _marks_in(hint: Any) -> Iterator[Mark]:
    for argument in get_args(hint):
        if isinstance(argument, Mark):
            yield argument
        else:
            yield from _marks_in(argument)
    for mark in getattr(hint, "__metadata__", ()):
        if isinstance(mark, Mark):
            yield mark
