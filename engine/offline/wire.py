"""Writes replies in the Messages API's own forms: content blocks, a message, a stream's events, and errors."""

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
"""The certainty of an answer: it is found, the reader must judge, or it is only the closest there is."""
PIECE_CHARS = 60
CHARS_PER_TOKEN = 4
"""A common estimate for English text; there is no public tokenizer."""
CALL_CHARS = 40
"""The characters of a tool call besides its input: its name and id."""


class Draft:
    """A reply in the making: text blocks, some with true citations, or tool calls.

    Attributes:
        stop_reason: The marker of a missing or uncertain answer (`vocabulary.events.NOT_SEARCHED` and its neighbours),
            from which the answer's doubts follow without comparing sentences; empty: the usual one for the blocks.
        certainty: The certainty that it answers the question.
        part_missing: It answers only a part of the question.
    """

    def __init__(self, blocks: Sequence[Json] = ()) -> None:
        self.blocks: list[Json] = list(blocks)
        self.stop_reason = ""
        self.certainty: Certainty = "high"
        self.part_missing = False

    def say(self, text: str) -> None:
        """Adds text of our own."""
        if not text:
            return
        # Texts without a citation may share a block, but a cited block holds only its source's words.
        if self.blocks and "citations" not in self.blocks[-1]:
            self.blocks[-1]["text"] += text
        else:
            self.blocks.append({"type": "text", "text": text})

    def decline(self, text: str, stop_reason: str) -> None:
        """Says why there is no answer, and sets the stop reason that marks it."""
        self.say(text)
        self.stop_reason = stop_reason

    def doubt(self, sure: Certainty, *, part_missing: bool = False) -> None:
        """Notes the certainty of the answer in the stop reason, which the worst doubt decides.

        Args:
            part_missing: It answers only a part of the question.
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
        """Begins a new paragraph, if there already is text, with `opening`."""
        if self.blocks:
            self.say("\n\n")
        self.say(opening)

    def cite(
        self, source: Source, first: int, end: int, text: str | None = None
    ) -> None:
        """Cites blocks `first` to `end` (exclusive) of a source, in their own words or those of `text`."""
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
    """Returns a whole message with an id derived from the request, so that equal requests have equal replies."""
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
    """Returns an error in the API's form."""
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
        # The index comes after the type and before the content, as in the API's own events.
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
"""Kinds of blocks whose text comes in deltas: the field, and the kind of delta."""


def _block_events(block: Json, piece_chars: int) -> Iterator[Json]:
    if block["type"] == "tool_use":
        yield {"type": "content_block_start", "content_block": block | {"input": {}}}
        given = block["input"]
        # Arguments given as a string are JSON broken on purpose, which is sent unchanged.
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
