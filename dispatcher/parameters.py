"""A function's parameters as a schema for the model and as a check of what the model sends: one truth for both."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from antiphon.dispatcher.mismatch import describe_mismatch
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

MAX_ARGUMENTS = 100_000
"""Most characters of a call's arguments."""
WHY = "Why you make this call, in one short sentence: what you want to learn from it."
"""How the optional `why` of every tool is described to the model."""


@dataclass(frozen=True)
class Parameters:
    """What a tool may be called with.

    Attributes:
        model: Checks the arguments; its fields are aliased, so that a parameter may be called `schema` or `json`.
        schema: The JSON schema that the model (Claude) is given.
        passes_why: The function itself takes `why`.
    """

    model: type[BaseModel]
    schema: Json
    passes_why: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments that the tool knows, `why` among them."""
        return tuple(self.schema["properties"])

    def read(self, arguments: str) -> Json:
        """The arguments as the function takes them, by name; those not given are left to its defaults.

        Raises:
            BadInputError: They are no JSON object, or do not fit; the message names each wrong one.
        """
        if len(arguments) > MAX_ARGUMENTS:
            raise BadInputError(
                f"The arguments are {len(arguments):,} characters long; send at most {MAX_ARGUMENTS:,}."
            )
        try:
            read = self.model.model_validate_json(arguments.strip() or "{}")
        except ValidationError as error:
            raise BadInputError(describe_mismatch(error, self.names)) from None
        given = {
            field.alias or key: getattr(read, key)
            for key, field in type(read).model_fields.items()
            if key in read.model_fields_set
        }
        if not self.passes_why:
            given.pop("why", None)
        return given


def parameters_of(
    signature: Mapping[str, inspect.Parameter], types: Mapping[str, object], described: Mapping[str, str]
) -> Parameters:
    """The parameters of a function, with `why` added where it has none.

    Args:
        types: The type of each parameter.
        described: What the docstring says of each; may lack some.
    """
    fields: dict[str, Any] = {}
    for number, (name, parameter) in enumerate(signature.items()):
        fields[f"argument_{number}"] = (types[name], _field(name, parameter.default, described.get(name)))
    if "why" not in signature:
        fields["why"] = (str | None, _field("why", None, WHY))
    model = create_model(
        "Arguments",
        __config__=ConfigDict(extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=False),
        **fields,
    )
    return Parameters(model=model, schema=_schema(model), passes_why="why" in signature)


def _field(name: str, default: object, description: str | None) -> Any:
    default = ... if default is inspect.Parameter.empty else default
    return Field(default, alias=name) if description is None else Field(default, alias=name, description=description)


def _schema(model: type[BaseModel]) -> Json:
    """The model's JSON schema without pydantic's titles, which tell a language model nothing."""
    whole = model.model_json_schema()
    properties = {name: _plain(schema) for name, schema in whole["properties"].items()}
    required = {"required": whole["required"]} if "required" in whole else {}
    shared = {"$defs": whole["$defs"]} if "$defs" in whole else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False, **shared}


def _plain(schema: Json) -> Json:
    """One property's schema; `T or null` that may be left out is told simply as `T`."""
    rest = {key: value for key, value in schema.items() if key != "title"}
    choices = [choice for choice in rest.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1 and rest.get("default", ...) is None:
        return {**choices[0], **{key: value for key, value in rest.items() if key not in ("anyOf", "default")}}
    return rest
