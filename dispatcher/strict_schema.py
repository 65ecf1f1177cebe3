"""The schema of a strict tool: the part of JSON Schema by which the Messages API constrains what the model writes.

It refuses a request whose strict tool has any other keyword
(https://platform.claude.com/docs/en/build-with-claude/structured-outputs). As in the SDK's own helper, a bound that
cannot be enforced is told in the description; what comes in is checked by the function's types, with all bounds.
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
"""A title means nothing to a language model; every object is closed, whatever its type says."""
_FORMATS = frozenset((
    "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid",
))  # fmt: skip
_ENFORCED_ITEMS = (0, 1)
"""The least numbers of items that are enforced."""
_RANGES = (
    ("minimum", "maximum", ""),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " items"),
)
"""Keywords of which one is a lower and one an upper bound, and what they count."""
_WORDS = {
    "exclusiveMinimum": "More than {}.",
    "exclusiveMaximum": "Less than {}.",
    "multipleOf": "A multiple of {}.",
    "pattern": "It matches the regular expression {}.",
    "format": "In the format {}.",
    "default": "Where it is left out: {}.",
}
"""Other keywords that are not enforced, in words; of one that is nowhere here, name and value are told."""


def strict_schema(schema: Json, origin: str) -> Json:
    """Returns a tool's schema without what strict use refuses; bounds go into the descriptions.

    Args:
        origin: The place of the tool's function, for its author.

    Raises:
        ToolDefinitionError: A parameter's type cannot be constrained; the message says what to change.
    """
    definitions = schema.get("$defs", {})
    properties: Json = {}
    for name, each in schema["properties"].items():
        where = f"Tool {origin} is strict, but {name}"
        properties[name] = _Parameter(where, definitions).strict(each)
    strict = {**schema, "properties": properties}
    # Each definition now is where it was referred to.
    strict.pop("$defs", None)
    return strict


class _Parameter:
    """One parameter's schema, on its way into the part that strict use knows."""

    def __init__(self, where: str, definitions: Json) -> None:
        self._where = where
        self._definitions = definitions

    def strict(self, schema: Json, within: tuple[str, ...] = ()) -> Json:
        """Returns a schema as strict use takes it.

        Args:
            within: The references that led here.
        """
        if "$ref" in schema:
            return self._defined(schema, within)
        self._check(schema)
        strict: Json = {}
        for keyword, value in schema.items():
            if _is_kept(keyword, value):
                # If exactly one may fit, one that fits is as good.
                kept = "anyOf" if keyword == "oneOf" else keyword
                strict[kept] = self._part(keyword, value, within)
        if schema.get("type") == "object":
            strict["additionalProperties"] = False
        return _described(strict, _in_words(schema))

    def _part(self, keyword: str, value: Any, within: tuple[str, ...]) -> Any:
        """Returns what is under a keyword, with the schemas in it as strict use takes them."""
        if keyword in _CHOICES:
            return [self.strict(each, within) for each in value]
        if keyword == "items":
            return self.strict(value, within)
        if keyword == "properties":
            return {name: self.strict(each, within) for name, each in value.items()}
        return value

    def _defined(self, schema: Json, within: tuple[str, ...]) -> Json:
        """Puts the definition in the place of a reference to it, with what is said beside the reference."""
        reference = schema["$ref"]
        if reference in within:
            self._refuse("is of a type that holds itself; write out how deep it goes")
        definition = self._definitions[reference.removeprefix("#/$defs/")]
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        return self.strict({**definition, **beside}, (*within, reference))

    def _check(self, schema: Json) -> None:
        """Refuses what cannot be constrained."""
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
    """Returns the schema with its bounds behind its description."""
    if not bounds:
        return strict
    described = strict.get("description", "")
    return {**strict, "description": " ".join([described, *bounds]).strip()}


def _in_words(schema: Json) -> list[str]:
    """Says in a sentence each what a schema demands that strict use does not enforce."""
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
