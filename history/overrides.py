"""Replies and tool results that somebody gives in the place of recorded ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from antiphon.dispatcher import quotable
from antiphon.engine import reply_of
from antiphon.vocabulary.errors import BadInputError, ModelError
from antiphon.vocabulary.events import ReasoningCompleted, ToolFailed, ToolSucceeded
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Passage, StoredText


def with_reply(event: ReasoningCompleted, given: str) -> ReasoningCompleted:
    """The call's reply as `given`: a message of the Messages API, its content blocks, or plain text.

    Raises:
        BadInputError: It is JSON and no reply.
    """
    try:
        reply = reply_of(_message(given))
    except ModelError as error:
        raise BadInputError(f"The given reply cannot be read: {error}") from error
    return replace(
        event,
        content=reply.content,
        text=reply.text,
        tool_calls=reply.tool_calls,
        citations=reply.citations,
        stop_reason=reply.stop_reason,
    )


def with_result(event: ToolSucceeded | ToolFailed, given: str) -> ToolSucceeded:
    """The call's result as `given`: `{"output", "passages"}` as a trace holds it, or plain text."""
    found = _json(given)
    if isinstance(found, dict) and set(found) <= {"output", "passages"}:
        output, passages = str(found.get("output", "")), _passages(found.get("passages", []))
    else:
        output, passages = given, (quotable(event.name, given),) if given.strip() else ()
    return ToolSucceeded(
        tool_call_id=event.tool_call_id,
        name=event.name,
        output=StoredText(output),
        passages=passages,
        duration_ms=event.duration_ms,
    )


def without_passages(event: ToolSucceeded, dropped: Iterable[str]) -> ToolSucceeded:
    """The result without the passages of these ids."""
    ids = frozenset(dropped)
    return replace(event, passages=tuple(passage for passage in event.passages if passage.id not in ids))


def _message(given: str) -> Json:
    found = _json(given)
    if isinstance(found, list):
        return {"content": found}
    if isinstance(found, Mapping) and isinstance(found.get("content"), list):
        return dict(found)
    return {"content": [{"type": "text", "text": given}]}


def _passages(found: object) -> tuple[Passage, ...]:
    try:
        return msgspec.convert(found, tuple[Passage, ...], dec_hook=lambda _, text: StoredText(str(text)))
    except msgspec.ValidationError as error:
        raise BadInputError(f"The given passages cannot be read: {error}") from error


def _json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
