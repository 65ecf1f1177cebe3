"""Replies of a model as streams of events: content into events, events into content, and content made wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from antiphon.faults.plan import Kind
from antiphon.vocabulary.ports import Json

MODEL_NAME = "claude-sonnet-5-5"
"""A model that the table knows, so that what it is sent is made as for a real one, and can be checked."""
REPLY_TOKENS = 40
OVERSIZED_CHARS = 1_000_000
_PIECE_CHARS = 16
_MOST_PIECES = 20
_TEXT: Json = {"type": "text", "text": "A reply of no great value."}


def stream_of(
    content: Sequence[Json],
    message_id: str,
    stop_reason: str | None = None,
    usage: tuple[int, int] = (100, REPLY_TOKENS),
) -> list[Json]:
    """Writes content blocks as a stream's events, in small pieces.

    Args:
        stop_reason: None is the one that fits the content.
        usage: The tokens of input and output.
    """
    if stop_reason is None:
        stop_reason = "end_turn"
        for block in content:
            if block["type"] == "tool_use":
                stop_reason = "tool_use"
    input_tokens, output_tokens = usage
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": MODEL_NAME,
        "content": [],
        # The wire counts one output token at first; the whole number comes with the end.
        "usage": {"input_tokens": input_tokens, "output_tokens": 1},
    }
    events: list[Json] = [{"type": "message_start", "message": message}]
    for index, block in enumerate(content):
        for event in _block_events(block):
            events.append({"index": index, **event})
    ending: Json = {
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason},
        "usage": {"output_tokens": output_tokens},
    }
    events.append(ending)
    events.append({"type": "message_stop"})
    return events


def _block_events(block: Json) -> Iterator[Json]:
    if block["type"] == "tool_use":
        yield {"type": "content_block_start", "content_block": block | {"input": {}}}
        given = block["input"]
        # Arguments that are a text already are JSON that is broken on purpose: it travels as it is.
        is_text = isinstance(given, str)
        arguments = given if is_text else msgspec.json.encode(given).decode()
        for piece in _pieces(arguments):
            yield _delta("input_json_delta", "partial_json", piece)
    else:
        yield {
            "type": "content_block_start",
            "content_block": {"type": "text", "text": ""},
        }
        for citation in block.get("citations", ()):
            yield _delta("citations_delta", "citation", citation)
        for piece in _pieces(block["text"]):
            yield _delta("text_delta", "text", piece)
    yield {"type": "content_block_stop"}


def _pieces(text: str) -> Iterator[str]:
    # Small, so that a stream can break inside a text; few, so that a huge one costs no thousands of events.
    size = max(_PIECE_CHARS, len(text) // _MOST_PIECES)
    for start in range(0, len(text), size):
        yield text[start : start + size]


def _delta(kind: str, field: str, value: object) -> Json:
    return {"type": "content_block_delta", "delta": {"type": kind, field: value}}


def content_of(events: Sequence[Json]) -> list[Json]:
    """Reads the content blocks that a stream's events make."""
    blocks: dict[int, Json] = {}
    for event in events:
        if event.get("type") == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event.get("type") == "content_block_delta":
            _extend(blocks[event["index"]], event["delta"])
    return [blocks[index] for index in sorted(blocks)]


def _extend(block: Json, delta: Json) -> None:
    if delta["type"] == "text_delta":
        block["text"] = block.get("text", "") + delta["text"]
    elif delta["type"] == "input_json_delta":
        # A block begins with an empty object, which the first piece of JSON replaces.
        if not isinstance(block["input"], str):
            block["input"] = ""
        block["input"] += delta["partial_json"]
    elif delta["type"] == "citations_delta":
        block.setdefault("citations", []).append(delta["citation"])


class _Reply(NamedTuple):
    """A reply that is to be made wrong."""

    message_id: str
    blocks: list[Json]

    @property
    def calls(self) -> list[Json]:
        return [block for block in self.blocks if block["type"] == "tool_use"]

    def stream(
        self, blocks: Sequence[Json], stop_reason: str | None = None
    ) -> list[Json]:
        return stream_of(blocks, self.message_id, stop_reason)


def _truncated(reply: _Reply) -> list[Json]:
    """Cuts the last block in two."""
    if not reply.blocks:
        return reply.stream([], "max_tokens")
    last = reply.blocks[-1]
    if last["type"] == "tool_use":
        last = last | {"input": '{"query": "states of a cir'}
    else:
        text = last["text"]
        last = last | {"text": text[: len(text) // 2]}
    return reply.stream([*reply.blocks[:-1], last], "max_tokens")


def _oversized(reply: _Reply) -> list[Json]:
    sentence = "A circuit breaker. "
    huge: Json = {"type": "text", "text": sentence * (OVERSIZED_CHARS // len(sentence))}
    return reply.stream([huge, *reply.calls])


def _with_unknown_tool(reply: _Reply) -> list[Json]:
    unknown = _call("no_such_tool", f"toolu_{reply.message_id}_x")
    return reply.stream([*reply.blocks, unknown])


def _malformed(reply: _Reply) -> list[Json]:
    """Calls tools with arguments that are no JSON."""
    if not reply.calls:
        return reply.stream(
            [_TEXT, _call("get_course_outline", "toolu_bad") | {"input": "]"}]
        )
    broken = [call | {"input": '{"query": '} for call in reply.calls]
    return reply.stream([_TEXT, *broken])


def _with_same_id(reply: _Reply) -> list[Json]:
    """Makes each call twice under one id."""
    return reply.stream([*reply.blocks, *_calls_or_one(reply)])


def _with_duplicates(reply: _Reply) -> list[Json]:
    """Makes each call once more under an id of its own."""
    copies = [call | {"id": f"{call['id']}b"} for call in _calls_or_one(reply)]
    return reply.stream([*reply.blocks, *copies])


def _calls_or_one(reply: _Reply) -> list[Json]:
    if reply.calls:
        return reply.calls
    return [_call("get_course_outline", f"toolu_{reply.message_id}_c")]


def _call(name: str, call_id: str) -> Json:
    return {
        "type": "tool_use",
        "id": call_id,
        "name": name,
        "input": {"course_name": "Reliability"},
    }


CORRUPTIONS: dict[Kind, Callable[[_Reply], list[Json]]] = {
    "empty": lambda reply: reply.stream([], "end_turn"),
    "refusal": lambda reply: reply.stream(reply.blocks[:1], "refusal"),
    "max_tokens": lambda reply: reply.stream(reply.blocks, "max_tokens"),
    "truncate": _truncated,
    "oversized": _oversized,
    "unknown_tool": _with_unknown_tool,
    "malformed": _malformed,
    "wrong_id": _with_same_id,
    "duplicate": _with_duplicates,
}


def corrupted_stream(events: Sequence[Json], kind: Kind) -> list[Json]:
    """Returns the stream of a reply that is wrong in the way of `kind`."""
    message_id = str(events[0]["message"]["id"]) if events else "msg"
    return CORRUPTIONS[kind](_Reply(message_id, content_of(events)))
