"""The schema of a strict tool: the part of JSON Schema with which the Messages API constrains the model's output.

The API refuses a request whose strict tool has any other keyword
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs). As in the SDK's own helper, a bound that
cannot be enforced goes into the description; the function's types check the arguments against all bounds.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NoReturn

from antiphon.vocabulary.errors import ToolDefinitionError
from antiphon.vocabulary.ports import Json

_CHOICES = frozenset(("anyOf", "oneOf", "allOf"))
_KEPT = _CHOICES | frozenset(
    ("type", "enum", "const", "items", "properties", "required", "description")
)
_DROPPED = frozenset(("title", "discriminator", "additionalProperties"))
"""A title means nothing to a language model; every object is closed in any case."""
_FORMATS = frozenset((
    "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid",
))  # fmt: skip
_ENFORCED_ITEMS = (0, 1)
"""The values of `minItems` that strict use enforces."""
_RANGES = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
"""Pairs of keywords for a lower and an upper bound, and the unit that they count."""
_WORDS = {
    "exclusiveMinimum": "More than {}.",
    "exclusiveMaximum": "Less than {}.",
    "multipleOf": "A multiple of {}.",
    "pattern": "It matches the regular expression {}.",
    "format": "In the format {}.",
    "default": "Where it is left out: {}.",
}
"""Other keywords that are not enforced, in words; of any keyword not listed here, its name and value."""


def strict_schema(schema: Json, origin: str) -> Json:
    """Returns a tool's schema without the keywords that strict use refuses; bounds go into the descriptions.

    Args:
        origin: The place of the tool's function, for messages to its author.

    Raises:
        ToolDefinitionError: A parameter's type cannot be constrained; the message says what to change.
    """
    definitions = schema.get("$defs", {})
    properties: Json = {}
    for name, each in schema["properties"].items():
        where = f"Tool {origin} is strict, but {name}"
        properties[name] = _Parameter(where, definitions).strict(each)
    strict = {**schema, "properties": properties}
    # Each reference has been replaced by its definition.
    strict.pop("$defs", None)
    return strict


class _Parameter:
    """Converts one parameter's schema into the part of JSON Schema that strict use knows."""

    def __init__(self, where: str, definitions: Json) -> None:
        self._where = where
        self._definitions = definitions

    def strict(self, schema: Json, within: tuple[str, ...] = ()) -> Json:
        """Returns a schema as strict use accepts it.

        Args:
            within: The references that led here.
        """
        if "$ref" in schema:
            return self._defined(schema, within)
        self._check(schema)
        strict: Json = {}
        for keyword, value in schema.items():
            if _is_kept(keyword, value):
                # Strict use has no `oneOf`; for generating a value, any one of the choices is as good.
                kept = "anyOf" if keyword == "oneOf" else keyword
                strict[kept] = self._part(keyword, value, within)
        if schema.get("type") == "object":
            strict["additionalProperties"] = False
        return _described(strict, _in_words(schema))

    def _part(self, keyword: str, value: Any, within: tuple[str, ...]) -> Any:
        """Returns the value of a keyword, with the schemas in it converted."""
        if keyword in _CHOICES:
            return [self.strict(each, within) for each in value]
        if keyword == "items":
            return self.strict(value, within)
        if keyword == "properties":
            return {name: self.strict(each, within) for name, each in value.items()}
        return value

    def _defined(self, schema: Json, within: tuple[str, ...]) -> Json:
        """Replaces a reference by its definition, with the keywords beside the reference added."""
        reference = schema["$ref"]
        if reference in within:
            self._refuse("is of a type that holds itself; write out how deep it goes")
        definition = self._definitions[reference.removeprefix("#/$defs/")]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return self.strict({**definition, **beside}, (*within, reference))

    def _check(self, schema: Json) -> None:
        """Refuses a schema that strict use cannot constrain."""
        kind = schema.get("type")
        open_object = schema.get("additionalProperties") or "properties" not in schema
        if kind == "object" and open_object:
            self._refuse("takes an object with any keys; name them in a pydantic model")
        if kind == "array" and "items" not in schema:
            self._refuse(
                "takes a list of anything, or a tuple; write a list of one type"
            )
        if not schema.keys() & {"type", "enum", "const", "anyOf", "oneOf", "allOf"}:
            self._refuse("takes anything; give it a type")
        if any(isinstance(value, (list, dict)) for value in schema.get("enum", ())):
            self._refuse("is one of several lists or objects; name them by strings")

    def _refuse(self, why: str) -> NoReturn:
        raise ToolDefinitionError(f"{self._where} {why}, or make the tool not strict.")


def _is_kept(keyword: str, value: object) -> bool:
    if keyword == "format":
        return value in _FORMATS
    if keyword == "minItems":
        return value in _ENFORCED_ITEMS
    return keyword in _KEPT


def _described(strict: Json, bounds: Sequence[str]) -> Json:
    """Returns the schema with its bounds appended to its description."""
    if not bounds:
        return strict
    described = strict.get("description", "")
    return {**strict, "description": " ".join([described, *bounds]).strip()}


def _in_words(schema: Json) -> list[str]:
    """Returns a sentence for each demand of a schema that strict use does not enforce."""
    left = {
        keyword: value
        for keyword, value in schema.items()
        if keyword not in _DROPPED and not _is_kept(keyword, value)
    }
    words = []
    for lower, upper, counted in _RANGES:
        low, high = left.pop(lower, None), left.pop(upper, None)
        if low is not None and high is not None:
            words.append(f"{low:,} to {high:,}{counted}.")
        elif low is not None:
            words.append(f"At least {low:,}{counted}.")
        elif high is not None:
            words.append(f"At most {high:,}{counted}.")
    for keyword, value in left.items():
        form = _WORDS.get(keyword, f"{keyword}: {{}}.")
        words.append(form.format(_written(value)))
    return words


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
