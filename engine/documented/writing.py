"""Turns a model's output into the reply that is sent, with its thinking and within its tokens; pure.

Thinking counts towards `max_tokens` and is billed as output (build-with-claude/thinking-steering-and-cost). Its blocks
are described in build-with-claude/thinking and models/sonnet-5-5/whats-new-sonnet-5-5.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from antiphon.engine.documented.billing import CHARS_PER_TOKEN
from antiphon.engine.documented.request import (
    DocumentedRequest,
    Version,
    signature_of,
)
from antiphon.engine.offline.wire import CALL_CHARS
from antiphon.vocabulary.ports import Json

THOUGHT = {"low": 150, "medium": 600, "high": 2_500, "xhigh": 8_000, "max": 20_000}
"""Tokens of thinking by effort. Assumptions: the documentation has no figures."""
USUAL_EFFORT = "high"
"""The effort of a request that names none (build-with-claude/effort)."""
_SUMMARY = "I weigh what the request asks for, and what it shows."
_OMITS_THINKING_FROM: Version = (4, 7)
_THINKS_BETWEEN_TOOLS = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-fable-5-1")
"""Models whose text before a tool call is thinking."""
_MOST_SENTENCES = 2
"""With `between_tools`, longer text before a tool call is thinking."""
_SENTENCE_END = re.compile(r"[.!?](?:\s|$)")


class Written(NamedTuple):
    """A reply's blocks, its stop reason, and its output tokens, including those of thinking."""

    content: list[Json]
    stop_reason: str
    output_tokens: int
    thinking_tokens: int


def usual_thinking(asked: DocumentedRequest) -> int:
    """Returns the tokens that a model thinks before it answers, if it thinks."""
    tokens = THOUGHT.get(asked.effort or USUAL_EFFORT, 0)
    budget: int = asked.thinking.get("budget_tokens", tokens)
    return min(tokens, budget)


def thinks_first(asked: DocumentedRequest) -> bool:
    """Returns True if a reply begins with thinking."""
    if asked.mode is None:
        return asked.card.traits.thinks
    return asked.mode in ("adaptive", "enabled")


def write_reply(
    asked: DocumentedRequest, said: Sequence[Json], thought: int
) -> Written:
    """Writes the reply with this content.

    Args:
        said: The model's blocks of text and tool calls.
        thought: Tokens of thinking before them, which count only if the model thinks.
    """
    content: list[Json] = []
    thinking_tokens = 0
    if thinks_first(asked):
        content.append(_thinking(asked, _SUMMARY))
        thinking_tokens = min(thought, asked.max_tokens)
    output_tokens = thinking_tokens
    for block in _with_thinking(asked, said):
        left = asked.max_tokens - output_tokens
        tokens = _tokens_of(block)
        if tokens > left:
            if block["type"] == "text" and left:
                text = block["text"][: left * CHARS_PER_TOKEN]
                content.append(block | {"text": text})
            return Written(content, "max_tokens", asked.max_tokens, thinking_tokens)
        output_tokens += tokens
        if block["type"] == "thinking":
            thinking_tokens += tokens
            block = _thinking(asked, block["thinking"])
        content.append(block)
    kinds = [block["type"] for block in content]
    stop_reason = "tool_use" if "tool_use" in kinds else "end_turn"
    return Written(content, stop_reason, output_tokens, thinking_tokens)


def _with_thinking(asked: DocumentedRequest, said: Sequence[Json]) -> list[Json]:
    """Returns the blocks with text right before a tool call turned into thinking, for models that do so."""
    blocks: list[Json] = []
    for block, following in zip(said, [*said[1:], {}], strict=False):
        text = block.get("text", "")
        if following.get("type") == "tool_use" and _is_thought(asked, text):
            block = {"type": "thinking", "thinking": text}
        blocks.append(block)
    return blocks


def _is_thought(asked: DocumentedRequest, text: str) -> bool:
    if asked.mode == "between_tools":
        return len(_SENTENCE_END.findall(text)) > _MOST_SENTENCES
    return bool(text) and asked.name in _THINKS_BETWEEN_TOOLS


def _thinking(asked: DocumentedRequest, text: str) -> Json:
    display = asked.thinking.get("display")
    if display is None and asked.version >= _OMITS_THINKING_FROM:
        display = "omitted"
    if display == "omitted" and asked.mode != "between_tools":
        text = ""
    signature = signature_of(asked, len(asked.messages))
    return {"type": "thinking", "thinking": text, "signature": signature}


def _tokens_of(block: Json) -> int:
    if block["type"] == "tool_use":
        chars = len(msgspec.json.encode(block["input"]).decode()) + CALL_CHARS
    else:
        chars = len(block.get("text", "")) + len(block.get("thinking", ""))
    # Rounds up, so that even a reply of a few characters costs something.
    return -(-chars // CHARS_PER_TOKEN)
