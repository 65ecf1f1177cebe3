"""Attributes of spans in the bytes in which they are sent; what many spans have in common is made once."""

from __future__ import annotations

from functools import lru_cache

from antiphon.telemetry import conventions as c
from antiphon.telemetry.wire import attribute, attributes_part, fraction
from antiphon.vocabulary.values import Usage

QUERY_PART = attributes_part({c.OPERATION: "invoke_agent", c.AGENT: "antiphon"})


@lru_cache
def round_part(number: int, is_final: bool) -> bytes:
    return attributes_part({c.ROUND: number, c.ROUND_FINAL: is_final})


@lru_cache
def call_part(model: str, max_tokens: int, purpose: str) -> bytes:
    return attributes_part(
        {
            c.OPERATION: "chat",
            c.REQUEST_MODEL: model,
            c.REQUEST_MAX_TOKENS: max_tokens,
            c.CALL_PURPOSE: purpose,
        }
    )


@lru_cache
def sent_part(reasoner: str, is_streamed: bool) -> bytes:
    provider = "anthropic"
    if reasoner == "offline":
        provider = "antiphon"
    return attributes_part({c.PROVIDER: provider, c.REQUEST_STREAM: is_streamed})


@lru_cache
def tool_part(tool: str) -> bytes:
    return attributes_part(
        {c.OPERATION: "execute_tool", c.TOOL_NAME: tool, c.TOOL_TYPE: "function"}
    )


def usage_part(usage: Usage) -> bytes:
    """Returns tokens and cost as attributes."""
    tokens = (
        attribute(c.INPUT_TOKENS, usage.all_input_tokens)
        + attribute(c.OUTPUT_TOKENS, usage.output_tokens)
        + attribute(c.CACHE_READ_TOKENS, usage.cache_read_tokens)
        + attribute(c.CACHE_WRITE_TOKENS, usage.cache_write_tokens)
    )
    if usage.cost_usd is None:
        return tokens
    return tokens + fraction(c.COST, usage.cost_usd)
