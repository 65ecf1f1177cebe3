"""A reply in the Messages API's own forms: its content blocks, a message, the same as a stream's events, and errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Literal

import msgspec

from antiphon.engine.models import OFFLINE as OFFLINE
from antiphon.engine.offline.task import Source
from antiphon.vocabulary.events import CLOSEST_FOUND, LOOSE_FIT, PART_MISSING
from antiphon.vocabulary.ports import Json

Certainty = Literal["high", "medium", "low"]
"""How sure a reply is that it answers: it is found, one must look oneself, or it is only the closest there is."""
PIECE_CHARS = 60
CHARS_PER_TOKEN = 4
"""A common estimate for English text; no tokenizer is at hand."""
CALL_CHARS = 40
"""The characters that a tool call takes beside its input: its name and id."""


class Draft:
    """A reply while it is written: text blocks, the cited ones with true citations, or tool calls.

    Attributes:
        stop_reason: The marker of a reply that is none, or of which it is not sure (`vocabulary.events.NOT_SEARCHED`
            and its neighbours), by which the answer's doubts are known without comparing sentences; empty: what fits
            the blocks.
        certainty: How sure it is that it answers.
        part_missing: It answers a part of the question only.
    """

    def __init__(self, blocks: Sequence[Json] = ()) -> None:
        self.blocks: list[Json] = list(blocks)
        self.stop_reason = ""
        self.certainty: Certainty = "high"
        self.part_missing = False

    def say(self, text: str) -> None:
        """Adds words of our own."""
        if not text:
            return
        # Words without a citation may share a block, a cited block holds only what its source says.
        if self.blocks and "citations" not in self.blocks[-1]:
            self.blocks[-1]["text"] += text
        else:
            self.blocks.append({"type": "text", "text": text})

    def decline(self, text: str, stop_reason: str) -> None:
        """Says why there is no answer."""
        self.say(text)
        self.stop_reason = stop_reason

    def doubt(self, sure: Certainty, *, part_missing: bool = False) -> None:
        """Says by the stop reason how sure the answer is; what is worst comes first.

        Args:
            part_missing: It answers a part of the question only.
        """
        self.certainty = sure
        self.part_missing = part_missing
        if sure == "low":
            self.stop_reason = CLOSEST_FOUND
        elif part_missing:
            self.stop_reason = PART_MISSING
        elif sure == "medium":
            self.stop_reason = LOOSE_FIT

    def paragraph(self, opening: str = "") -> None:
        """Begins a new paragraph, if there is text already, with `opening`."""
        if self.blocks:
            self.say("\n\n")
        self.say(opening)

    def cite(
        self, source: Source, first: int, end: int, text: str | None = None
    ) -> None:
        """Adds what blocks `first` to `end` (exclusive) of a source hold; `text` puts it in other words."""
        cited = "".join(source.blocks[first:end])
        if text is None:
            text = " ".join(cited.split())
        if source.number is None:
            self.say(text)
            return
        citation = {
            "type": "search_result_location",
            "search_result_index": source.number,
            "start_block_index": first,
            "end_block_index": end,
            "cited_text": cited,
            "source": source.source,
            "title": source.title,
        }
        self.blocks.append({"type": "text", "text": text, "citations": [citation]})


def message_of(body: bytes, model: str, draft: Draft) -> Json:
    """Returns a whole message; its id follows from the request, so that the same request has the same reply."""
    content = draft.blocks
    key = sha256(body).hexdigest()
    stop_reason = "end_turn"
    length = 0
    for number, block in enumerate(content):
        if block["type"] == "tool_use":
            block["id"] = f"toolu_{key[:22]}{number:02d}"
            stop_reason = "tool_use"
            length += len(msgspec.json.encode(block["input"])) + CALL_CHARS
        else:
            length += len(block["text"])
    return {
        "id": f"msg_{key[:24]}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
        "stop_reason": draft.stop_reason or stop_reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": max(len(body) // CHARS_PER_TOKEN, 1),
            "output_tokens": max(length // CHARS_PER_TOKEN, 1),
        },
    }


def error_of(kind: str, sentence: str) -> Json:
    """Returns an error as the API sends it."""
    return {"type": "error", "error": {"type": kind, "message": sentence}}


def stream_of(message: Json) -> Iterator[bytes]:
    """Yields the message as server-sent events, one chunk for each content block."""
    chunk = b""
    for event in delta_events(message, PIECE_CHARS):
        chunk += sse_of(event)
        if event["type"] in ("message_start", "content_block_stop", "message_stop"):
            yield chunk
            chunk = b""


def delta_events(message: Json, piece_chars: int) -> Iterator[Json]:
    """Yields the message as the events of a stream, its texts in deltas of `piece_chars` characters."""
    usage, content = message["usage"], message["content"]
    begun = message | {
        "content": [],
        "stop_reason": None,
        "usage": usage | {"output_tokens": 1},
    }
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(content):
        # The index after the type, and before what the event holds: the order that the API itself sends.
        for event in _block_events(block, piece_chars):
            yield {"type": event["type"], "index": index} | event
    delta = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {
        "type": "message_delta",
        "delta": delta,
        "usage": {"output_tokens": usage["output_tokens"]},
    }
    yield {"type": "message_stop"}


def sse_of(event: Json) -> bytes:
    """Returns the event as the lines of a stream."""
    return b"event: %s\ndata: %s\n\n" % (
        str(event.get("type", "")).encode(),
        msgspec.json.encode(event),
    )


_IN_DELTAS = {
    "text": ("text", "text_delta"),
    "thinking": ("thinking", "thinking_delta"),
}
"""Kinds of blocks whose words come in deltas: the field, and the kind of delta."""


def _block_events(block: Json, piece_chars: int) -> Iterator[Json]:
    if block["type"] == "tool_use":
        yield {"type": "content_block_start", "content_block": block | {"input": {}}}
        given = block["input"]
        # Arguments that are a text already are JSON that is broken on purpose: it travels as it is.
        is_text = isinstance(given, str)
        written = given if is_text else msgspec.json.encode(given).decode()
        yield from _deltas("input_json_delta", "partial_json", written, piece_chars)
    elif block["type"] in _IN_DELTAS:
        yield from _words_events(block, piece_chars)
    else:
        yield {"type": "content_block_start", "content_block": block}
    yield {"type": "content_block_stop"}


def _words_events(block: Json, piece_chars: int) -> Iterator[Json]:
    field, kind = _IN_DELTAS[block["type"]]
    begun: Json = {"type": block["type"], field: ""}
    if "citations" in block:
        begun["citations"] = []
    yield {"type": "content_block_start", "content_block": begun}
    for citation in block.get("citations") or ():
        yield _delta("citations_delta", "citation", citation)
    yield from _deltas(kind, field, block[field], piece_chars)
    if "signature" in block:
        yield _delta("signature_delta", "signature", block["signature"])


def _deltas(kind: str, field: str, text: str, piece_chars: int) -> Iterator[Json]:
    for at in range(0, len(text), piece_chars):
        yield _delta(kind, field, text[at : at + piece_chars])


def _delta(kind: str, field: str, value: object) -> Json:
    return {"type": "content_block_delta", "delta": {"type": kind, field: value}}
