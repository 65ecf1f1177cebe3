"""Model replies as streams of events: converts content into events and back, and makes content wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from antiphon.engine import delta_events
from antiphon.faults.plan import Kind
from antiphon.vocabulary.ports import Json

MODEL_NAME = "claude-sonnet-5-5"
"""A model that the table knows, so that requests to it are made as for a real one, and can be checked."""
REPLY_TOKENS = 40
OVERSIZED_CHARS = 1_000_000
_PIECE_CHARS = 16
_MOST_PIECES = 20
_TEXT_OF_DELTA = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}
_TEXT: Json = {"type": "text", "text": "A reply of no great value."}


def stream_of(
    content: Sequence[Json],
    message_id: str,
    stop_reason: str | None = None,
    usage: tuple[int, int] = (100, REPLY_TOKENS),
) -> list[Json]:
    """Writes content blocks as a stream's events, in small pieces.

    Args:
        stop_reason: The stop reason; None: the one that fits the content.
        usage: The numbers of input and output tokens.
    """
    input_tokens, output_tokens = usage
    message: Json = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": MODEL_NAME,
        "content": list(content),
        "stop_reason": stop_reason or fitting_stop(content),
        "usage": {"input_tokens": input_tokens, "output_tokens": output_tokens},
    }
    return list(delta_events(message, piece_chars(content)))


def fitting_stop(content: Sequence[Json]) -> str:
    """Returns the stop reason of a reply that ends normally."""
    kinds = [block["type"] for block in content]
    return "tool_use" if "tool_use" in kinds else "end_turn"


def piece_chars(content: Sequence[Json]) -> int:
    """Returns the length of a delta: small enough to break inside a text, but with few deltas for a huge text."""
    # `oversized` makes a text of a size that would otherwise take many thousands of deltas.
    longest = max((len(str(block.get("text", ""))) for block in content), default=0)
    return max(_PIECE_CHARS, longest // _MOST_PIECES)


def content_of(events: Sequence[Json]) -> list[Json]:
    """Assembles the content blocks from a stream's events."""
    blocks: dict[int, Json] = {}
    for event in events:
        if event.get("type") == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event.get("type") == "content_block_delta":
            _extend(blocks[event["index"]], event["delta"])
    return [blocks[index] for index in sorted(blocks)]


def _extend(block: Json, delta: Json) -> None:
    field = _TEXT_OF_DELTA.get(delta["type"])
    if field is not None:
        block[field] = block.get(field, "") + delta[field]
    elif delta["type"] == "input_json_delta":
        # A block begins with an empty object, which the first piece of JSON replaces.
        if not isinstance(block["input"], str):
            block["input"] = ""
        block["input"] += delta["partial_json"]
    elif delta["type"] == "citations_delta":
        block.setdefault("citations", []).append(delta["citation"])


class _Reply(NamedTuple):
    """A reply to make wrong.

    Attributes:
        tool: The name of an existing tool.
    """

    blocks: Sequence[Json]
    message_id: str
    tool: str

    @property
    def calls(self) -> list[Json]:
        return [block for block in self.blocks if block["type"] == "tool_use"]

    def call(self, ending: str, name: str = "") -> Json:
        return {
            "type": "tool_use",
            "id": f"toolu_{self.message_id}_{ending}",
            "name": name or self.tool,
            "input": {"course_name": "Reliability"},
        }

    def calls_or_one(self) -> list[Json]:
        return self.calls or [self.call("c")]


class Wrong(NamedTuple):
    """The content of a wrong reply; a stop reason of None means the one that fits the content."""

    blocks: Sequence[Json]
    stop_reason: str | None = None


def _truncated(reply: _Reply) -> Wrong:
    """Cuts the last block in two."""
    if not reply.blocks:
        return Wrong([], "max_tokens")
    last = reply.blocks[-1]
    if last["type"] == "tool_use":
        last = last | {"input": '{"query": "states of a cir'}
    else:
        text = last.get("text", "")
        last = last | {"text": text[: len(text) // 2]}
    return Wrong([*reply.blocks[:-1], last], "max_tokens")


def _oversized(reply: _Reply) -> Wrong:
    sentence = "A circuit breaker. "
    huge: Json = {"type": "text", "text": sentence * (OVERSIZED_CHARS // len(sentence))}
    return Wrong([huge, *reply.calls])


def _with_unknown_tool(reply: _Reply) -> Wrong:
    return Wrong([*reply.blocks, reply.call("x", "no_such_tool")])


def _malformed(reply: _Reply) -> Wrong:
    """Calls tools with arguments that are not JSON."""
    if not reply.calls:
        return Wrong([_TEXT, reply.call("bad") | {"input": "]"}])
    broken = [call | {"input": '{"query": '} for call in reply.calls]
    return Wrong([_TEXT, *broken])


def _with_duplicates(reply: _Reply) -> Wrong:
    """Repeats each call under an id of its own."""
    copies = [call | {"id": f"{call['id']}b"} for call in reply.calls_or_one()]
    return Wrong([*reply.blocks, *copies])


CORRUPTIONS: dict[Kind, Callable[[_Reply], Wrong]] = {
    "empty": lambda _: Wrong([]),
    "refusal": lambda reply: Wrong(reply.blocks[:1], "refusal"),
    "max_tokens": lambda reply: Wrong(reply.blocks, "max_tokens"),
    "truncate": _truncated,
    "oversized": _oversized,
    "unknown_tool": _with_unknown_tool,
    "malformed": _malformed,
    # Each call twice under one id.
    "wrong_id": lambda reply: Wrong([*reply.blocks, *reply.calls_or_one()]),
    "duplicate": _with_duplicates,
}


def corrupted(
    blocks: Sequence[Json],
    kind: Kind,
    message_id: str,
    tool: str = "get_course_outline",
) -> Wrong:
    """Makes a reply wrong in the way of `kind`.

    Args:
        tool: The tool to call if the reply itself calls none.
    """
    return CORRUPTIONS[kind](_Reply(blocks, message_id, tool))


def corrupted_stream(events: Sequence[Json], kind: Kind) -> list[Json]:
    """Returns the stream of a reply that is wrong in the way of `kind`."""
    message_id = str(events[0]["message"]["id"]) if events else "msg"
    wrong = corrupted(content_of(events), kind, message_id)
    return stream_of(wrong.blocks, message_id, wrong.stop_reason)
