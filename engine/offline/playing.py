"""Turns a scripted reply into timed acts of sending.

Pure: even the random cuts are the same each time, because they are seeded.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Literal, NamedTuple

import msgspec

from antiphon.engine.offline.script import Break, ScriptedReply
from antiphon.engine.offline.wire import delta_events, error_of, sse_of
from antiphon.vocabulary.ports import Json

LONGEST_PIECE = 200
GARBAGE = b"data: {no json\n\n"
_DELTA_OF_PLACE = {"text": "text_delta", "tool_json": "input_json_delta"}


class Act(NamedTuple):
    """One step: wait, then send, then perhaps break off for good."""

    wait_s: float = 0.0
    send: bytes = b""
    how: Literal["reset", "end", "stall"] | None = None


class Played(NamedTuple):
    """A reply ready to send: its head, and its acts in order."""

    status: int
    headers: Mapping[str, str]
    acts: Iterable[Act]


def played(reply: ScriptedReply, request: Json, number: int) -> Played:
    """Prepares a scripted reply as the answer to request `number`."""
    headers = {
        "content-type": content_type_of(reply, request),
        "request-id": "req_double",
    } | reply.headers
    acts = chain([Act(reply.first_byte_s)], acts_of(reply, request, number))
    return Played(reply.status, headers, acts)


def acts_of(reply: ScriptedReply, request: Json, number: int) -> Iterator[Act]:
    """Yields the acts that send the body of `reply`, the answer to request `number`."""
    if reply.breaks is not None and reply.breaks.at == "first_byte":
        yield from _broken(reply.breaks)
    elif reply.error is not None:
        yield from _cut(
            reply, msgspec.json.encode(error_of(reply.error, reply.message))
        )
    elif reply.body is not None:
        yield from _cut(reply, reply.body.encode("utf-8", "surrogatepass"))
    elif _is_streamed(reply, request):
        yield from _streamed(reply, request, number)
    else:
        yield from _whole(reply, message_of_script(reply, request, number))


def content_type_of(reply: ScriptedReply, request: Json) -> str:
    """Returns the body's content type."""
    if reply.content_type is not None:
        return reply.content_type
    streamed = _is_streamed(reply, request)
    if streamed and reply.error is None and reply.body is None:
        return "text/event-stream; charset=utf-8"
    return "application/json"


def _is_streamed(reply: ScriptedReply, request: Json) -> bool:
    """Returns True for a reply that is sent as a stream, which includes one with scripted events."""
    return bool(request.get("stream")) or reply.events is not None


def message_of_script(reply: ScriptedReply, request: Json, number: int) -> Json:
    """Returns the whole message that the reply describes."""
    content = _content(reply, number)
    kinds = [block.get("type") for block in content]
    message: Json = {
        "id": f"msg_{number:04d}",
        "type": "message",
        "role": "assistant",
        "model": str(request.get("model", "double")),
        "content": content,
        "stop_reason": "tool_use" if "tool_use" in kinds else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5} | reply.usage,
    }
    # Last, so that the script's own values override the usual ones.
    named = {"id": reply.id, "model": reply.model, "stop_reason": reply.stop_reason}
    for field, value in named.items():
        if value:
            message[field] = value
    return message


def _content(reply: ScriptedReply, number: int) -> list[Json]:
    content = list(reply.content or ())
    if reply.text is not None:
        content.append({"type": "text", "text": reply.text})
    for at, call in enumerate(reply.calls):
        call_id = call.id or f"toolu_{number:04d}_{at}"
        content.append(
            {"type": "tool_use", "id": call_id, "name": call.name, "input": call.input}
        )
    return content


def _whole(reply: ScriptedReply, message: Json) -> Iterator[Act]:
    """Sends a message in one piece, after the time that its stream would take; a break comes in the middle."""
    body = msgspec.json.encode(message)
    wait_s = reply.end_s
    for event in delta_events(message, reply.delta_chars):
        if event.get("type") == "content_block_delta":
            wait_s += reply.between_s
    if reply.breaks is None:
        yield from _cut(reply, body, wait_s)
        return
    yield from _cut(reply, body[: len(body) // 2], wait_s)
    yield from _broken(reply.breaks)


def _streamed(reply: ScriptedReply, request: Json, number: int) -> Iterator[Act]:
    events: Iterable[Json]
    if reply.events is not None:
        events = reply.events
    else:
        events = delta_events(
            message_of_script(reply, request, number), reply.delta_chars
        )
    waits_s = {"content_block_delta": reply.between_s, "message_delta": reply.end_s}
    deltas = 0
    for event in events:
        kind = event.get("type")
        if reply.breaks is not None and _is_place(reply.breaks, event, deltas):
            yield from _broken(reply.breaks)
            return
        if kind == "content_block_start":
            deltas = 0
        elif kind == "content_block_delta":
            deltas += 1
        yield from _cut(reply, sse_of(event), waits_s.get(str(kind), 0.0))


def _is_place(breaks: Break, event: Json, deltas: int) -> bool:
    """Returns True if the reply breaks before `event`; a break in a block comes after its first delta."""
    if breaks.at == "message_stop":
        return event.get("type") == "message_stop"
    if event.get("type") != "content_block_delta" or deltas != 1:
        return False
    delta = event.get("delta") or {}
    return delta.get("type") == _DELTA_OF_PLACE.get(breaks.at)


def _broken(breaks: Break) -> Iterator[Act]:
    if breaks.how == "error":
        yield Act(send=sse_of(error_of(breaks.error, "scripted")), how="end")
    elif breaks.how == "garbage":
        yield Act(send=GARBAGE, how="end")
    else:
        yield Act(how=breaks.how)


def _cut(reply: ScriptedReply, data: bytes, wait_s: float = 0.0) -> Iterator[Act]:
    for piece in _pieces(reply, data):
        yield Act(wait_s=wait_s, send=piece)
        wait_s = 0.0  # Only the first piece waits, because the others belong to the same event.


def _pieces(reply: ScriptedReply, data: bytes) -> Iterator[bytes]:
    if reply.cut_seed is None:
        size = reply.piece_bytes or len(data) or 1
        for start in range(0, len(data), size):
            yield data[start : start + size]
        return
    # The length is part of the seed, so that the events of a stream are not all cut at the same places.
    chance = random.Random(f"{reply.cut_seed} {len(data)}")
    start = 0
    while start < len(data):
        end = start + chance.randint(1, LONGEST_PIECE)
        yield data[start:end]
        start = end
