"""From what is asked to the request as it is sent: built, marked as cacheable, fit for the server, made legal; pure.

Where a request is marked as cacheable is decided by what it costs and what it can save. Servers cache prefixes in the
order tools, system, messages. Tools and system are the same for every query and always end in a mark. Marks in the
messages cost a quarter more for what they write, and pay only where another call with the same `tools` and
`tool_choice` is likely to read it: never before the final call, which offers no tools.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from antiphon.engine.inline import Sources, numbered
from antiphon.engine.legality import make_legal
from antiphon.engine.prices import Price, price_of
from antiphon.engine.prompts import SUMMARY_PROMPT
from antiphon.engine.request import build_request, continued, peek
from antiphon.vocabulary.events import (
    CitationStyle,
    ReasoningRequested,
    SummaryRequested,
)
from antiphon.vocabulary.values import Message, Profile, Request, StoredText

MOST_MARKS = 3
"""The API allows four; the system prompt has one."""
FOLLOWED = 0.5
"""Share of tool rounds that are followed by another one. An assumption; a service's own traces show its own share."""
CHARS_PER_TOKEN = 4
_USUAL_PRICE = Price(
    input=1.0, output=5.0, cache_write=1.25, cache_read=0.1, least_cached=1024
)
"""The usual proportions, for a model whose price is not known."""
_MARK = ',"cache_control":{"type":"ephemeral"}}'


class CacheMarks(NamedTuple):
    """The marks of one request, for the query's next: its blocks before they were marked, and which were."""

    blocks: tuple[StoredText, ...] = ()
    marked: tuple[int, ...] = ()


class PreparedRequest(NamedTuple):
    """A request that may be sent, and the fields of `ReasoningStarted` that describe it.

    Attributes:
        caching: Why its messages are marked as cacheable or not; empty where there was nothing to decide.
        sources: The sentences that inline citations name; empty where citations are native.
        marks: What the query's next request must know.
        profile: The profile that it was built for, and `tool_definitions` the tools that it could offer: with the
            request that was asked for, all that it is made of. None for a summary.
    """

    request: Request
    repairs: tuple[str, ...]
    caching: str = ""
    style: CitationStyle = "native"
    sources: Sources = ()
    marks: CacheMarks = CacheMarks()
    profile: Profile | None = None
    tool_definitions: StoredText | None = None


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
        system: The system prompt, where it is not today's.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    inline = style == "inline"
    request = build_request(asked, tools, profile, inline=inline)
    if system is not None:
        request = replace(request, system=system)
    marks = before
    caching = ""
    if profile.caching:
        rounds_after = max(asked.max_rounds - asked.round, 0)
        if asked.final:
            rounds_after = 0
        request, marks, caching = _place_marks(request, before, rounds_after)
    sources: Sources = ()
    if inline:
        messages, sources = numbered(request.messages)
        request = replace(request, messages=messages)
    # Last, so that the rules see the very request that is sent.
    legal = make_legal(request)
    return PreparedRequest(
        legal.request, legal.repairs, caching, style, sources, marks, profile, tools
    )


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


def prepare_summary(asked: SummaryRequested) -> PreparedRequest:
    """Prepares a summarising request: no tools, nothing to cite, and too short to be cached.

    Raises:
        ModelError: (`illegal_request`) It cannot be made legal.
    """
    request = Request(
        model=asked.model,
        max_tokens=asked.max_tokens,
        system=SUMMARY_PROMPT,
        messages=asked.messages,
    )
    legal = make_legal(request)
    return PreparedRequest(legal.request, legal.repairs)


def _place_marks(
    request: Request, before: CacheMarks, rounds_after: int
) -> tuple[Request, CacheMarks, str]:
    """Marks the request; returns it with what the next one must know, and the decision in words.

    Args:
        before: What the query's last request left; its marks stay where its blocks do.
        rounds_after: Rounds of tools that may still follow this call.
    """
    blocks: list[StoredText] = []
    for message in request.messages:
        blocks += message.content
    # The server finds a mark of the last call only where everything before it is the same.
    same = _common_length(before.blocks, blocks)
    marked = [at for at in before.marked if at < same]
    caching = ""
    last = _last_lasting(blocks)
    if last is not None and last not in marked:
        pays, caching = _weigh_mark(request, blocks[: last + 1], rounds_after)
        if pays:
            marked.append(last)
    marked = marked[-MOST_MARKS:]
    messages = _with_marks(request.messages, frozenset(marked))
    return (
        replace(request, messages=messages),
        CacheMarks(tuple(blocks), tuple(marked)),
        caching,
    )


def _common_length(before: tuple[StoredText, ...], now: list[StoredText]) -> int:
    """Counts the blocks at the beginning that are the same."""
    length = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        length += 1
    return length


def _last_lasting(blocks: list[StoredText]) -> int | None:
    """Finds the last block that may stay as it is: plain texts, such as the round's number, change with each call."""
    for at in range(len(blocks) - 1, -1, -1):
        if peek(blocks[at]).type != "text":
            return at
    return None


def _weigh_mark(
    request: Request, prefix: list[StoredText], rounds_after: int
) -> tuple[bool, str]:
    """Returns True if marking `prefix` is expected to pay, and the reason in words."""
    if rounds_after == 0:
        return False, "messages not cached: no call with the same tools can follow"
    price = price_of(request.model)
    unit = "USD"
    if price is None:
        price = _USUAL_PRICE
        unit = "millionths of the input price"
    # System and tools stand before the messages, and count for the least that a server caches.
    fixed_chars = len(request.system.text)
    if request.tools is not None:
        fixed_chars += len(request.tools.text)
    prefix_chars = 0
    for block in prefix:
        prefix_chars += len(block.text)
    tokens = prefix_chars // CHARS_PER_TOKEN
    if tokens + fixed_chars // CHARS_PER_TOKEN < price.least_cached:
        return False, f"messages not cached: about {tokens} tokens are too few"
    # Writing is dearer than plain input for certain, reading is cheaper only where another round follows.
    gain = FOLLOWED * (price.input - price.cache_read) - (
        price.cache_write - price.input
    )
    pays = gain > 0
    decision = "cached" if pays else "not cached"
    saved = tokens * gain / 1_000_000
    return (
        pays,
        f"messages {decision}: writing about {tokens} tokens is expected to save {saved:.6f} {unit}",
    )


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
