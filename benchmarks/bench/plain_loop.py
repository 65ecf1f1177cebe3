"""The loop that a user would write on the bare SDK, with two tools that cost nothing: the baseline of the overhead."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from anthropic import AsyncAnthropic

SYSTEM = "You answer questions about course materials. " * 20
ROUNDS = 2
_PASSAGE = (
    "Retrieval finds the chunks of a lesson that are nearest in meaning to the question. "
    * 18
)

Json = dict[str, Any]


async def search_course_content(text: str) -> str:
    """Search course materials.

    Args:
        text: What to search for.
    """
    return f"{text}: {_PASSAGE}"


async def get_course_outline(text: str) -> str:
    """Get a course's lessons.

    Args:
        text: The course.
    """
    return f"{text}: {_PASSAGE}"


# Both sides of the comparison call these.
TOOLS = {
    "search_course_content": search_course_content,
    "get_course_outline": get_course_outline,
}


def definitions() -> list[Json]:
    """Describes the tools in the format of the Messages API."""
    schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }
    described = []
    for name, run in TOOLS.items():
        described.append(
            {"name": name, "description": str(run.__doc__), "input_schema": schema}
        )
    return described


async def ask(client: AsyncAnthropic, question: str, *, stream: bool) -> str:
    """Runs one query: rounds of tool calls, then the answer."""
    history: list[Json] = [{"role": "user", "content": question}]
    content: list[Json] = []
    for number in range(ROUNDS + 1):
        request: Json = {
            "model": "claude-sonnet-5-5",
            "max_tokens": 800,
            "system": SYSTEM,
            "messages": history,
        }
        if number < ROUNDS:
            request["tools"] = definitions()
        if stream:
            content, stop_reason = await _streamed(client, request)
        else:
            content, stop_reason = await _whole(client, request)
        if stop_reason != "tool_use":
            break
        history.append({"role": "assistant", "content": content})
        history.append({"role": "user", "content": await _call_tools(content)})
    return "".join(block["text"] for block in content if block["type"] == "text")


async def _call_tools(content: list[Json]) -> list[Json]:
    """Calls all tools in the reply concurrently, and returns their result blocks."""
    running = {}
    for block in content:
        if block["type"] == "tool_use":
            running[block["id"]] = TOOLS[block["name"]](**block["input"])
    results = await asyncio.gather(*running.values())
    blocks = []
    for call_id, result in zip(running, results, strict=True):
        blocks.append(
            {"type": "tool_result", "tool_use_id": call_id, "content": result}
        )
    return blocks


async def _whole(
    client: AsyncAnthropic, request: Json
) -> tuple[list[Json], str | None]:
    reply = await client.messages.create(**request)
    return [
        block.model_dump(exclude_none=True) for block in reply.content
    ], reply.stop_reason


async def _streamed(
    client: AsyncAnthropic, request: Json
) -> tuple[list[Json], str | None]:
    content: list[Json] = []
    stop_reason = None
    partial = ""
    async for event in await client.messages.create(stream=True, **request):
        if event.type == "message_delta":
            stop_reason = event.delta.stop_reason
        elif event.type == "content_block_start":
            content.append(event.content_block.model_dump(exclude_none=True))
            partial = ""
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            content[-1]["text"] += event.delta.text
        elif (
            event.type == "content_block_delta"
            and event.delta.type == "input_json_delta"
        ):
            partial += event.delta.partial_json
        # A tool's arguments are valid JSON only when they are complete.
        elif event.type == "content_block_stop" and partial:
            content[-1]["input"] = json.loads(partial)
    return content, stop_reason
