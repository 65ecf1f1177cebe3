"""Whole replies: one out of two, one as the events of a stream, one out of a message."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from antiphon.engine.fold import Reply, ReplyFold
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import StoredText


def joined(paused: Reply, rest: Reply) -> Reply:
    """One reply out of a paused one and what went on with it."""
    shift = len(paused.text.text)
    cited = tuple(replace(c, start=c.start + shift, end=c.end + shift) for c in rest.citations)
    return replace(
        rest,
        content=(*paused.content, *rest.content),
        text=StoredText(paused.text.text + rest.text.text),
        tool_calls=(*paused.tool_calls, *rest.tool_calls),
        citations=(*paused.citations, *cited),
        usage=paused.usage + rest.usage,
    )


def events_of(message: Json) -> Iterator[Json]:
    """A reply that was not streamed, as the events of a stream: some servers ignore `stream`."""
    yield {"type": "message_start", "message": message | {"content": []}}
    content = message.get("content")
    for index, block in enumerate(content if isinstance(content, list) else []):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": message.get("stop_reason")}}
    yield {"type": "message_stop"}


def reply_of(message: Json) -> Reply:
    """A whole message as a reply.

    Raises:
        ModelError: (`malformed`) It is none that a Messages API sends.
    """
    fold = ReplyFold()
    for event in events_of(message):
        fold.add(event)
    return fold.reply()
