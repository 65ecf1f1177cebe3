"""A whole reply of the Messages API, the joining of a paused one's parts, and a whole message as a stream's events."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import ReplyCitation, StoredText, ToolCall, Usage


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A whole reply; the fields are those of `ReasoningCompleted`."""

    content: tuple[StoredText, ...]
    text: StoredText
    tool_calls: tuple[ToolCall, ...]
    citations: tuple[ReplyCitation, ...]
    stop_reason: str
    usage: Usage
    model: str
    message_id: str
    request_id: str | None


def joined(paused: Reply, rest: Reply) -> Reply:
    """Joins a paused reply and its continuation."""
    # The citations of the rest count characters from its own beginning.
    shift = len(paused.text.text)
    citations = list(paused.citations)
    for citation in rest.citations:
        citations.append(
            replace(citation, start=citation.start + shift, end=citation.end + shift)
        )
    return replace(
        rest,
        content=(*paused.content, *rest.content),
        text=StoredText(paused.text.text + rest.text.text),
        tool_calls=(*paused.tool_calls, *rest.tool_calls),
        citations=tuple(citations),
        usage=paused.usage + rest.usage,
    )


def content_of(message: Json) -> list[Json]:
    """Returns a message's content blocks; some servers send a plain string instead."""
    content = message.get("content")
    if isinstance(content, str) and content:
        return [{"type": "text", "text": content}]
    if isinstance(content, list):
        return content
    return []


def events_of(message: Json) -> Iterator[Json]:
    """Yields a reply that was not streamed as the events of a stream: some servers ignore `stream`."""
    yield {"type": "message_start", "message": message | {"content": []}}
    for index, block in enumerate(content_of(message)):
        yield {
            "type": "content_block_start",
            "index": index,
            "content_block": block,
        }
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": message.get("stop_reason")},
    }
    yield {"type": "message_stop"}
