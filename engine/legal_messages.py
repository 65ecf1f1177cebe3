"""The rules of legality for messages; pure. Each returns them mended, or raises `ValueError`."""

from __future__ import annotations

from itertools import chain

import msgspec
from msgspec.structs import replace

from antiphon.engine.request import BlockFields, peek
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, StoredText

Messages = tuple[Message, ...]


def no_blank_text(messages: Messages) -> Messages:
    """Removes text blocks without text, and messages that are then empty."""
    # Models do send such blocks, and the API then refuses them in the next request.
    kept = []
    for message in messages:
        content = [block for block in message.content if not peek(block).is_blank]
        if content:
            kept.append(replace(message, content=tuple(content)))
    return tuple(kept)


def user_begins(messages: Messages) -> Messages:
    """Requires at least one message, and that the first is the user's."""
    if not messages:
        raise ValueError("it has no messages")
    if messages[0].role != "user":
        raise ValueError("its first message is not the user's")
    return messages


def tool_ids_differ(messages: Messages) -> Messages:
    """Requires that no two tool calls share an id, which would confuse their results."""
    ids = list(chain.from_iterable(map(_tool_call_ids, messages)))
    if len(set(ids)) < len(ids):
        raise ValueError("two of its tool calls have the same id")
    return messages


def tool_calls_answered_first(messages: Messages) -> Messages:
    """Answers each tool call at the beginning of the next message; removes answers without a call."""
    mended: list[Message] = []
    open_calls: list[str] = []
    for message in messages:
        if message.role == "user":
            message = _with_answers(message, open_calls)
            open_calls = []
        else:
            # Two messages of the assistant in a row: the answers go between them.
            mended += _missing_answers(open_calls)
            open_calls = _tool_call_ids(message)
        if message.content:
            mended.append(message)
    mended += _missing_answers(open_calls)
    return tuple(mended)


def _missing_answers(open_calls: list[str]) -> list[Message]:
    if not open_calls:
        return []
    return [_with_answers(Message(role="user", content=()), open_calls)]


def citations_alike(messages: Messages) -> Messages:
    """Switches citations on in all search results of a request if any has them."""
    settings: set[bool] = set()
    for message in messages:
        for block in message.content:
            for result in _search_results(block):
                settings.add(result.has_citations)
    if len(settings) < 2:
        return messages
    citing = []
    for message in messages:
        content = [_with_citations(block) for block in message.content]
        citing.append(replace(message, content=tuple(content)))
    return tuple(citing)


def _tool_call_ids(message: Message) -> list[str]:
    if message.role != "assistant":
        return []
    blocks = map(peek, message.content)
    return [str(fields.id) for fields in blocks if fields.type == "tool_use"]


def _with_answers(message: Message, calls: list[str]) -> Message:
    """Puts one result for each call before all else in the message."""
    results: dict[str, StoredText] = {}
    others = []
    for block in message.content:
        fields = peek(block)
        if fields.type == "tool_result":
            results[str(fields.tool_use_id)] = block
        else:
            others.append(block)
    # In the order of the calls, not in that of their ends, so that the same round gives the same bytes.
    answers = []
    for call in calls:
        not_run = {
            "type": "tool_result",
            "tool_use_id": call,
            "content": "The call was not run.",
            "is_error": True,
        }
        answers.append(results.get(call) or _stored(not_run))
    return replace(message, content=(*answers, *others))


def _search_results(block: StoredText) -> list[BlockFields]:
    """Returns the block itself if it is a search result, or the search results within a tool result."""
    fields = peek(block)
    if fields.type == "search_result":
        return [fields]
    # Searches the text before decoding it: few tool results contain any.
    if fields.type != "tool_result" or '"search_result"' not in block.text:
        return []
    return [
        peek(_stored(result))
        for result in _results_within(msgspec.json.decode(block.text))
    ]


def _results_within(tool_result: Json) -> list[Json]:
    parts = tool_result.get("content")
    if not isinstance(parts, list):
        return []
    return [
        part
        for part in parts
        if isinstance(part, dict) and part.get("type") == "search_result"
    ]


def _with_citations(block: StoredText) -> StoredText:
    if not _search_results(block):
        return block
    fields: Json = msgspec.json.decode(block.text)
    holds_results = fields["type"] == "tool_result"
    results = _results_within(fields) if holds_results else [fields]
    for result in results:
        result["citations"] = {"enabled": True}
    return _stored(fields)


def _stored(fields: Json) -> StoredText:
    return StoredText(msgspec.json.encode(fields).decode())
