"""Makes a tool of ours from the listing of an MCP server, whose every statement is bounded and believed as little as
possible."""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.exceptions import best_match
from mcp_types import Tool as ListedTool
from mcp_types import ToolAnnotations
from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from antiphon.dispatcher.mcp_file import McpServer
from antiphon.dispatcher.output import clean, line
from antiphon.dispatcher.parameters import parameters_of
from antiphon.dispatcher.tool import Tool
from antiphon.vocabulary.errors import ToolDefinitionError
from antiphon.vocabulary.ports import Json

MAX_NAME = 64
MAX_DESCRIPTION = 2_000
"""Characters of a tool's description."""
MAX_SCHEMA = 20_000
"""Characters of its schema, as the model sees it."""
_MOST_PARTS = 1_000
"""Schemas within its schema; each definition counts once per reference to it."""
_MOST_DEPTH = 20
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""The Messages API's rule for properties."""
_COPIED = frozenset((
    "type", "enum", "const", "description", "default", "required", "uniqueItems", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
))  # fmt: skip
"""Keywords that hold no schemas. `pattern` is left out: a regular expression may take for ever, and the server checks
its input in any case."""
_SAID = frozenset(("description", "default"))
"""Keywords that may repeat a secret that the server was given; the allowed values of a parameter are not secret."""
_CHOICES = ("anyOf", "oneOf", "allOf")

Run = Callable[[Json], Awaitable[object]]


def tool_of(server: str, settings: McpServer, listed: ListedTool, call: Run) -> Tool:
    """Makes a tool from a server's listing.

    Args:
        call: Calls the server's tool with arguments.

    Raises:
        ToolDefinitionError: It cannot be offered to a model; the message says why.
    """

    async def run(**arguments: object) -> object:
        # Null means "not given" to us, but the server's own check may refuse a null.
        return await call({k: v for k, v in arguments.items() if v is not None})

    properties, required = _schemas(listed.input_schema, settings.without_secrets)
    has_effects, retry_safe = effects_of(listed.annotations)
    signature: dict[str, inspect.Parameter] = {}
    types: dict[str, object] = {}
    for name, schema in properties.items():
        default = inspect.Parameter.empty if name in required else None
        kind = inspect.Parameter.KEYWORD_ONLY
        # A dummy name, because a server's names need not be identifiers; only the dictionary's keys count.
        signature[name] = inspect.Parameter("x", kind, default=default)
        types[name] = _checked(schema, is_required=name in required)
    # A server may repeat a secret that it was given, such as the address of a database.
    said = settings.without_secrets(listed.description or "")
    words = clean(said[:MAX_DESCRIPTION]).strip()
    return Tool(
        name=name_of(server, listed.name),
        description=f"From the server {line(server, 60)}, in its own words: {words}",
        parameters=parameters_of(signature, types, {}),
        run=run,
        timeout_s=settings.timeout_s,
        retry_safe=retry_safe,
        substitutes=tuple(settings.substitutes.get(listed.name, ())),
        has_effects=has_effects,
    )


def name_of(server: str, tool: str) -> str:
    """Returns a name that models accept, and that no other tool of any server has."""
    plain = f"{server}__{tool}"
    legal = re.sub(r"[^a-zA-Z0-9_-]", "_", plain)[:MAX_NAME]
    # If the server's name cannot blur the separator, no other server and tool make the same text.
    if legal == plain and "__" not in f"{server}_":
        return legal
    # The digest distinguishes names that become equal when they are cleaned or cut.
    mark = hashlib.sha256(f"{server}\0{tool}".encode(errors="replace")).hexdigest()[:8]
    return f"{legal[: MAX_NAME - 9]}-{mark}"


def effects_of(hints: ToolAnnotations | None) -> tuple[bool, bool]:
    """Returns whether a tool has effects outside and whether it is safe to retry; without a hint assumes the worst."""
    if hints is None:
        return True, False
    if hints.read_only_hint and not hints.destructive_hint:
        return False, True
    return True, bool(hints.idempotent_hint) and hints.destructive_hint is False


def _checked(schema: Json, *, is_required: bool) -> object:
    """Returns the type of a parameter: any value that fits its schema."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ToolDefinitionError(
            f"its schema is none ({line(error.message, 200)})"
        ) from None
    validator = Draft202012Validator(schema)

    def check(value: object) -> object:
        if value is None and not is_required:
            return None
        error = best_match(validator.iter_errors(value))
        if error is not None:
            why = {"why": line(error.message, 200)}
            raise PydanticCustomError("schema", "what fits its schema ({why})", why)
        return value

    return Annotated[Any, AfterValidator(check), WithJsonSchema(schema)]


def _schemas(
    schema: Json, hide: Callable[[str], str]
) -> tuple[dict[str, Json], frozenset[str]]:
    """Returns the self-contained schema of each parameter, and the names of the required ones."""
    given = {"properties": schema.get("properties")}
    properties = _SchemaReader(schema, hide).read(given).get("properties", {})
    listed = schema.get("required")
    names = listed if isinstance(listed, list) else []
    required = frozenset([name for name in names if isinstance(name, str)])
    for name in sorted(required.union(properties)):
        if not _PARAMETER.fullmatch(name):
            raise ToolDefinitionError(
                f"no model may be shown its parameter {line(name, 60)!r}"
            )
        if name not in properties:
            raise ToolDefinitionError(
                f"it requires {name}, which its schema does not have"
            )
    try:
        # Like any text from a server: without invisible characters.
        text = clean(json.dumps(properties, ensure_ascii=False, allow_nan=False))
    except ValueError:
        raise ToolDefinitionError(
            "its schema holds a number that JSON has not"
        ) from None
    if len(text) > MAX_SCHEMA:
        raise ToolDefinitionError(
            f"its schema has {len(text):,} characters, more than {MAX_SCHEMA:,}"
        )
    return json.loads(text), required


class _SchemaReader:
    """Copies the parts of a schema that a model needs, and replaces each reference by its definition."""

    def __init__(self, whole: Json, hide: Callable[[str], str]) -> None:
        self._hide = hide
        self._definitions = {
            f"#/{key}/{name}": each
            for key in ("$defs", "definitions")
            for name, each in (whole.get(key) or {}).items()
        }
        self._left = _MOST_PARTS

    def read(self, schema: object, depth: int = 0) -> Json:
        """Returns the copy; a part that is nested too deep, or refers elsewhere, becomes one that fits anything."""
        self._left -= 1
        if self._left < 0:
            raise ToolDefinitionError("its schema is too large to be shown")
        if not isinstance(schema, dict) or depth > _MOST_DEPTH:
            return {}
        definition = self._definitions.get(str(schema.get("$ref")))
        if isinstance(definition, dict):
            # A definition that is itself a reference is not followed: it fits anything.
            schema = {**definition, **schema}
        copy = {key: value for key, value in schema.items() if key in _COPIED}
        for key in _SAID & copy.keys():
            said = json.dumps(copy[key], ensure_ascii=False)
            copy[key] = json.loads(self._hide(said))
        return copy | self._read_parts(schema, depth + 1)

    def _read_parts(self, schema: Json, depth: int) -> Json:
        """Returns copies of the schemas within a schema."""
        parts: Json = {}
        if "items" in schema:
            parts["items"] = self.read(schema["items"], depth)
        properties = schema.get("properties")
        if isinstance(properties, dict):
            parts["properties"] = {
                n: self.read(it, depth) for n, it in properties.items()
            }
        for key in _CHOICES:
            if isinstance(schema.get(key), list):
                parts[key] = [self.read(each, depth) for each in schema[key]]
        return parts
