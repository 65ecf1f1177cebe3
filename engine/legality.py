"""The rules that every request must keep. A rule mends what it can, and the event names the rules that did.

They follow the refusals of the Messages API (`invalid_request_error`), so that a mistake costs no round trip.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain

import msgspec
from msgspec.structs import replace

from antiphon.engine import legal_messages
from antiphon.engine.request import peek, request_size
from antiphon.vocabulary.errors import ModelError
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Message, Request, StoredText

# The API's own limits (https://docs.claude.com/en/api/overview and the guides on caching and extended thinking).
MOST_BYTES = 32 * 2**20
MOST_BREAKPOINTS = 4
LEAST_THINKING = 1024

Rule = Callable[[Request], Request]
"""Returns the request mended, or the same object if it keeps the rule; raises if it cannot be mended."""


@dataclass(frozen=True)
class LegalRequest:
    """A request that keeps every rule, and the names of the rules that mended it."""

    request: Request
    repairs: tuple[str, ...]


def make_legal(request: Request) -> LegalRequest:
    """Applies every rule, and returns a request that may be sent.

    Raises:
        ModelError: (`illegal_request`) It breaks a rule that cannot mend it; the message names the rule.
    """
    repairs = []
    for name, rule in RULES.items():
        try:
            mended = rule(request)
        except ValueError as error:
            raise ModelError(
                "illegal_request", f"the request breaks the rule {name}: {error}"
            ) from error
        if mended is not request:
            repairs.append(name)
            request = mended
    return LegalRequest(request, tuple(repairs))


def _bounds(request: Request) -> Request:
    if not request.model or request.max_tokens < 1:
        raise ValueError("a model and at least one output token must be asked for")
    return request


def _whole_blocks(request: Request) -> Request:
    """Refuses blocks that are not one JSON object with a type: blocks are joined unparsed, so half an object could
    break out into others.

    A block may come from a fork's change or an imported trace.
    """
    for message in request.messages:
        for block in message.content:
            if not peek(block).type:
                raise ValueError("a content block is not one JSON object with a type")
    return request


def _size(request: Request) -> Request:
    # An estimate in characters: near the limit the server decides.
    size = request_size(request)
    if size > MOST_BYTES:
        raise ValueError(f"it has {size:,} bytes, the most is {MOST_BYTES:,}")
    return request


def _tool_choice(request: Request) -> Request:
    """Drops a tool choice without tools; with thinking only `auto` and `none` are allowed."""
    if request.tool_choice is None:
        return request
    if request.tools is None:
        return replace(request, tool_choice=None)
    chosen = msgspec.json.decode(request.tool_choice).get("type")
    thinks = _extra(request).get("thinking", {}).get("type") in ("enabled", "adaptive")
    if thinks and chosen in ("any", "tool"):
        return replace(request, tool_choice='{"type":"auto"}')
    return request


def _thinking_budget(request: Request) -> Request:
    """Fits the budget for thinking, which is part of the output tokens, must leave some, and has a minimum."""
    extra = _extra(request)
    thinking = extra.get("thinking", {})
    budget = thinking.get("budget_tokens")
    if thinking.get("type") != "enabled" or not isinstance(budget, int):
        return request
    fitting = max(budget, LEAST_THINKING)
    if fitting == budget < request.max_tokens:
        return request
    max_tokens = request.max_tokens
    if max_tokens <= fitting:
        # The requested tokens are meant for the answer: the thinking comes on top of them.
        max_tokens += fitting
    changed = extra | {"thinking": thinking | {"budget_tokens": fitting}}
    return replace(
        request, max_tokens=max_tokens, extra=msgspec.json.encode(changed).decode()
    )


def _breakpoints(request: Request) -> Request:
    """Keeps at most four cache marks: those of tools and system, and the last ones of the messages."""
    fixed = request.system.text.count('"cache_control"')
    if request.tools is not None:
        # With the brace, because a tool may have a parameter of that name.
        fixed += request.tools.text.count('"cache_control":{')
    blocks = chain.from_iterable([message.content for message in request.messages])
    marked = [block for block in blocks if peek(block).is_marked]
    surplus = fixed + len(marked) - MOST_BREAKPOINTS
    if surplus <= 0:
        return request
    # Drops the first ones: a later mark covers all that an earlier one does.
    return replace(request, messages=_without_marks(request.messages, marked[:surplus]))


def _without_marks(
    messages: tuple[Message, ...], blocks: list[StoredText]
) -> tuple[Message, ...]:
    # By identity: of two equal blocks only the earlier one loses its mark.
    ids = {id(block) for block in blocks}

    def unmarked(block: StoredText) -> StoredText:
        return _without_mark(block) if id(block) in ids else block

    result = []
    for message in messages:
        content = tuple(map(unmarked, message.content))
        result.append(replace(message, content=content))
    return tuple(result)


def _without_mark(block: StoredText) -> StoredText:
    fields: Json = msgspec.json.decode(block.text)
    del fields["cache_control"]
    return StoredText(msgspec.json.encode(fields).decode())


def _extra(request: Request) -> Json:
    extra: Json = msgspec.json.decode(request.extra) if request.extra else {}
    return extra


def _of_messages(rule: Callable[[tuple[Message, ...]], tuple[Message, ...]]) -> Rule:
    """Makes a rule for requests out of a rule for messages."""

    def checked(request: Request) -> Request:
        messages = rule(request.messages)
        if messages == request.messages:
            return request  # The same object means that there was nothing to mend.
        return replace(request, messages=messages)

    return checked


RULES: dict[str, Rule] = {
    "bounds": _bounds,
    "whole_blocks": _whole_blocks,
    "no_blank_text": _of_messages(legal_messages.no_blank_text),
    "tool_ids_differ": _of_messages(legal_messages.tool_ids_differ),
    "tool_calls_answered_first": _of_messages(legal_messages.tool_calls_answered_first),
    "user_begins": _of_messages(legal_messages.user_begins),
    "citations_alike": _of_messages(legal_messages.citations_alike),
    "tool_choice_fits": _tool_choice,
    "thinking_budget_fits": _thinking_budget,
    "four_breakpoints": _breakpoints,
    "size": _size,
}
"""In the order of application: a later rule sees the mends of an earlier one."""
