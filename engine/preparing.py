"""From what is asked to the request as it is sent: built, marked as cacheable, fit for the server, made legal; pure.

Servers cache prefixes in the order tools, system, messages. Tools and system are the same from query to query and end
in a mark, if they are long enough for the model to cache them at all. The messages of a briefing begin otherwise in
each call, so no mark in them could ever be read. A transcript only grows: a mark at its end costs a quarter more for
what it writes, and is read by the next round, which has the same `tool_choice`.
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
    """What one request leaves for the query's next.

    Attributes:
        models: The models that were asked so far.
        blocks: Its blocks before they were marked.
        marked: Which of them were marked.
    """

    models: frozenset[str] = frozenset()
    blocks: tuple[StoredText, ...] = ()
    marked: tuple[int, ...] = ()


class PreparedRequest(NamedTuple):
    """A request that may be sent, and the fields of `ReasoningStarted` that describe it.

    Attributes:
        caching: What of it is marked as cacheable, or why it is not; empty if there was nothing to decide.
        sources: The sentences that inline citations name; empty if citations are native.
        marks: What the query's next request must know.
        profile: The profile that it was built for, and `tool_definitions` the tools that it could offer: with the
            request that was asked for, all that it is made of.
        room: The tokens of its reply that may be thinking, beside those of the answer.
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
    """Prepares the request that `asked` stands for, fit for a server of this profile.

    Args:
        system: The system prompt, if it is not today's.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    inline = style == "inline"
    if system is not None:
        system = unmarked(system)
    request = build_request(asked, tools, profile, inline=inline, system=system)
    room = request.max_tokens - asked.max_tokens
    # Blocks of thinking belong to the model that wrote them: another one refuses them with 400
    # (https://platform.claude.com/docs/en/models/sonnet-5-5/whats-new-sonnet-5-5, read 2026-11-26). Who wrote those of
    # a query that was resumed is not known.
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
    # Last, so that the rules see the very request that is sent.
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
    """Prepares another attempt at a request whose reply used its tokens up in thinking.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    traits = prepared.profile.model if prepared.profile is not None else None
    request = make_legal(widened(prepared.request, prepared.room, traits)).request
    return prepared._replace(request=request)


def prepare_rest(
    prepared: PreparedRequest, content: tuple[StoredText, ...]
) -> PreparedRequest:
    """Prepares the request that goes on with a reply which the server paused.

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
    """Prepares a summarising request: no tools, nothing to cite, and too short to be cached.

    Args:
        profile: What server and model can do; None in traces of a time when summaries did not depend on it.

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
    """Marks the request; returns it with what the next one must know, and the decision in words.

    Args:
        before: What the query's last request left; its marks stay where its blocks do.
        floor: Tokens that the model caches at least.
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
    """Chooses which blocks of a transcript are marked, and says why."""
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
    """Counts the blocks at the beginning that are the same."""
    length = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        length += 1
    return length


def _last_lasting(blocks: list[StoredText]) -> int:
    """Finds the last block that may stay as it is: plain texts, such as the round's number, change with each call."""
    for at in range(len(blocks) - 1, 0, -1):
        if peek(blocks[at]).type != "text":
            return at
    return 0


def _with_mark_at_end(system: StoredText) -> StoredText:
    """Marks the last block of a system prompt."""
    return StoredText(system.text.removesuffix("}]") + _MARK + "]")


def unmarked(system: StoredText) -> StoredText:
    """Returns a system prompt as it was before its last block was marked."""
    marked = _MARK + "]"
    if not system.text.endswith(marked):
        return system
    return StoredText(system.text.removesuffix(marked) + "}]")


def _with_marks(
    messages: tuple[Message, ...], marked: frozenset[int]
) -> tuple[Message, ...]:
    """Marks the blocks of these numbers, counted through all messages."""
    if not marked:
        return messages
    result = []
    number = 0
    for message in messages:
        content = []
        for block in message.content:
            if number in marked:
                # Appending to the block's JSON keeps its bytes: the prefix must be the same as without the mark.
                block = StoredText(block.text[:-1] + _MARK)
            content.append(block)
            number += 1
        result.append(replace(message, content=tuple(content)))
    return tuple(result)
