"""A reply in the Messages API's own forms: a message, the same as a stream's events, and errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec

from antiphon.vocabulary.ports import Json

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
    chunk = b""
    for event in delta_events(message, PIECE_CHARS):
        chunk += sse_of(event)
        if event["type"] in ("message_start", "content_block_stop", "message_stop"):
            yield chunk
            chunk = b""


def delta_events(message: Json, piece_chars: int) -> Iterator[Json]:
    """The message as the events of a stream, its texts in deltas of `piece_chars` characters."""
    usage, content = message["usage"], message["content"]
    begun = message | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(content):
        for event in _block_events(block, piece_chars):
            yield {"type": event["type"], "index": index} | event
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": usage["output_tokens"]}}
    yield {"type": "message_stop"}


def sse_of(event: Json) -> bytes:
    """The event as the lines of a stream."""
    return b"event: %s\ndata: %s\n\n" % (str(event.get("type", "")).encode(), msgspec.json.encode(event))


_IN_DELTAS = {"text": ("text", "text_delta"), "thinking": ("thinking", "thinking_delta")}
"""Kinds of blocks whose words come in deltas: the field, and the kind of delta."""


def _block_events(block: Json, piece_chars: int) -> Iterable[Json]:
    if block["type"] == "tool_use":
        yield {"type": "content_block_start", "content_block": block | {"input": {}}}
        written = msgspec.json.encode(block["input"]).decode()
        yield from _deltas("input_json_delta", "partial_json", written, piece_chars)
    elif block["type"] in _IN_DELTAS:
        field, kind = _IN_DELTAS[block["type"]]
        citations = block.get("citations")
        begun = {"type": block["type"], field: ""} | ({"citations": []} if "citations" in block else {})
        yield {"type": "content_block_start", "content_block": begun}
        for citation in citations or ():
            yield _delta("citations_delta", "citation", citation)
        yield from _deltas(kind, field, block[field], piece_chars)
        if "signature" in block:
            yield _delta("signature_delta", "signature", block["signature"])
    else:
        yield {"type": "content_block_start", "content_block": block}
    yield {"type": "content_block_stop"}


def _deltas(kind: str, field: str, text: str, piece_chars: int) -> Iterator[Json]:
    return (_delta(kind, field, text[at : at + piece_chars]) for at in range(0, len(text), piece_chars))


def _delta(kind: str, field: str, value: object) -> Json:
    return {"type": "content_block_delta", "delta": {"type": kind, field: value}}


def _length(block: Json) -> int:
    return len(block["text"]) if block["type"] == "text" else len(msgspec.json.encode(block["input"])) + 40
