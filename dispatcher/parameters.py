"""A function's parameters: one definition gives both the schema for the model and the check of what the model sends."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from antiphon.dispatcher.lenient import as_json, lenient_object, mended
from antiphon.dispatcher.output import line
from antiphon.vocabulary.errors import BadInputError
from antiphon.vocabulary.ports import Json

MAX_ARGUMENTS = 100_000
"""Most characters of a call's arguments."""
MAX_NAMED = 8
"""Wrong arguments that a message names one by one; of more it gives only the number."""
WHY = "Why you make this call, in one short sentence: what you want to learn from it."
"""The description of the optional `why` of every tool."""


class _Accepted(NamedTuple):
    """Arguments that fit: as JSON, and as the types of the function."""

    text: str
    read: BaseModel


@dataclass(frozen=True)
class Parameters:
    """The arguments that a tool may be called with.

    Attributes:
        model: Checks the arguments; its fields are aliased, so that a parameter may be called `schema` or `json`.
        schema: Their JSON schema, with all bounds; `Tool.schema` is what the model (Claude) is given.
        passes_why: The function itself takes `why`.
    """

    model: type[BaseModel]
    schema: Json
    passes_why: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments that the tool knows, including `why`."""
        return tuple(self.schema["properties"])

    def read(self, arguments: str) -> Json:
        """Reads the arguments as the function takes them, by name; those not given keep its defaults.

        Arguments that do not fit are read again leniently (lenient.py); those that fit are never read another way.

        Raises:
            BadInputError: They are not a JSON object, or do not fit; the message names each wrong one.
        """
        given = self._given(self._accepted(arguments).read)
        if not self.passes_why:
            given.pop("why", None)
        return given

    def plain(self, arguments: str) -> Json:
        """Returns the arguments that `read` accepts, as plain JSON values. Raises as it does."""
        plain: Json = json.loads(self._accepted(arguments).text)
        return plain

    def check_example(self, example: Json) -> None:
        """Checks an example for the model: its arguments must fit exactly, without conversion between types.

        Raises:
            BadInputError: They do not; the message names each wrong one.
        """
        try:
            text = json.dumps(example, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise BadInputError(f"it cannot be written as JSON ({error}).") from error
        try:
            self.model.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise BadInputError(_describe_mismatch(error, self.names)) from None

    def _accepted(self, arguments: str) -> _Accepted:
        # Checked before anything parses them: a model may write any amount of text.
        if len(arguments) > MAX_ARGUMENTS:
            raise BadInputError(
                f"The arguments are {len(arguments):,} characters long; send at most {MAX_ARGUMENTS:,}."
            )
        text = arguments.strip() or "{}"
        read = self._validated(text)
        if isinstance(read, _Accepted):
            return read
        return self._accepted_leniently(text, read)

    def _accepted_leniently(self, text: str, error: ValidationError) -> _Accepted:
        """Mends and reads arguments that did not fit; if they still do not fit, raises what was wrong with them.

        Args:
            error: Why they did not fit.
        """
        given = lenient_object(text)
        if given is None:
            raise BadInputError(_describe_mismatch(error, self.names))
        if not _wrong_names(error):
            # Only the form was wrong: in plain JSON the arguments may fit, or the error can name the wrong ones.
            read = self._validated(as_json(given) or text)
            if isinstance(read, _Accepted):
                return read
            error = read
        put_right = mended(given, _wrong_names(error), self.schema)
        read = self._validated(as_json(put_right) or text)
        if isinstance(read, _Accepted):
            return read
        raise BadInputError(_describe_mismatch(error, self.names))

    def _validated(self, text: str) -> _Accepted | ValidationError:
        # Returned, not raised: as a cause it would put pydantic's message, which repeats the whole input, into logs.
        try:
            return _Accepted(text, self.model.model_validate_json(text))
        except ValidationError as error:
            return error

    def _given(self, read: BaseModel) -> Json:
        return {
            field.alias or key: getattr(read, key)
            for key, field in self.model.model_fields.items()
            if key in read.model_fields_set
        }


def parameters_of(
    signature: Mapping[str, inspect.Parameter],
    types: Mapping[str, object],
    described: Mapping[str, str],
) -> Parameters:
    """Reads the parameters of a function, and adds `why` if the function has none.

    Args:
        types: The type of each parameter.
        described: The docstring's description of each; may lack some.
    """
    fields: dict[str, Any] = {}
    for number, (name, parameter) in enumerate(signature.items()):
        is_required = parameter.default is inspect.Parameter.empty
        default = ... if is_required else parameter.default
        if name in described:
            field = Field(default, alias=name, description=described[name])
        else:
            # A description of None would hide a description in the type.
            field = Field(default, alias=name)
        # Numbered names, because pydantic refuses fields that begin with an underscore or have one of its own names.
        fields[f"argument_{number}"] = (types[name], field)
    # `why` shows a reader of the trace the purpose of each call.
    if "why" not in signature:
        fields["why"] = (str | None, Field(None, alias="why", description=WHY))
    model = create_model(
        "Arguments",
        __config__=ConfigDict(
            extra="forbid", allow_inf_nan=False, arbitrary_types_allowed=False
        ),
        **fields,
    )
    return Parameters(model=model, schema=_schema(model), passes_why="why" in signature)


def _schema(model: type[BaseModel]) -> Json:
    """Returns the model's JSON schema without pydantic's titles, which mean nothing to a language model."""
    whole = model.model_json_schema()
    properties = {
        name: _plain(property_schema)
        for name, property_schema in whole["properties"].items()
    }
    schema: Json = {"type": "object", "properties": properties}
    if "required" in whole:
        schema["required"] = whole["required"]
    schema["additionalProperties"] = False
    if "$defs" in whole:
        schema["$defs"] = whole["$defs"]
    return schema


def _plain(schema: Json) -> Json:
    """Simplifies an optional property's schema: `T or null` becomes `T`, and `T, U or null` becomes `T or U`."""
    plain = dict(schema)
    plain.pop("title", None)
    choices = [
        choice for choice in plain.get("anyOf", ()) if choice != {"type": "null"}
    ]
    if not choices or plain.get("default", ...) is not None:
        return plain
    del plain["anyOf"], plain["default"]
    if len(choices) > 1:
        return {"anyOf": choices, **plain}
    # The property's own description overrides that of its type.
    return {**choices[0], **plain}


