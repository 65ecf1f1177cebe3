"""The shape that a request must have; whatever is not of it is refused with a sentence, never with an exception."""

from __future__ import annotations

import msgspec

from antiphon.vocabulary.ports import Json

MAX_MESSAGES = 1000
MAX_BLOCKS = 5000


class RefusedError(Exception):
    """A request that the Messages API would answer with `invalid_request_error`; the message says why."""


class Message(msgspec.Struct):
    """One message, its content always as blocks."""

    role: str
    blocks: list[Json]


def parse(body: bytes) -> Json:
    """The body's JSON object, its top-level fields of the right types.

    Raises:
        RefusedError: It is no such object.
    """
    try:
        request = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError("The request body is not valid JSON.") from error
    if not isinstance(request, dict):
        raise RefusedError("The request body must be a JSON object.")
    if not (isinstance(request.get("model"), str) and request["model"]):
        raise RefusedError("model: a string is required.")
    limit = request.get("max_tokens")
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
        raise RefusedError("max_tokens: an integer of at least 1 is required.")
    if not isinstance(request.get("stream", False), bool):
        raise RefusedError("stream: must be true or false.")
    return request


def messages_of(request: Json) -> list[Message]:
    """The request's messages.

    Raises:
        RefusedError: They are not of the API's shape.
    """
    rows = request.get("messages")
    if not isinstance(rows, list) or not rows:
        raise RefusedError("messages: a list of at least one message is required.")
    if len(rows) > MAX_MESSAGES:
        raise RefusedError(f"messages: at most {MAX_MESSAGES} messages are taken.")
    messages = [_message(at, row) for at, row in enumerate(rows)]
    if messages[0].role != "user":
        raise RefusedError("messages: the first message must have the role user.")
    return messages


def blocks_of(content: object, where: str) -> list[Json]:
    """Content as a list of blocks; a plain string is one text block.

    Raises:
        RefusedError: It is neither.
    """
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list) or len(content) > MAX_BLOCKS:
        raise RefusedError(f"{where}: a string or a list of at most {MAX_BLOCKS} content blocks is required.")
    for at, block in enumerate(content):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise RefusedError(f"{where}.{at}: a content block with a type is required.")
        if block["type"] == "text" and not isinstance(block.get("text"), str):
            raise RefusedError(f"{where}.{at}.text: a string is required.")
    return content


def _message(at: int, row: object) -> Message:
    if not isinstance(row, dict) or row.get("role") not in ("user", "assistant"):
        raise RefusedError(f"messages.{at}.role: must be user or assistant.")
    return Message(row["role"], blocks_of(row.get("content"), f"messages.{at}.content"))
