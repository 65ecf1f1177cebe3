"""The rules of legality that look at the messages; pure. Each returns them mended, or raises `ValueError`."""

from __future__ import annotations

from itertools import zip_longest

import msgspec
from msgspec.structs import replace

from antiphon.engine.parts import Part, peek
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, StoredText

Messages = tuple[Message, ...]


def no_blank_text(messages: Messages) -> Messages:
    """Text blocks without text are left out, and messages that then hold nothing."""
    kept = (replace(m, content=tuple(b for b in m.content if not peek(b).is_blank)) for m in messages)
    return tuple(message for message in kept if message.content)


def user_begins(messages: Messages) -> Messages:
    """There are messages, and the first is the user's."""
    if not messages:
        raise ValueError("it has no messages")
    if messages[0].role != "user":
        raise ValueError("its first message is not the user's")
    return messages


def tool_ids_differ(messages: Messages) -> Messages:
    """No two tool calls have the same id: their results could not be told apart."""
    ids = [peek(b).id for m in messages for b in m.content if m.role == "assistant" and peek(b).type == "tool_use"]
    if len(set(map(str, ids))) < len(ids):
        raise ValueError("two of its tool calls have the same id")
    return messages


def tool_calls_answered_first(messages: Messages) -> Messages:
    """Each tool call is answered at the beginning of the next message; an answer without a call is left out."""
    mended: list[Message] = []
    for message, following in zip_longest(messages, messages[1:]):
        calls = _calls(mended[-1]) if mended else []
        if message.role == "user":
            mended.append(_answering(message, calls))
            continue
        mended.append(message)
        if _calls(message) and (following is None or following.role != "user"):
            mended.append(_answering(Message(role="user", content=()), _calls(message)))
    return tuple(message for message in mended if message.content)


def citations_alike(messages: Messages) -> Messages:
    """Citations are switched on in all search results of a request, or in none."""
    found = [part.cites for m in messages for b in m.content for part in _search_results(b)]
    if len(set(found)) < 2:
        return messages
    return tuple(replace(m, content=tuple(map(_citing, m.content))) for m in messages)


def _calls(message: Message) -> list[str]:
    if message.role != "assistant":
        return []
    return [str(part.id) for part in map(peek, message.content) if part.type == "tool_use"]


def _answering(message: Message, calls: list[str]) -> Message:
    results = {str(peek(b).tool_use_id): b for b in message.content if peek(b).type == "tool_result"}
    others = [block for block in message.content if peek(block).type != "tool_result"]
    answers = [results.get(call) or _not_run(call) for call in calls]
    return replace(message, content=(*answers, *others))


def _not_run(call: str) -> StoredText:
    block = {"type": "tool_result", "tool_use_id": call, "content": "The call was not run.", "is_error": True}
    return StoredText(msgspec.json.encode(block).decode())


def _search_results(block: StoredText) -> list[Part]:
    part = peek(block)
    if part.type == "search_result":
        return [part]
    if part.type != "tool_result" or '"search_result"' not in block.text:
        return []
    inner = msgspec.json.decode(block.text).get("content")
    parts = inner if isinstance(inner, list) else []
    return [peek(_kept(p)) for p in parts if isinstance(p, dict) and p.get("type") == "search_result"]


def _citing(block: StoredText) -> StoredText:
    if not _search_results(block):
        return block
    fields: Json = msgspec.json.decode(block.text)
    holders = [fields] if fields["type"] == "search_result" else fields["content"]
    for holder in holders:
        if holder.get("type") == "search_result":
            holder["citations"] = {"enabled": True}
    return _kept(fields)


def _kept(fields: Json) -> StoredText:
    return StoredText(msgspec.json.encode(fields).decode())
