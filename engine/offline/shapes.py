"""Declares the shape of a Messages API request; a request of another shape is refused with a sentence."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared

# Bounds on the input, because requests come from anywhere; no briefing comes near them.
MAX_MESSAGES = 1000
MAX_BLOCKS = 5000

Blocks = Annotated[list[Json], Meta(max_length=MAX_BLOCKS)]
"""Content blocks, each read by its own type."""
Content = str | Blocks
"""Content as the API accepts it: a plain string means one text block."""

S = TypeVar("S")


class RefusedError(Exception):
    """Raised for a request that the Messages API answers with `invalid_request_error`; the message is the reason."""


class _Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Ignores unknown fields, because the API knows more than are read here."""


class Head(_Shape, frozen=True, kw_only=True):
    """The fields of every request except its messages."""

    model: Annotated[str, Meta(min_length=1)]
    max_tokens: Annotated[int, Meta(ge=1)]
    stream: bool = False


class MessageShape(_Shape, frozen=True, kw_only=True):
    """One message."""

    role: Literal["user", "assistant"]
    content: Content


class Messages(_Shape, frozen=True, kw_only=True):
    """All messages of a request."""

    messages: Annotated[list[MessageShape], Meta(min_length=1, max_length=MAX_MESSAGES)]


class InputSchema(_Shape, frozen=True, kw_only=True):
    """A tool's parameters; the schemas `true` and `false` are legal too, but say nothing about a parameter."""

    properties: dict[str, Json | bool] = {}
    required: list[str] = []


class ToolShape(_Shape, frozen=True, kw_only=True):
    """A tool that the request offers."""

    name: str
    input_schema: InputSchema
    description: str | None = None


class Tools(_Shape, frozen=True, kw_only=True):
    """The tools of a request, and whether they may be called."""

    tools: list[ToolShape] | None = None
    tool_choice: Json | None = None


class TextBlock(_Shape, frozen=True, kw_only=True):
    """Text in a message or in a search result."""

    text: str


class SearchResultBlock(_Shape, frozen=True, kw_only=True):
    """A piece of evidence."""

    source: str
    title: str
    content: str | Annotated[list[TextBlock], Meta(max_length=MAX_BLOCKS)]


class ToolUseBlock(_Shape, frozen=True, kw_only=True):
    """A tool call."""

    id: str
    name: str
    input: Json = {}


class ToolResultBlock(_Shape, frozen=True, kw_only=True):
    """The result of a tool call; without content if it was empty."""

    tool_use_id: str
    content: Content = ""
    is_error: bool = False


class OtherBlock(_Shape, frozen=True, kw_only=True):
    """A block of any other type, such as a picture or thinking, which is not read."""


Block = TextBlock | SearchResultBlock | ToolUseBlock | ToolResultBlock | OtherBlock

_SHAPES: dict[str, type[Block]] = {
    "text": TextBlock,
    "search_result": SearchResultBlock,
    "tool_use": ToolUseBlock,
    "tool_result": ToolResultBlock,
}


def parse(body: bytes) -> Json:
    """Returns the body's JSON object, its top-level fields of the right types.

    Raises:
        RefusedError: It is not such an object.
    """
    try:
        request: Json = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError("The request body is not valid JSON.") from error
    shaped(request, Head)
    return request


def shaped(value: object, shape: type[S]) -> S:
    """Converts the value into this shape.

    Raises:
        RefusedError: It has another shape; the message says at which place and how.
    """
    try:
        return msgspec.convert(value, prepared(shape))
    except msgspec.ValidationError as error:
        # "Expected `str` - at `$.messages[0].role`" becomes "messages.0.role: Expected `str`.", as the API writes it.
        words, _, path = str(error).partition(" - at `$")
        place = path.strip(".`").replace("[...]", ".*").replace("[", ".")
        place = place.replace("]", "") or "request"
        raise RefusedError(f"{place}: {words}.") from error


def blocks_of(content: Content) -> list[Block]:
    """Returns content as a list of blocks, each read by its type.

    Raises:
        RefusedError: A block has no type, or not its type's shape.
    """
    if isinstance(content, str):
        return [TextBlock(text=content)]
    blocks: list[Block] = []
    for block in content:
        kind = block.get("type")
        if not isinstance(kind, str):
            raise RefusedError("A content block with a type is required.")
        # Not a tagged union, in which msgspec would refuse blocks of unknown types.
        blocks.append(shaped(block, _SHAPES.get(kind, OtherBlock)))
    return blocks
