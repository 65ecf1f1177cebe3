"""The pure fold of a stream's events into one reply."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from antiphon.engine.blocks import Block
from antiphon.engine.reply import Reply, content_of, events_of
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import ReplyCitation, StoredText, ToolCall, Usage

MAX_BLOCKS = 500
"""Guards against a server that begins blocks without end."""
MAX_COUNT = 2**53
"""Counts of tokens from here on are ignored: JSON numbers are exact only below."""
THINKING = ("thinking", "redacted_thinking")
_FIELD_OF_DELTA = {
    "text_delta": "text",
    "input_json_delta": "partial_json",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
"""The field in which each kind of delta carries its piece of text."""


class ReplyFold:
    """Folds raw stream events; tolerates omissions of compatible servers, but is strict about the end.

    Attributes:
        restarts: How often the stream started over; all that was emitted before is void.

    Args:
        ids: The ids of earlier tool calls, to which this reply's are added. Some servers count from 0 in each reply,
            and a second attempt may repeat the first one's ids.
    """

    def __init__(self, ids: set[str] | None = None) -> None:
        if ids is None:
            ids = set()
        self._ids = ids
        self._blocks: list[Block] = []
        self._by_index: dict[int, Block] = {}
        self._message: Json | None = None
        self._request_id: str | None = None
        self._usage: Json = {}
        self._stop_reason = ""
        self._ended = False
        self.restarts = 0

    def add(self, event: Json) -> str | ToolCall | None:
        """Takes the next event; returns the piece of text or the complete tool call in it.

        Raises:
            ModelError: (`malformed`) A Messages API does not send such an event.
        """
        if self._ended:
            return None
        # As a string, because a server may send any JSON there; events of other kinds, such as `ping`, carry nothing.
        handle = self._HANDLERS.get(str(event.get("type")))
        if handle is None:
            return None
        return handle(self, event)

    @property
    def usage(self) -> Usage:
        """The tokens that the server has reported so far."""
        return _usage(self._usage)

    @property
    def is_whole(self) -> bool:
        """True once the reply is complete."""
        return self._ended

    @property
    def model(self) -> str:
        """The model that the server names; empty until it names one."""
        return _text(self._message or {}, "model")

    @property
    def thinks(self) -> bool:
        """True if the reply contains a thinking block so far."""
        return any(block.kind in THINKING for block in self._blocks)

    def reply(self) -> Reply:
        """Returns the whole reply.

        Raises:
            ModelError: (`truncated_stream`) The stream ended before its `message_stop`.
        """
        if not self._ended:
            raise ModelError(
                "truncated_stream",
                "the stream ended before the reply was complete",
                retryable=True,
            )
        if self._message is None:
            raise ModelError("malformed", "the stream held no message_start")
        content: list[StoredText] = []
        calls: list[ToolCall] = []
        for block in self._blocks:
            content.append(block.json())
            call = block.tool_call()
            if call is not None:
                calls.append(call)
        # Some compatible servers send no stop reason; the content nearly determines it.
        usual = "tool_use" if calls else "end_turn"
        text, citations = _text_of(self._blocks)
        return Reply(
            content=tuple(content),
            text=StoredText(text),
            tool_calls=tuple(calls),
            citations=citations,
            stop_reason=self._stop_reason or usual,
            usage=_usage(self._usage),
            model=_text(self._message, "model"),
            message_id=_text(self._message, "id"),
            request_id=self._request_id,
        )

    def _on_message_start(self, event: Json) -> None:
        if self._message is not None:
            # Servers that switch models in mid-reply begin a second message in the same stream.
            self.restarts += 1
            self._blocks = []
            self._by_index = {}
            self._usage = {}
            self._stop_reason = ""
        self._message = _object(event, "message")
        # body.py copies the id from the response's headers, which the fold does not see, into this event.
        self._request_id = _text(event, "request_id") or None
        self._take_usage(self._message)
        # A message that continues a paused one may already contain blocks.
        for index, block in enumerate(content_of(self._message)):
            self._on_block_start({"index": index, "content_block": block})

    def _on_message_delta(self, event: Json) -> None:
        stop_reason = _text(_object(event, "delta"), "stop_reason")
        if stop_reason:
            self._stop_reason = stop_reason
        self._take_usage(event)

    def _on_block_start(self, event: Json) -> str | None:
        index = _index(event)
        if len(self._blocks) >= MAX_BLOCKS:
            raise ModelError(
                "malformed", f"the reply holds more than {MAX_BLOCKS} content blocks"
            )
        known = self._by_index.get(index)
        # Once its block has ended, an index may come again, for a new block.
        if known is not None and not known.stopped:
            raise ModelError(
                "malformed", f"the reply starts its content block {index} twice"
            )
        block = Block(self._with_free_id(_object(event, "content_block")))
        self._by_index[index] = block
        self._blocks.append(block)
        if block.kind != "text":
            return None
        return block.field("text") or None

    def _on_delta(self, event: Json) -> str | None:
        delta = _object(event, "delta")
        block = self._block(event)
        kind = str(delta.get("type"))
        if kind == "citations_delta":
            block.citations.append(_object(delta, "citation"))
            return None
        field = _FIELD_OF_DELTA.get(kind)
        if field is None:
            return None
        piece = block.append(field, delta.get(field))
        if field != "text" or block.kind != "text":
            return None
        return piece or None

    def _on_block_stop(self, event: Json) -> ToolCall | None:
        block = self._block(event)
        if block.stopped:
            return None
        block.stopped = True
        call = block.tool_call()
        # A call that was cut off must not start early; the whole reply still contains it.
        if call is None or not block.is_readable:
            return None
        return call

    def _on_message_stop(self, _: Json) -> None:
        self._ended = True

    def _with_free_id(self, start: Json) -> Json:
        """Gives the tool call in a block's start an id that is unique in the session."""
        call_id = start.get("id")
        if start.get("type") != "tool_use":
            return start
        # Some servers number their calls, and some send no id: the call is usable all the same.
        if type(call_id) is int:
            call_id = str(call_id)
        if not isinstance(call_id, str) or not call_id:
            call_id = "toolu"
        free = call_id
        number = 2
        while free in self._ids:
            free = f"{call_id}-{number}"
            number += 1
        self._ids.add(free)
        return start | {"id": free}

    def _block(self, event: Json) -> Block:
        block = self._by_index.get(_index(event))
        if block is None:
            raise ModelError(
                "malformed", "the reply goes on with a content block that never began"
            )
        return block

    def _take_usage(self, holder: Json) -> None:
        usage = holder.get("usage")
        if not isinstance(usage, dict):
            return
        # The counts of message_delta are totals, not increments; null means unchanged.
        for name, count in usage.items():
            if count is not None:
                self._usage[name] = count

    _HANDLERS: ClassVar[
        dict[str, Callable[[ReplyFold, Json], str | ToolCall | None]]
    ] = {
        "message_start": _on_message_start,
        "content_block_start": _on_block_start,
        "content_block_delta": _on_delta,
        "content_block_stop": _on_block_stop,
        "message_delta": _on_message_delta,
        "message_stop": _on_message_stop,
    }


