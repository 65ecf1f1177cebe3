"""Writes docs/events.md, the events and their fields, from their declarations: `python -m tests.house.event_table`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from antiphon.composition import who_hears
from antiphon.vocabulary.catalog import BUILT_IN
from antiphon.vocabulary.events import Event
from antiphon.vocabulary.fields import Mark, leaves_of
from antiphon.vocabulary.values import StoredText

PAGE = Path(__file__).parents[2] / "docs" / "events.md"

HEAD = """# The events

Every step of a query is one of these events, listed in the order in which a query meets them. `python -m
tests.house.event_table` writes this page from vocabulary/events.py, values.py and from the wiring; `make test` fails if
it is out of date. A subscriber may add events of its own. The [fields](#the-fields) of each event follow the table, and
after these the [values](#the-values) that fields are made of.

| event | emitted by | about | requests | settles | heard by | what it says |
|---|---|---|---|---|---|---|
"""


FIELDS = """
## The fields

As JSON has them, within `event` and beside its `kind`. A field that may be missing is missing only in traces that are
older than it, and if a subscriber or the change of a fork leaves it out. The object around every event also has
`query_id`, `seq`, `cause` (the `seq` of the event that led to it; 0 for what came from outside), `at` (seconds since
1970) and `version`.
"""

VALUES = """
## The values

A field whose type is a name below is an object with these fields.
"""

_WORDS: dict[Any, str] = {
    int: "whole number",
    float: "number",
    bool: "true or false",
    NoneType: "null",
}
_OF_TEXTS = {
    Mark.NAME: "name",
    Mark.UNTRUSTED: "text from outside",
    Mark.JSON: "JSON from a model",
    Mark.CONTENT_BLOCK: "JSON of a content block",
}


def page() -> str:
    """Returns the whole page."""
    table = "".join(row_of(kind) for kind in BUILT_IN.events)
    events = "".join(
        fields_of(f"`{kind.kind_name()}`", kind) for kind in BUILT_IN.events
    )
    values = "".join(
        fields_of(kind.__name__, kind) for kind in values_of(BUILT_IN.events)
    )
    return HEAD + table + FIELDS + events + VALUES + values


def values_of(kinds: Iterable[type[msgspec.Struct]]) -> list[type[msgspec.Struct]]:
    """Returns the types of values in the fields of these kinds, and in the fields of such values, by name."""
    found: set[type[msgspec.Struct]] = set()
    waiting = list(kinds)
    while waiting:
        for hint in get_type_hints(waiting.pop(), include_extras=True).values():
            for leaf in leaves_of(hint):
                if (
                    leaf.is_struct
                    and leaf.kind is not StoredText
                    and leaf.kind not in found
                ):
                    found.add(leaf.kind)
                    waiting.append(leaf.kind)
    return sorted(found, key=lambda kind: kind.__name__)


def fields_of(title: str, kind: type[msgspec.Struct]) -> str:
    """Returns the section of one event or value: its fields, their types and their meanings."""
    hints = get_type_hints(kind, include_extras=True)
    meanings = dict(_meanings(kind))
    lines = [f"\n### {title}\n\n"]
    fields = msgspec.structs.fields(kind)
    if not fields:
        return "".join([*lines, "It has no fields.\n"])
    lines.append(
        "| field | type | may be missing | what it says |\n|---|---|---|---|\n"
    )
    for field in fields:
        optional = "" if field.required else "yes"
        says = meanings.get(field.name, "").replace("|", "\\|")
        lines.append(
            f"| `{field.name}` | {_type(hints[field.name])} | {optional} | {says} |\n"
        )
    return "".join(lines)


def _meanings(kind: type[msgspec.Struct]) -> Iterator[tuple[str, str]]:
    """Yields each field with its description in the docstring."""
    _, _, attributes = inspect.cleandoc(kind.__doc__ or "").partition("\nAttributes:\n")
    for entry in re.split(r"\n(?=    \w+: )", f"\n{attributes}"):
        name, colon, says = entry.strip().partition(": ")
        if colon:
            yield name, " ".join(says.split())


def _type(hint: Any, marks: frozenset[Mark] = frozenset()) -> str:
    """Returns a type in the terms of a JSON reader."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        own = {mark for mark in hint.__metadata__ if isinstance(mark, Mark)}
        return _type(hint.__origin__, marks | own)
    if origin in (Union, UnionType):
        return " or ".join(_type(part, marks) for part in parts)
    if origin is tuple:
        items = [_type(part, marks) for part in parts if part is not Ellipsis]
        return (
            f"list of {items[0]}" if Ellipsis in parts else f"list ({', '.join(items)})"
        )
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts)
    if hint in (str, StoredText):
        return _text(hint, marks)
    if hint in _WORDS:
        return _WORDS[hint]
    return f"[{hint.__name__}](#{hint.__name__.lower()})"


def row_of(kind: type[Event]) -> str:
    """Returns the table's row of one event."""
    requests = _listed(kind.kind_name() for kind in BUILT_IN.outcomes.get(kind, ()))
    settles = _listed(settled.request.kind_name() for settled in kind.settles)
    hearers = dict.fromkeys(
        name.partition(".")[0] for heard, name in who_hears() if heard is kind
    )
    says = (kind.__doc__ or "").splitlines()[0]
    cells = [
        f"`{kind.kind_name()}`",
        ", ".join(kind.emitted_by),
        kind.about.kind.replace("_", " "),
        requests,
        settles,
        ", ".join(hearers) or "nobody: it is for the trace and its followers",
        says,
    ]
    return "| " + " | ".join(cells) + " |\n"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _text(hint: Any, marks: frozenset[Mark]) -> str:
    for mark, words in _OF_TEXTS.items():
        # A long text marked as a name is a text of ours, not a name.
        if mark in marks and (hint, mark) != (StoredText, Mark.NAME):
            return words
    return "text"


if __name__ == "__main__":
    PAGE.write_text(page())
