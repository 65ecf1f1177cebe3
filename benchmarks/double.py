"""A double of the Messages API that answers at once: two rounds of tool calls, then text.

It keeps nothing between requests. A request without tools gets the final answer; for others, it counts the rounds so
far by the tool_use blocks in the history, or by the rounds in a briefing's `<attempts>`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from antiphon.language.markup import read_attempts

ANSWER = "BM25 ranks documents by term frequency, document length and rarity. " * 6
DELTA_CHARACTERS = 40
# The tools called in each round: two at once, then one.
CALLS = (("search_course_content", "get_course_outline"), ("search_course_content",))

Json = dict[str, Any]


def rounds_so_far(body: Json) -> int:
    """Counts the rounds of tools before this request."""
    history = body["messages"]
    # In a plain history, each round is one message of the assistant.
    if '"tool_use"' in json.dumps(history):
        roles = [message["role"] for message in history]
        return roles.count("assistant")
    blocks = history[0]["content"]
    if isinstance(blocks, str):
        return 0
    # A briefing is a single message, which lists the rounds.
    last = 0
    for block in blocks:
        for attempt in read_attempts(block.get("text", "")):
            last = max(last, attempt.round)
    return last


def blocks_of_reply(body: Json) -> tuple[list[Json], str]:
    """Returns the content blocks of the reply and its stop reason."""
    rounds = rounds_so_far(body)
    if "tools" not in body or rounds >= len(CALLS):
        return [{"type": "text", "text": ANSWER}], "end_turn"
    blocks: list[Json] = [{"type": "text", "text": "I will look it up."}]
    for number, name in enumerate(CALLS[rounds]):
        # Each call has different arguments, because equal calls would become one.
        given = {"text": f"bm25 {rounds} {number}"}
        blocks.append(
            {
                "type": "tool_use",
                "id": f"toolu_{rounds}_{number}",
                "name": name,
                "input": given,
            }
        )
    return blocks, "tool_use"


async def messages(request: Request) -> Response:
    """Answers `POST /v1/messages`, whole or streamed."""
    body = json.loads(await request.body())
    blocks, stop_reason = blocks_of_reply(body)
    message: Json = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": blocks,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 50},
    }
    if not body.get("stream"):
        return JSONResponse(message)
    return StreamingResponse(
        _stream(message, blocks, stop_reason), media_type="text/event-stream"
    )


def _stream(message: Json, blocks: list[Json], stop_reason: str) -> Iterator[str]:
    yield _event(
        "message_start", message={**message, "content": [], "stop_reason": None}
    )
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            yield from _text_block(index, block["text"])
        else:
            yield from _tool_block(index, block)
        yield _event("content_block_stop", index=index)
    ending = {"stop_reason": stop_reason, "stop_sequence": None}
    yield _event("message_delta", delta=ending, usage={"output_tokens": 50})
    yield _event("message_stop")


def _text_block(index: int, text: str) -> Iterator[str]:
    yield _event(
        "content_block_start", index=index, content_block={"type": "text", "text": ""}
    )
    for start in range(0, len(text), DELTA_CHARACTERS):
        piece = text[start : start + DELTA_CHARACTERS]
        yield _event(
            "content_block_delta",
            index=index,
            delta={"type": "text_delta", "text": piece},
        )


def _tool_block(index: int, block: Json) -> Iterator[str]:
    yield _event(
        "content_block_start", index=index, content_block={**block, "input": {}}
    )
    piece = json.dumps(block["input"])
    yield _event(
        "content_block_delta",
        index=index,
        delta={"type": "input_json_delta", "partial_json": piece},
    )


def _event(kind: str, **fields: object) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"


async def alive(_: Request) -> Response:
    """Answers `GET /healthz`."""
    return JSONResponse({"status": "ok"})


app = Starlette(
    routes=[Route("/v1/messages", messages, methods=["POST"]), Route("/healthz", alive)]
)
