"""Arguments for a tool that nobody has told us about: the plainest values that its JSON schema allows."""

from __future__ import annotations

from antiphon.vocabulary.ports import Json

_PLAIN: dict[str, object] = {"string": "circuit breaker", "integer": 1, "number": 1.0, "boolean": True, "null": None}


def example_arguments(schema: Json) -> Json:
    """Values for the arguments that `schema` requires."""
    definitions = schema.get("$defs", {})
    properties: Json = schema.get("properties", {})
    return {name: _value(properties.get(name, {}), definitions) for name in schema.get("required", ())}


def _value(schema: Json, definitions: Json) -> object:
    if "$ref" in schema:
        schema = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
    for ready in ("default", "const"):
        if ready in schema:
            return schema[ready]
    for listed in ("examples", "enum"):
        if schema.get(listed):
            return schema[listed][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            return _value(schema[choice][0], definitions)
    return _of_type(schema, definitions)


def _of_type(schema: Json, definitions: Json) -> object:
    kind = schema.get("type", "string")
    if kind == "object":
        return example_arguments(schema | {"$defs": definitions})
    if kind == "array":
        return [_value(schema.get("items", {}), definitions)] * max(1, int(schema.get("minItems", 1)))
    if kind == "string":
        return _text(schema)
    return schema.get("minimum", _PLAIN.get(kind, "x"))


def _text(schema: Json) -> str:
    plain = str(_PLAIN["string"])
    return plain[: schema.get("maxLength", len(plain))].ljust(schema.get("minLength", 0), "x")
