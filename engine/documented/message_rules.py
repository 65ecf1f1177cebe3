"""The rules of refusal that look at the messages; pure. Each yields the message of each refusal."""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.engine.documented.request import (
    DocumentedRequest,
    Version,
    signature_of,
)

_BINDS_THINKING_FROM: Version = (5, 1)
"""Fable 5.1 and the models 5.5; Opus 5 and Sonnet 5 do not."""
_UNANSWERED = "`tool_use` ids were found without `tool_result` blocks immediately after"


def blank_text(asked: DocumentedRequest) -> Iterator[str]:
    """Refuses text blocks without text, wherever they are."""
    for block in asked.all_blocks():
        if block.get("type") == "text" and not str(block.get("text", "")).strip():
            yield "messages: text content blocks must contain non-whitespace text"


def tool_results(asked: DocumentedRequest) -> Iterator[str]:
    """Refuses calls and results that do not answer one another, message by message, results first."""
    called: set[str] = set()
    for number, message in enumerate(asked.messages):
        results = message.of_type("tool_result")
        answered = {str(result.get("tool_use_id")) for result in results}
        for call_id in sorted(called - answered):
            yield f"messages.{number - 1}: {_UNANSWERED}: {call_id}"
        for call_id in sorted(answered - called):
            yield f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}"
        if message.blocks[: len(results)] != results:
            yield f"messages.{number}: `tool_result` blocks must come first in the content"
        called = {str(call.get("id")) for call in message.of_type("tool_use")}
    for call_id in sorted(called):
        yield f"{_UNANSWERED}: {call_id}"


def citations_alike(asked: DocumentedRequest) -> Iterator[str]:
    """Refuses search results of which only some may be cited."""
    settings: set[bool] = set()
    for block in asked.all_blocks():
        if block.get("type") == "search_result":
            citations = block.get("citations") or {}
            settings.add(citations.get("enabled") is True)
    if len(settings) > 1:
        yield "Citations must be enabled on all search result blocks of a request, or on none."


def bound_thinking(asked: DocumentedRequest) -> Iterator[str]:
    """Refuses thinking that another model wrote, or that stood behind something else."""
    if asked.version < _BINDS_THINKING_FROM:
        return
    for number, message in enumerate(asked.messages):
        for block in message.of_type("thinking"):
            signature = str(block.get("signature"))
            if signature.partition(".")[0] != asked.name:
                yield f"messages.{number}: a `thinking` block of another model cannot be sent to {asked.name}"
            elif signature != signature_of(asked, number):
                yield f"messages.{number}: what comes before a `thinking` block has changed since it was written"
