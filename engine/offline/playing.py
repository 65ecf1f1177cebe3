"""Turns a scripted reply into acts: what is sent and when.

Pure but for the random cuts, which a seed makes the same each time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

from antiphon.engine.offline.script import Break, ScriptedReply
from antiphon.engine.offline.wire import delta_events, error_of, sse_of
from antiphon.vocabulary.ports import Json

LONGEST_PIECE = 200
GARBAGE = b"data: {no json\n\n"


class Act(NamedTuple):
    """One thing to do: wait, then send, then perhaps break off for good."""

    wait_s: float = 0.0
    send: bytes = b""
    how: Literal["reset", "end", "stall"] | None = None


def acts_of(reply: ScriptedReply, request: Json, number: int) -> Iterator[Act]:
    """Yields the acts that send the body of `reply`, the answer to request `number`."""
    if reply.breaks is not None and reply.breaks.at == "first_byte":
        yield from _broken(reply.breaks)
        return
    if reply.error is not None:
        yield from _cut(reply, msgspec.json.encode(error_of(reply.error, reply.message)))
    elif reply.body is not None:
        yield from _cut(reply, reply.body.encode("utf-8", "surrogatepass"))
    elif request.get("stream"):
        yield from _streamed(reply, _events(reply, request, number))
    else:
        yield from _cut(reply, msgspec.json.encode(message_of_script(reply, request, number)))


def content_type_of(reply: ScriptedReply, request: Json) -> str:
    """Returns the body's content type."""
    if reply.content_type is not None:
        return reply.content_type
    streams = request.get("stream") and reply.error is None and reply.body is None
    return "text/event-stream; charset=utf-8" if streams else "application/json"


def message_of_script(reply: ScriptedReply, request: Json, number: int) -> Json:
    """Returns the whole message that the reply stands for."""
    content = list(reply.content or ())
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    for at, call in enumerate(reply.calls):
        id_ = call.id or f"toolu_{number:04d}_{at}"
        content.append({"type": "tool_use", "id": id_, "name": call.name, "input": call.input})
    calls = any(block.get("type") == "tool_use" for block in content)
    return {
        "id": reply.id or f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": reply.model or str(request.get("model", "double")),
        "content": content,
        "stop_reason": reply.stop_reason or ("tool_use" if calls else "end_turn"),
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5} | reply.usage,
    }


def _events(reply: ScriptedReply, request: Json, number: int) -> Iterator[Json]:
    if reply.events is not None:
        return iter(reply.events)
    return delta_events(message_of_script(reply, request, number), reply.delta_chars)


def _streamed(reply: ScriptedReply, events: Iterable[Json]) -> Iterator[Act]:
    breaks = reply.breaks
    deltas = 0
    for event in events:
        kind = event.get("type")
        if breaks is not None and _is_place(breaks, event, deltas):
            yield from _broken(breaks)
            return
        if kind == "content_block_delta":
            deltas += 1
            yield from _cut(reply, sse_of(event), reply.between_s)
        else:
            deltas = 0 if kind == "content_block_start" else deltas
            yield from _cut(reply, sse_of(event), reply.end_s if kind == "message_delta" else 0.0)


def _is_place(breaks: Break, event: Json, deltas: int) -> bool:
    """True where the reply breaks before `event`: in a block means after its first delta."""
    kind = event.get("type")
    if breaks.at == "message_stop":
        return kind == "message_stop"
    within = {"text": "text_delta", "tool_json": "input_json_delta"}.get(breaks.at)
    delta = event.get("delta") or {}
    return kind == "content_block_delta" and deltas == 1 and delta.get("type") == within


def _broken(breaks: Break) -> Iterator[Act]:
    if breaks.how == "error":
        yield Act(send=sse_of(error_of(breaks.error, "scripted")), how="end")
    elif breaks.how == "garbage":
        yield Act(send=GARBAGE, how="end")
    else:
        yield Act(how=breaks.how)


def _cut(reply: ScriptedReply, data: bytes, wait_s: float = 0.0) -> Iterator[Act]:
    for at, piece in enumerate(_pieces(reply, data)):
        yield Act(wait_s=0.0 if at else wait_s, send=piece)


def _pieces(reply: ScriptedReply, data: bytes) -> Iterator[bytes]:
    if reply.cut_seed is not None:
        chance = random.Random(f"{reply.cut_seed} {len(data)}")
        ends = [0]
        while ends[-1] < len(data):
            ends.append(ends[-1] + chance.randint(1, LONGEST_PIECE))
        return (data[start:end] for start, end in pairwise(ends))
    size = reply.piece_bytes or len(data) or 1
    return (data[at : at + size] for at in range(0, len(data), size))
