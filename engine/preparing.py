"""Prepares a request for sending: builds it, marks what to cache, fits it to the server, and makes it legal; pure.

Servers cache prefixes in the order tools, system, messages. Tools and system are the same for all queries and end in a
mark if they are long enough for the model to cache them at all. The messages of a briefing begin differently in each
call, so a mark in them would never be read. A transcript only grows: a mark at its end makes the tokens that it writes
a quarter dearer, and the next round, which has the same `tool_choice`, reads it.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

from msgspec.structs import replace

from antiphon.engine.inline import Sources, numbered
from antiphon.engine.legality import make_legal
from antiphon.engine.prompts import SUMMARY_PROMPT
from antiphon.engine.request import (
    CHARS_PER_TOKEN,
    build_request,
    continued,
    fixed_chars_of,
    floor_of,
    peek,
    widened,
    with_room,
    without_thinking,
)
from antiphon.engine.thinking import Thinking, thinking_of
from antiphon.vocabulary.events import (
    CitationStyle,
    ReasoningRequested,
    SummaryRequested,
)
from antiphon.vocabulary.values import (
    Message,
    Profile,
    Request,
    StoredText,
)

MOST_MARKS = 3
"""The API allows four; the system prompt has one."""
_MARK = ',"cache_control":{"type":"ephemeral"}}'


class CacheMarks(NamedTuple):
    """The state of caching that one request leaves for the query's next.

    Attributes:
        models: The models that have been called so far.
        blocks: The request's blocks without marks.
        marked: The numbers of the blocks that were marked.
    """

    models: frozenset[str] = frozenset()
    blocks: tuple[StoredText, ...] = ()
    marked: tuple[int, ...] = ()


class PreparedRequest(NamedTuple):
    """A request ready to send, and the fields of `ReasoningStarted` that describe it.

    Attributes:
        caching: The parts that are marked as cacheable, or why they are not; empty if there was nothing to decide.
        sources: The sentences that inline citations name; empty if citations are native.
        marks: The state of caching for the query's next request.
        profile: The profile that it was built for; with `tool_definitions`, the tools that it could offer, and the
            requesting event this is all that the request is made from.
        room: The tokens for thinking in its reply, on top of those for the answer.
    """

    request: Request
    repairs: tuple[str, ...]
    caching: str = ""
    style: CitationStyle = "native"
    sources: Sources = ()
    marks: CacheMarks = CacheMarks()
    profile: Profile | None = None
    tool_definitions: StoredText | None = None
    room: int = 0


def prepare(
    asked: ReasoningRequested,
    tools: StoredText,
    profile: Profile,
    style: CitationStyle,
    before: CacheMarks,
    system: StoredText | None = None,
) -> PreparedRequest:
    """Prepares the request that `asked` describes for a server of this profile.

    Args:
        system: The system prompt, if it is not the current one.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    inline = style == "inline"
    if system is not None:
        system = unmarked(system)
    request = build_request(asked, tools, profile, inline=inline, system=system)
    room = request.max_tokens - asked.max_tokens
    # Thinking blocks belong to the model that wrote them: another one refuses them with 400
    # (https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5, read 2026-11-26). For a resumed query
    # their author is not known.
    if before.models != {asked.model}:
        request = replace(request, messages=without_thinking(request.messages))
    marks = CacheMarks(before.models | {asked.model})
    caching = ""
    if profile.caching:
        rounds_after = 0 if asked.final else max(asked.max_rounds - asked.round, 0)
        request, marks, caching = _place_marks(
            request, before, floor_of(profile), rounds_after
        )
    sources: Sources = ()
    if inline:
        messages, sources = numbered(request.messages)
        request = replace(request, messages=messages)
    # Last, so that the rules see exactly the request that is sent.
    legal = make_legal(request)
    return PreparedRequest(
        legal.request,
        legal.repairs,
        caching,
        style,
        sources,
        marks,
        profile,
        tools,
        room,
    )


def prepare_wider(prepared: PreparedRequest) -> PreparedRequest:
    """Prepares another attempt at a request whose reply used up its tokens in thinking.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    traits = prepared.profile.model if prepared.profile is not None else None
    request = make_legal(widened(prepared.request, prepared.room, traits)).request
    return prepared._replace(request=request)


def prepare_rest(
    prepared: PreparedRequest, content: tuple[StoredText, ...]
) -> PreparedRequest:
    """Prepares the request that continues a reply which the server paused.

    Args:
        content: The reply so far.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    request = make_legal(continued(prepared.request, content)).request
    return prepared._replace(request=request)