def reply_of(message: Json) -> Reply:
    """Reads a whole message as a reply.

    Raises:
        ModelError: (`malformed`) A Messages API does not send such a message.
    """
    fold = ReplyFold()
    for event in events_of(message):
        fold.add(event)
    return fold.reply()


def _text_of(blocks: list[Block]) -> tuple[str, tuple[ReplyCitation, ...]]:
    """Joins the text blocks; positions in citations count characters from the start of the joined text."""
    texts: list[str] = []
    citations: list[ReplyCitation] = []
    length = 0
    for block in blocks:
        if block.kind == "text":
            citations += block.citations_from(length)
            text = block.field("text")
            texts.append(text)
            length += len(text)
    return "".join(texts), tuple(citations)


def _usage(counts: Json) -> Usage:
    return Usage(
        input_tokens=_count(counts, "input_tokens"),
        output_tokens=_count(counts, "output_tokens"),
        cache_read_tokens=_count(counts, "cache_read_input_tokens"),
        cache_write_tokens=_count(counts, "cache_creation_input_tokens"),
        thinking_tokens=_thinking_tokens(counts),
    )


def _thinking_tokens(counts: Json) -> int:
    details = counts.get("output_tokens_details")
    if not isinstance(details, dict):
        return 0
    return _count(details, "thinking_tokens")


def _count(counts: Json, name: str) -> int:
    value = counts.get(name)
    # Checks the type itself, because isinstance takes `true` for an integer.
    if type(value) is not int or not 0 <= value < MAX_COUNT:
        return 0
    return value


def _object(holder: Json, name: str) -> Json:
    value = holder.get(name)
    if not isinstance(value, dict):
        raise ModelError(
            "malformed",
            f"the reply's {holder.get('type')!s:.40} has no object `{name}`",
        )
    return value


def _index(event: Json) -> int:
    value = event.get("index")
    if type(value) is not int:
        raise ModelError("malformed", "the reply has a content block without an index")
    return value


def _text(holder: Json, name: str) -> str:
    value = holder.get(name)
    if not isinstance(value, str):
        return ""
    return value
