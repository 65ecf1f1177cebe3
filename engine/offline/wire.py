"""A reply in the Messages API's own forms: a message, the same as a stream's events, and errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec

from vocabulary.ports import Json

PIECE_CHARS = 60
CHARS_PER_TOKEN = 4
"""A common estimate for English text; no tokenizer is at hand."""


def message_of(body: bytes, model: str, content: list[Json]) -> Json:
    """A whole message; its id follows from the request, so that the same request has the same reply."""
    key = sha256(body).hexdigest()
    for number, block in enumerate(content):
        if block["type"] == "tool_use":
            block["id"] = f"toolu_{key[:22]}{number:02d}"
    calls = any(block["type"] == "tool_use" for block in content)
    return {
        "id": f"msg_{key[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(len(body) // CHARS_PER_TOKEN, 1),
            "output_tokens": max(sum(map(_length, content)) // CHARS_PER_TOKEN, 1),
        },
    }


def error_of(kind: str, sentence: str) -> Json:
    """An error as the API tells it."""
    return {"type": "error", "error": {"type": kind, "message": sentence}}


def stream_of(message: Json) -> Iterator[bytes]:
    """The message as server-sent events, one chunk for each content block."""
    usage, content = message["usage"], message["content"]
    begun = message | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    yield _sse({"type": "message_start", "message": begun})
    for index, block in enumerate(content):
        yield b"".join(_sse({"index": index, **event}) for event in _block_events(block))
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    end = {"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}}
    yield _sse(end) + _sse({"type": "message_stop"})


def _block_events(block: Json) -> Iterable[Json]:
    if block["type"] == "tool_use":
        yield {"type": "content_block_start", "content_block": block | {"input": {}}}
        yield _delta("input_json_delta", "partial_json", msgspec.json.encode(block["input"]).decode())
    else:
        start: Json = {"type": "text", "text": ""} | ({"citations": []} if "citations" in block else {})
        yield {"type": "content_block_start", "content_block": start}
        for citation in block.get("citations", ()):
            yield _delta("citations_delta", "citation", citation)
        for at in range(0, len(block["text"]), PIECE_CHARS):
            yield _delta("text_delta", "text", block["text"][at : at + PIECE_CHARS])
    yield {"type": "content_block_stop"}


def _delta(kind: str, field: str, value: object) -> Json:
    return {"type": "content_block_delta", "delta": {"type": kind, field: value}}


def _sse(event: Json) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (event["type"].encode(), msgspec.json.encode(event))


def _length(block: Json) -> int:
    return len(block["text"]) if block["type"] == "text" else len(msgspec.json.encode(block["input"])) + 40
