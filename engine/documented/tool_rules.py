"""The rules of refusal for the tools' JSON schemas; pure. Each yields the message of each refusal."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.engine.documented.request import DocumentedRequest
from antiphon.vocabulary.ports import Json

MOST_STRICT, MOST_OPTIONAL, MOST_UNIONS = 20, 24, 16
_UNSUPPORTED = (
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    *("minLength", "maxLength", "maxItems"),
)
_TYPES = {
    "string": str,
    "integer": int,
    "boolean": bool,
    "array": list,
    "object": dict,
    "null": type(None),
}
"""The JSON types that match one Python type; values of all others count as fitting."""


def strict_tools(asked: DocumentedRequest) -> Iterator[str]:
    """Refuses strict tools with schemas outside the supported part of JSON Schema, and too many strict tools."""
    strict = [tool for tool in asked.tools if tool.get("strict")]
    optional = unions = 0
    for tool in strict:
        schema: Json = tool.get("input_schema", {})
        for part in _parts(schema, schema.get("$defs", {}), ("#",)):
            for fault in _faults(part):
                yield f"tools.{tool.get('name')}.input_schema: {fault}"
            required = part.get("required", ())
            optional += len(part.get("properties", {}).keys() - {*required})
            unions += "anyOf" in part or isinstance(part.get("type"), list)
    for count, most, what in (
        (len(strict), MOST_STRICT, "strict tools"),
        (optional, MOST_OPTIONAL, "optional parameters of strict tools"),
        (unions, MOST_UNIONS, "union types in strict tools"),
    ):
        if count > most:
            yield f"tools: a request may have at most {most} {what}, found {count}"


def _parts(schema: Json, definitions: Json, within: tuple[str, ...]) -> Iterator[Json]:
    """Yields a schema and all schemas within it, following references, but yields a recursive reference itself."""
    reference = _reference(schema)
    if reference in within:
        yield schema
        return
    if reference:
        within = (*within, reference)
        schema = definitions.get(reference, {})
    yield schema
    inner = [*schema.get("properties", {}).values(), schema.get("items")]
    for choices in ("anyOf", "oneOf", "allOf"):
        inner += schema.get(choices, ())
    for part in inner:
        if isinstance(part, dict):
            yield from _parts(part, definitions, within)


def _faults(part: Json) -> Iterator[str]:
    if "$ref" in part:
        yield "recursive schemas are not supported"
    for word in _UNSUPPORTED:
        if word in part:
            yield f"property '{word}' is not supported"
    if part.get("minItems", 0) > 1:
        yield "'minItems' supports only the values 0 and 1"
    if part.get("type") == "object" and part.get("additionalProperties") is not False:
        yield "'additionalProperties' must be explicitly set to false"


def input_examples(asked: DocumentedRequest) -> Iterator[str]:
    """Refuses examples that do not fit their tool's schema in the names and types of arguments."""
    for tool in asked.tools:
        schema: Json = tool.get("input_schema", {})
        for example in tool.get("input_examples", ()):
            for misfit in _misfits(example, schema):
                yield f"tools.{tool.get('name')}.input_examples: {misfit}"


def _misfits(example: Json, schema: Json) -> Iterator[str]:
    properties = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in example:
            yield f"{name!r} is a required property"
    for name, value in example.items():
        if name not in properties:
            if schema.get("additionalProperties") is False:
                yield f"additional properties are not allowed ({name!r})"
        elif not any(_fits(value, part) for part in _choices(properties[name])):
            yield f"{value!r} does not fit {name!r}"


def _choices(schema: Json) -> list[Json]:
    return schema.get("anyOf") or [schema]


def _fits(value: object, schema: Json) -> bool:
    if value not in schema.get("enum", [value]):
        return False
    wanted = _TYPES.get(str(schema.get("type")), object)
    # Only Python takes a boolean for an integer.
    if isinstance(value, bool):
        return wanted in (bool, object)
    return isinstance(value, wanted)


def _reference(schema: Json) -> str:
    """Returns the name of the definition that a schema refers to; empty if it is not a reference."""
    return str(schema.get("$ref", "")).rpartition("/")[2]
