"""Mends arguments that are nearly right, so that a slip of form does not cost a round; pure.

Only refused arguments come here: valid ones are never read in another way.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator

from antiphon.vocabulary.ports import Json


def lenient_object(text: str) -> Json | None:
    """Reads a JSON object that may have raw line breaks in its strings, or be wrapped in a JSON string.

    Returns:
        None if even this leniently it is not an object.
    """
    try:
        value = json.loads(text, strict=False)
        if isinstance(value, str):
            value = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        return value
    return None


def as_json(value: Json) -> str | None:
    """Writes an object as JSON; returns None if it is nested too deep or holds NaN or an infinity."""
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return None


def mended(given: Json, wrong: Collection[str], schema: Json) -> Json:
    """Returns the arguments with the refused ones mended, as far as their meaning is plain.

    A null or empty optional argument counts as not given. A list may arrive as JSON text, and a single string counts as
    a list of one if the list is of strings.

    Args:
        wrong: The names of the arguments that were refused.
        schema: The tool's own schema.
    """
    arguments: Json = {}
    for name, value in given.items():
        wanted = schema["properties"].get(name)
        if name not in wrong or wanted is None:
            arguments[name] = value
            continue
        lists = _lists(wanted, schema.get("$defs", {}))
        if name not in schema.get("required", ()) and _is_blank(value, bool(lists)):
            continue
        arguments[name] = _mended(value, lists, schema)
    return arguments


def _is_blank(value: object, list_wanted: bool) -> bool:
    return value is None or value == "" or (list_wanted and value == [])


def _mended(value: object, lists: list[Json], schema: Json) -> object:
    """Returns the list that a string means if a list was wanted; any other value unchanged."""
    if not lists or not isinstance(value, str) or not value.strip():
        return value
    try:
        read = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        read = None
    if isinstance(read, list):
        return read
    for each in lists:
        for item in _choices(each.get("items", {}), schema.get("$defs", {})):
            if item.get("type") == "string":
                return [value]
    return value


def _lists(schema: Json, definitions: Json) -> list[Json]:
    """Returns the lists that a schema allows."""
    return [
        each for each in _choices(schema, definitions) if each.get("type") == "array"
    ]


def _choices(schema: Json, definitions: Json) -> Iterator[Json]:
    """Yields a schema, or each of its alternatives."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from _choices(definitions[name], definitions)
    elif "anyOf" in schema:
        for each in schema["anyOf"]:
            yield from _choices(each, definitions)
    else:
        yield schema
