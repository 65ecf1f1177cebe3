"""The pure fold of a stream's events into one reply."""

from __future__ import annotations

import msgspec

from antiphon.engine.blocks import Block
from antiphon.engine.prices import with_cost
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import ReplyCitation, StoredText, ToolCall, Usage

MAX_BLOCKS = 500


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


class ReplyFold:
    """Folds raw stream events; tolerant of what compatible servers leave out, strict about the end.

    Attributes:
        restarts: How often the stream began anew; what was told before that is void.

    Args:
        ids: Ids that tool calls have had; those of this reply are added. Some servers count from 0 in each reply,
            and a second attempt may repeat the first one's ids.
    """

    def __init__(self, ids: set[str] | None = None) -> None:
        self._ids: set[str] = set() if ids is None else ids
        self._blocks: list[Block] = []
        self._by_index: dict[int, Block] = {}
        self._message: Json | None = None
        self._request_id: str | None = None
        self._usage: Json = {}
        self._stop_reason = ""
        self._ended = False
        self.restarts = 0

    def add(self, event: Json) -> str | ToolCall | None:
        """Takes the next event; returns the piece of text or the complete tool call that it brought.

        Raises:
            ModelError: (`malformed`) The event is none that a Messages API sends.
        """
        kind = event.get("type")
        if self._ended:
            return None
        if kind == "content_block_delta":
            return self._on_delta(event)
        if kind == "content_block_start":
            return self._on_block_start(event)
        if kind == "content_block_stop":
            return self._on_block_stop(event)
        self._on_message(kind, event)
        return None

    @property
    def usage(self) -> Usage:
        """What the server told of tokens so far, priced where the model's price is known."""
        return with_cost(_usage(self._usage), _text(self._message or {}, "model"))

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ModelError: (`truncated_stream`) The stream ended before its `message_stop`.
        """
        if not self._ended:
            raise ModelError("truncated_stream", "the stream ended before the reply was complete", retryable=True)
        if self._message is None:
            raise ModelError("malformed", "the stream held no message_start")
        calls = tuple(call for block in self._blocks if (call := block.tool_call()) is not None)
        text, citations = _text_of(self._blocks)
        return Reply(
            content=tuple(block.json() for block in self._blocks),
            text=StoredText(text),
            tool_calls=calls,
            citations=citations,
            stop_reason=self._stop_reason or ("tool_use" if calls else "end_turn"),
            usage=_usage(self._usage),
            model=_text(self._message, "model"),
            message_id=_text(self._message, "id"),
            request_id=self._request_id,
        )

    def _on_message(self, kind: object, event: Json) -> None:
        if kind == "message_start":
            self._start_over()
            self._message = _object(event, "message")
            self._request_id = _text(event, "request_id") or None
            self._take_usage(self._message)
            self._take_content(self._message)
        elif kind == "message_delta":
            self._stop_reason = _text(_object(event, "delta"), "stop_reason") or self._stop_reason
            self._take_usage(event)
        elif kind == "message_stop":
            self._ended = True

    def _start_over(self) -> None:
        """Servers that change the model in mid-reply begin a second message in the same stream."""
        if self._message is not None:
            self.restarts += 1
            self._blocks, self._by_index, self._usage, self._stop_reason = [], {}, {}, ""

    def _on_block_start(self, event: Json) -> str | None:
        index = _index(event)
        if len(self._blocks) >= MAX_BLOCKS:
            raise ModelError("malformed", f"the reply holds more than {MAX_BLOCKS} content blocks")
        known = self._by_index.get(index)
        if known is not None and not known.stopped:
            raise ModelError("malformed", f"the reply starts its content block {index} twice")
        block = self._by_index[index] = Block(self._distinct(_object(event, "content_block")))
        self._blocks.append(block)
        return block.field("text") or None if block.kind == "text" else None

    def _on_delta(self, event: Json) -> str | None:
        delta = _object(event, "delta")
        block = self._block(event)
        match delta.get("type"):
            case "text_delta":
                piece = block.append("text", delta.get("text"))
                return piece if piece and block.kind == "text" else None
            case "input_json_delta":
                block.append("partial_json", delta.get("partial_json"))
            case "thinking_delta":
                block.append("thinking", delta.get("thinking"))
            case "signature_delta":
                block.append("signature", delta.get("signature"))
            case "citations_delta":
                block.citations.append(_object(delta, "citation"))
        return None

    def _on_block_stop(self, event: Json) -> ToolCall | None:
        block = self._block(event)
        if block.stopped:
            return None
        block.stopped = True
        call = block.tool_call()
        return call if block.is_readable else None  # what was cut off may not run; the whole reply still holds it

    def _distinct(self, start: Json) -> Json:
        """The block's start, its tool call with an id of its own."""
        call_id = start.get("id")
        if start.get("type") != "tool_use" or not isinstance(call_id, str):
            return start
        numbers = range(2, len(self._ids) + 3)
        free = next(id_ for id_ in (call_id, *(f"{call_id}-{n}" for n in numbers)) if id_ not in self._ids)
        self._ids.add(free)
        return start if free == call_id else start | {"id": free}

    def _block(self, event: Json) -> Block:
        block = self._by_index.get(_index(event))
        if block is None:
            raise ModelError("malformed", "the reply goes on with a content block that never began")
        return block

    def _take_content(self, message: Json) -> None:
        """A message may begin with blocks in place, where a server went on with a paused one."""
        content = message.get("content")
        for index, block in enumerate(content if isinstance(content, list) else []):
            self._on_block_start({"index": index, "content_block": block})

    def _take_usage(self, holder: Json) -> None:
        usage = holder.get("usage")
        if isinstance(usage, dict):
            # The counts of message_delta are totals, not additions; a null means: as before.
            self._usage |= {name: count for name, count in usage.items() if count is not None}


def _text_of(blocks: list[Block]) -> tuple[str, tuple[ReplyCitation, ...]]:
    texts: list[str] = []
    citations: list[ReplyCitation] = []
    length = 0
    for block in blocks:
        if block.kind == "text":
            citations += block.cited(length)
            texts.append(block.field("text"))
            length += len(texts[-1])
    return "".join(texts), tuple(citations)


def _usage(usage: Json) -> Usage:
    def count(name: str) -> int:
        value = usage.get(name)
        return value if isinstance(value, int) and 0 <= value < 2**53 else 0

    return Usage(
        input_tokens=count("input_tokens"),
        output_tokens=count("output_tokens"),
        cache_read_tokens=count("cache_read_input_tokens"),
        cache_write_tokens=count("cache_creation_input_tokens"),
    )


def _object(holder: Json, name: str) -> Json:
    value = holder.get(name)
    if not isinstance(value, dict):
        raise ModelError("malformed", f"the reply's {holder.get('type')!s:.40} has no object `{name}`")
    return value


def _index(event: Json) -> int:
    value = event.get("index")
    if not isinstance(value, int):
        raise ModelError("malformed", "the reply has a content block without an index")
    return value


def _text(holder: Json, name: str) -> str:
    value = holder.get(name)
    return value if isinstance(value, str) else ""