def _wrong_names(error: ValidationError) -> set[str]:
    """Returns the names of the arguments that do not fit; none if the whole is not an object."""
    details = error.errors(include_url=False, include_context=False)
    return {str(detail["loc"][0]) for detail in details if detail["loc"]}


def _describe_mismatch(error: ValidationError, known: Sequence[str]) -> str:
    """Names each wrong argument, what was wanted and what was found, so that the model can correct its call.

    Args:
        known: Names of the arguments that the tool knows.
    """
    wrong = error.errors(include_url=False, include_context=False)
    named = [_describe(detail, known) for detail in wrong[:MAX_NAMED]]
    if len(wrong) > MAX_NAMED:
        named.append(f"and {len(wrong) - MAX_NAMED} more")
    return "; ".join(named) + "."


def _describe(detail: ErrorDetails, known: Sequence[str]) -> str:
    where = line(".".join(map(str, detail["loc"])), 80)
    found = line(repr(detail["input"]), 80)
    if detail["type"] == "json_invalid":
        return f"the arguments are not a JSON object: {line(detail['msg'], 200)}"
    if not where:
        return f"the arguments must be a JSON object, found {found}"
    if detail["type"] == "missing":
        return f"{where}: is required and was not given"
    if detail["type"] == "extra_forbidden":
        return (
            f"{where}: is not an argument of this tool, which takes {', '.join(known)}"
        )
    # pydantic writes "Input should be a valid integer …"; after "wanted" only the rest reads well.
    wanted = detail["msg"].removeprefix("Input ").removeprefix("should be ")
    return f"{where}: wanted {line(wanted, 200)}, found {found}"


ANY_ARGUMENTS = Parameters(
    model=create_model("AnyArguments", __config__=ConfigDict(extra="allow")),
    schema={"type": "object", "properties": {}},
    passes_why=True,
)
"""The parameters of a tool of which only the name is known."""
