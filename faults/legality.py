"""Whether a request is one that the Messages API accepts; pure."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import msgspec

from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Request


def faults_of(request: Request) -> Iterator[str]:
    """What the server would refuse, in words."""
    if request.max_tokens < 1 or not request.model:
        yield "no model, or no room for a reply"
    messages = [(each.role, [msgspec.json.decode(block.text) for block in each.content]) for each in request.messages]
    if not messages or messages[0][0] != "user":
        yield "the first message is not the user's"
    if any(first[0] == second[0] for first, second in pairwise(messages)):
        yield "two messages on end have the same role"
    blocks = [block for _, content in messages for block in content]
    yield from _blocks(blocks)
    asked = {block["id"] for block in blocks if block["type"] == "tool_use"}
    answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
    if asked != set(answered) or len(answered) != len(set(answered)):
        yield "tool calls and tool results do not match"
    tools: list[Json] = msgspec.json.decode(request.tools.text) if request.tools else []
    if len({tool["name"] for tool in tools}) < len(tools):
        yield "two tools have the same name"
    if request.tool_choice and not tools:
        yield "a tool choice without tools"


def _blocks(blocks: list[Json]) -> Iterator[str]:
    if not blocks:
        yield "a message without content"
    if any(block["type"] == "text" and not block["text"].strip() for block in blocks):
        yield "an empty text block"
    results = [block for block in blocks if block["type"] == "search_result"]
    if len({bool(block.get("citations", {}).get("enabled")) for block in results}) > 1:
        yield "citations are on for some sources only"
    if any(not block["content"] or not block["source"] or not block["title"] for block in results):
        yield "a source without content, name or title"
