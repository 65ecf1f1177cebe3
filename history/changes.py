"""Applies one change of a fork to an event: a field, a setting, a reply, a result, a dropped or shown passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import msgspec
from msgspec.structs import replace

from antiphon.dispatcher import quotable
from antiphon.engine import reply_of
from antiphon.synthesizer import show_sentences
from antiphon.traces import event_of, plain
from antiphon.vocabulary.catalog import BUILT_IN, Catalog
from antiphon.vocabulary.errors import BadInputError, DecodeError, ModelError
from antiphon.vocabulary.events import (
    BriefingPrepared,
    Event,
    QueryReceived,
    ReasoningCompleted,
    ToolFailed,
    ToolSucceeded,
)
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.typed import prepared
from antiphon.vocabulary.values import Fact, Message, Passage, StoredText, Value

BLOCK_TYPES = (
    "text",
    "search_result",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
)
"""Types of content blocks that this service sends and receives."""
MOST_NUMBER = 10**18

SHOWN_CHARS = 60
"""Characters of a value in the description of a change: the fork's trace has the rest."""


class Change(Value, frozen=True, kw_only=True):
    """One thing that a fork changes.

    Attributes:
        kind: `set` a field of the event, a `setting` of the query, the `reply` of a reasoning call, the result of a
            `tool`, `drop` a passage from all results, or `show` sentences of a fact that a briefing left out.
        name: The field, the setting, the tool call's id or the number of one of its events, the passage's or the
            fact's id; empty for a reply.
        value: JSON or plain text; for `show` a list of the numbers of sentences, from 0.
        fact: The fact that `show` names, once it has been looked up in the trace.
    """

    kind: Literal["set", "setting", "reply", "tool", "drop", "show"]
    name: str = ""
    value: str = ""
    fact: Fact | None = None

    def __str__(self) -> str:
        words = f"{self.kind} {self.name}".strip()
        if not self.value:
            return words
        return f"{words} = {self.value[:SHOWN_CHARS]}"


def change_event(event: Event, change: Change, catalog: Catalog = BUILT_IN) -> Event:
    """Returns the event with the change made.

    Args:
        catalog: All known events.

    Raises:
        BadInputError: The change does not fit the event, or its value cannot be read.
    """
    _check_encodable(change)
    match change.kind, event:
        case "set", _:
            return _with_field(event, change.name.split("."), change.value, catalog)
        case "setting", QueryReceived():
            return _with_field(
                event, ["settings", *change.name.split(".")], change.value, catalog
            )
        case "reply", ReasoningCompleted():
            return _with_reply(event, change.value)
        case "tool", ToolSucceeded() | ToolFailed():
            return _with_result(event, change.value)
        case "drop", ToolSucceeded():
            left = [passage for passage in event.passages if passage.id != change.name]
            return replace(event, passages=tuple(left))
        case "show", BriefingPrepared() if change.fact is not None:
            return show_sentences(event, change.fact, _numbers(change.value))
    raise BadInputError(
        f"`{change}` does not fit {event.kind_name()}: name another event with --at."
    )


def _numbers(value: str) -> tuple[int, ...]:
    try:
        return msgspec.json.decode(value or "[]", type=prepared(tuple[int, ...]))
    except msgspec.DecodeError as error:
        raise BadInputError(
            f"Which sentences to show must be a list of their numbers from 0: {error}."
        ) from error


def _check_encodable(change: Change) -> None:
    try:
        change.name.encode()
        change.value.encode()
    except UnicodeEncodeError as error:
        raise BadInputError(
            "The change holds half of a surrogate pair, which is no character: give valid Unicode."
        ) from error


def _with_field(
    event: Event, path: Sequence[str], value: str, catalog: Catalog
) -> Event:
    """Returns the event with the field at `path` replaced, checked like any event that is read."""
    # The value is JSON, or text if the JSON does not fit: `query=1987` asks about a year.
    readings = [_json_or_text(value), value]
    refusal = ""
    for reading in readings:
        try:
            changed = event_of(_with_value(event, path, reading), catalog)
        except DecodeError as error:
            refusal = refusal or str(error)
        else:
            return _with_whole_blocks(changed, event)
    field = ".".join(path)
    raise BadInputError(
        f"`{field}` of {event.kind_name()} cannot be {value[:80]!r}: {refusal}"
    )