def prepare_summary(
    asked: SummaryRequested, profile: Profile | None = None
) -> PreparedRequest:
    """Prepares a summarising request, which has no tools and no citations, and is too short to cache.

    Args:
        profile: The abilities of server and model; None in traces from before summaries depended on it.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    thinking = Thinking()
    traits = None
    if profile is not None and profile.thinking:
        traits = profile.model
        thinking = thinking_of(traits, final=False)
    request = Request(
        model=asked.model,
        max_tokens=with_room(asked.max_tokens, thinking.room, traits),
        system=SUMMARY_PROMPT,
        messages=asked.messages,
        extra=thinking.json(),
    )
    legal = make_legal(request)
    return PreparedRequest(
        legal.request, legal.repairs, profile=profile, room=thinking.room
    )


def _place_marks(
    request: Request, before: CacheMarks, floor: int, rounds_after: int
) -> tuple[Request, CacheMarks, str]:
    """Marks the request; returns it with the state for the next one, and the decision in words.

    Args:
        before: The state that the query's last request left; its marks stay as long as their blocks do.
        floor: The least number of tokens that the model caches.
        rounds_after: Rounds of tools that may still follow this call.
    """
    fixed_chars = fixed_chars_of(request.system, request.tools)
    decisions: list[str] = []
    if fixed_chars >= floor * CHARS_PER_TOKEN:
        request = replace(request, system=_with_mark_at_end(request.system))
        decisions.append("tools and system prompt cached")
    else:
        decisions.append(
            "tools and system prompt not cached: "
            f"about {fixed_chars // CHARS_PER_TOKEN} tokens, and the model caches from {floor}"
        )
    contents = [message.content for message in request.messages]
    blocks = list(chain.from_iterable(contents))
    marked: list[int] = []
    if len(request.messages) > 1:
        marked, decision = _marks_of_transcript(
            blocks, before, floor * CHARS_PER_TOKEN - fixed_chars, rounds_after
        )
        decisions.append(decision)
    messages = _with_marks(request.messages, frozenset(marked))
    return (
        replace(request, messages=messages),
        CacheMarks(before.models | {request.model}, tuple(blocks), tuple(marked)),
        "; ".join(decisions),
    )


def _marks_of_transcript(
    blocks: list[StoredText], before: CacheMarks, least_chars: int, rounds_after: int
) -> tuple[list[int], str]:
    """Chooses the blocks of a transcript to mark, and says why."""
    # The server finds a mark of the last call only if everything before it is the same.
    same = _common_length(before.blocks, blocks)
    marked = [at for at in before.marked if at < same]
    last = _last_lasting(blocks)
    if rounds_after == 0:
        return marked, "messages not cached: no call with the same tool choice follows"
    chars = sum([len(block.text) for block in blocks[: last + 1]])
    if chars < least_chars:
        return marked, f"messages not cached: about {chars // CHARS_PER_TOKEN} tokens"
    if last not in marked:
        marked.append(last)
    return marked[-MOST_MARKS:], "messages cached for the next round"


def _common_length(before: tuple[StoredText, ...], now: list[StoredText]) -> int:
    """Counts the equal blocks at the beginning."""
    length = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        length += 1
    return length


def _last_lasting(blocks: list[StoredText]) -> int:
    """Finds the last block that can stay the same: plain texts, such as the round's number, change with each call."""
    for at in range(len(blocks) - 1, 0, -1):
        if peek(blocks[at]).type != "text":
            return at
    return 0


def _with_mark_at_end(system: StoredText) -> StoredText:
    """Marks the last block of a system prompt."""
    return StoredText(system.text.removesuffix("}]") + _MARK + "]")


def unmarked(system: StoredText) -> StoredText:
    """Returns a system prompt without the mark on its last block."""
    marked = _MARK + "]"
    if not system.text.endswith(marked):
        return system
    return StoredText(system.text.removesuffix(marked) + "}]")


def _with_marks(
    messages: tuple[Message, ...], marked: frozenset[int]
) -> tuple[Message, ...]:
    """Marks the blocks with these numbers, counted over all messages."""
    if not marked:
        return messages
    result = []
    number = 0
    for message in messages:
        content = []
        for block in message.content:
            if number in marked:
                # Appends to the block's JSON, so that the bytes before the mark stay the same as without it.
                block = StoredText(block.text[:-1] + _MARK)
            content.append(block)
            number += 1
        result.append(replace(message, content=tuple(content)))
    return tuple(result)
