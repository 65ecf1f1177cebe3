"""The loop that a user would write on the bare SDK: what the overhead is measured against."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from anthropic import AsyncAnthropic

from benchmarks.tools import SYSTEM, TOOLS

ROUNDS = 2


def definitions() -> list[dict[str, Any]]:
    """The tools as the Messages API wants them."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    return [{"name": name, "description": str(run.__doc__), "input_schema": schema} for name, run in TOOLS.items()]


async def ask(client: AsyncAnthropic, question: str, *, stream: bool) -> str:
    """One query: rounds of tool calls, then the answer."""
    history: list[dict[str, Any]] = [{"role": "user", "content": question}]
    for number in range(ROUNDS + 1):
        request: dict[str, Any] = {
            "model": "claude-sonnet-5-5",
            "max_tokens": 800,
            "system": SYSTEM,
            "messages": history,
        }
        if number < ROUNDS:
            request["tools"] = definitions()
        content, stop_reason = await (_streamed(client, request) if stream else _whole(client, request))
        calls = [block for block in content if block["type"] == "tool_use"]
        if stop_reason != "tool_use":
            break
        results = await asyncio.gather(*(TOOLS[call["name"]](**call["input"]) for call in calls))
        answers = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": result}
            for call, result in zip(calls, results, strict=True)
        ]
        history += [{"role": "assistant", "content": content}, {"role": "user", "content": answers}]
    return "".join(block["text"] for block in content if block["type"] == "text")


async def _whole(client: AsyncAnthropic, request: dict[str, Any]) -> tuple[list[dict[str, Any]], str | None]:
    reply = await client.messages.create(**request)
    return [block.model_dump(exclude_none=True) for block in reply.content], reply.stop_reason


async def _streamed(client: AsyncAnthropic, request: dict[str, Any]) -> tuple[list[dict[str, Any]], str | None]:
    content: list[dict[str, Any]] = []
    stop_reason = None
    partial = ""
    async for event in await client.messages.create(stream=True, **request):
        if event.type == "content_block_start":
            content.append(event.content_block.model_dump(exclude_none=True))
            partial = ""
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            content[-1]["text"] += event.delta.text
        elif event.type == "content_block_delta":
            partial += event.delta.partial_json
        elif event.type == "content_block_stop" and content[-1]["type"] == "tool_use":
            content[-1]["input"] = json.loads(partial or "{}")
        elif event.type == "message_delta":
            stop_reason = event.delta.stop_reason
    return content, stop_reason