def _with_value(event: Event, path: Sequence[str], value: object) -> object:
    """Returns the event as plain values with the one at `path` replaced."""
    # Only plain values can be changed at any depth; decoding them again checks the event as reading does.
    whole = _changeable(plain(event))
    holder: object = whole
    for name in path[:-1]:
        holder = _inside(holder, name, event)
    last = path[-1]
    # Only existing fields may be set: decoding would drop a misspelled one, or refuse it in incomprehensible words.
    _inside(holder, last, event)
    if isinstance(holder, dict):
        holder[last] = value
    elif isinstance(holder, list):
        holder[int(last)] = value
    return whole


def _changeable(value: object) -> object:
    """Returns a plain value with lists instead of tuples."""
    if isinstance(value, dict):
        return {name: _changeable(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_changeable(part) for part in value]
    return value


def _with_whole_blocks(changed: Any, event: Any) -> Event:
    """Returns the event with each new block in its messages decoded and encoded again.

    Blocks are joined into a request unparsed, so one with more than a JSON object could add to the request's top level.

    Raises:
        BadInputError: A block is not one JSON object of a type that a message may contain.
    """
    if "messages" not in changed.__struct_fields__:
        return cast(Event, changed)
    known = {block for message in event.messages for block in message.content}
    messages: list[Message] = []
    for message in changed.messages:
        content: list[StoredText] = []
        for block in message.content:
            if block not in known:
                block = _whole_block(block)
            content.append(block)
        messages.append(replace(message, content=tuple(content)))
    written: Event = replace(changed, messages=tuple(messages))
    return written


def _whole_block(block: StoredText) -> StoredText:
    found = _json_or_text(block.text)
    if not isinstance(found, dict) or found.get("type") not in BLOCK_TYPES:
        raise BadInputError(
            f"A content block must be one JSON object whose `type` is one of {', '.join(BLOCK_TYPES)}: "
            f"found {block.text[:80]!r}."
        )
    return StoredText(msgspec.json.encode(found).decode())


def _inside(holder: object, name: str, event: Event) -> object:
    if isinstance(holder, dict) and name in holder:
        return holder[name]
    if isinstance(holder, list) and name.isdigit() and int(name) < len(holder):
        return holder[int(name)]
    raise BadInputError(f"{event.kind_name()} has no field {name!r} there.")


def _with_reply(event: ReasoningCompleted, given: str) -> ReasoningCompleted:
    """Returns the call's reply replaced by `given`: a Messages API message, its content blocks, or plain text."""
    message = _message(given)
    _check_blocks(message)
    try:
        reply = reply_of(message)
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


def _message(given: str) -> Json:
    # JSON that is not a message, such as a number, is meant as text.
    found = _json_or_text(given)
    if isinstance(found, list):
        return {"content": found}
    if isinstance(found, dict) and isinstance(found.get("content"), list):
        return found
    return {"content": [{"type": "text", "text": given}]}


def _check_blocks(message: Json) -> None:
    """Refuses a reply with a block of a type that our models do not send.

    Raises:
        BadInputError: It has one.
    """
    for block in message["content"]:
        if not isinstance(block, dict) or block.get("type") not in BLOCK_TYPES:
            raise BadInputError(
                f"Each content block of a reply must be an object whose `type` is one of {', '.join(BLOCK_TYPES)}."
            )


def _with_result(event: ToolSucceeded | ToolFailed, given: str) -> ToolSucceeded:
    """Returns the call's result replaced by `given`: `{"output", "passages"}` as in a trace, or plain text."""
    found = _json_or_text(given)
    output = given
    passages: tuple[Passage, ...] = ()
    # Any other JSON object is text, because a tool may itself return JSON.
    if isinstance(found, dict) and set(found) <= {"output", "passages"}:
        output = str(found.get("output", ""))
        passages = _passages(found.get("passages", []))
    elif given.strip():
        passages = (quotable(event.name, given),)
    return ToolSucceeded(
        tool_call_id=event.tool_call_id,
        name=event.name,
        output=StoredText(output),
        passages=passages,
        duration_ms=event.duration_ms,
    )


def _passages(found: object) -> tuple[Passage, ...]:
    try:
        return msgspec.convert(
            found,
            prepared(tuple[Passage, ...]),
            dec_hook=lambda _, text: StoredText(str(text)),
        )
    except msgspec.ValidationError as error:
        raise BadInputError(f"The given passages cannot be read: {error}") from error


def _json_or_text(text: str) -> object:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text
    except RecursionError:
        raise BadInputError(
            f"The value {text[:40]!r} is nested too deep: nothing here needs that."
        ) from None
    # A store cannot hold larger numbers, and writing one of thousands of digits takes seconds.
    if isinstance(found, int) and abs(found) >= MOST_NUMBER:
        raise BadInputError("The value is a number of more than 18 digits.")
    return found
