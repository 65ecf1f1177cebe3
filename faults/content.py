"""What a reply holds, made wrong: pure, from a stream's events to a stream's events."""

from __future__ import annotations

from collections.abc import Sequence

from antiphon.faults.kinds import Kind
from antiphon.faults.script import events_of
from antiphon.vocabulary.ports import Json

OVERSIZED_CHARS = 1_000_000
_TEXT: Json = {"type": "text", "text": "A reply of no great value."}


def spoiled(events: Sequence[Json], kind: Kind) -> list[Json]:
    """The stream of a reply that is wrong in the way of `kind`."""
    blocks = _blocks(events)
    calls = [block for block in blocks if block["type"] == "tool_use"]
    message_id = str(events[0]["message"]["id"]) if events else "msg"
    match kind:
        case "empty":
            return list(events_of([], message_id, "end_turn"))
        case "refusal":
            return list(events_of(blocks[:1], message_id, "refusal"))
        case "max_tokens":
            return list(events_of(blocks, message_id, "max_tokens"))
        case "truncate":
            return list(events_of([*blocks[:-1], _cut(blocks[-1])] if blocks else [], message_id, "max_tokens"))
        case "oversized":
            huge: Json = {"type": "text", "text": "A circuit breaker. " * (OVERSIZED_CHARS // 19)}
            return list(events_of([huge, *calls], message_id))
        case "unknown_tool":
            return list(events_of([*blocks, _call("no_such_tool", f"toolu_{message_id}_x")], message_id))
        case "malformed":
            bad = [block | {"input": '{"query": '} for block in calls] or [
                _call("get_course_outline", "toolu_bad") | {"input": "]"}
            ]
            return list(events_of([_TEXT, *bad], message_id))
    copies = calls or [_call("get_course_outline", f"toolu_{message_id}_c")]
    same_id = kind == "wrong_id"
    return list(
        events_of([*blocks, *(call if same_id else call | {"id": f"{call['id']}b"} for call in copies)], message_id)
    )


def _call(name: str, call_id: str) -> Json:
    return {"type": "tool_use", "id": call_id, "name": name, "input": {"course_name": "Reliability"}}


def _cut(block: Json) -> Json:
    if block["type"] == "tool_use":
        return block | {"input": '{"query": "states of a cir'}
    return block | {"text": block["text"][: len(block["text"]) // 2]}


def _blocks(events: Sequence[Json]) -> list[Json]:
    """The content blocks that the stream's events make."""
    blocks: dict[int, Json] = {}
    for event in events:
        if event.get("type") == "content_block_start":
            blocks[event["index"]] = dict(event["content_block"])
        elif event.get("type") == "content_block_delta":
            _grow(blocks[event["index"]], event["delta"])
    return [block for _, block in sorted(blocks.items())]


def _grow(block: Json, delta: Json) -> None:
    match delta["type"]:
        case "text_delta":
            block["text"] = block.get("text", "") + delta["text"]
        case "input_json_delta":
            written = block["input"] if isinstance(block["input"], str) else ""
            block["input"] = written + delta["partial_json"]
        case "citations_delta":
            block.setdefault("citations", []).append(delta["citation"])
