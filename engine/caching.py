"""Where a request is marked as cacheable: by what it costs and what it can save; pure.

Servers cache prefixes in the order tools, system, messages. Tools and system are the same for every query and always
end in a mark. Marks in the messages cost a quarter more for what they write, and pay only where another call with the
same `tools` and `tool_choice` is likely to read it: never before the final call, which offers no tools.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from antiphon.engine.parts import peek
from antiphon.engine.prices import Price, price_of
from antiphon.vocabulary.values import Message, Request, StoredText

MOST_MARKS = 3
"""The API allows four; the system prompt has one."""
FOLLOWED = 0.5
"""Share of tool rounds that are followed by another one. An assumption: a service's own traces tell it."""
CHARS_PER_TOKEN = 4
_USUAL = Price(input=1.0, output=5.0, cache_write=1.25, cache_read=0.1, least_cached=1024)
"""The usual proportions, for a model whose price is not known."""
_MARK = ',"cache_control":{"type":"ephemeral"}}'


class Marked(NamedTuple):
    """What one request of a query leaves for the next: its blocks before they were marked, and which were."""

    blocks: tuple[StoredText, ...] = ()
    marks: tuple[int, ...] = ()


class Plan(NamedTuple):
    """The request as it is to be sent, what the next one must know, and the decision in words."""

    request: Request
    marked: Marked
    why: str


def place_marks(request: Request, before: Marked, *, rounds_after: int) -> Plan:
    """The request with its marks.

    Args:
        before: What the query's last request left; its marks stay where its blocks do.
        rounds_after: Rounds of tools that may still follow this call.
    """
    blocks = tuple(block for message in request.messages for block in message.content)
    shared = _shared(before.blocks, blocks)
    marks = [mark for mark in before.marks if mark < shared]
    end = max((at for at, block in enumerate(blocks) if peek(block).type != "text"), default=None)
    why = ""
    if end is not None and end not in marks:
        pays, why = _worth(request, blocks[: end + 1], rounds_after)
        marks += [end] if pays else []
    marks = marks[-MOST_MARKS:]
    return Plan(replace(request, messages=_mark(request.messages, frozenset(marks))), Marked(blocks, tuple(marks)), why)


def _shared(before: tuple[StoredText, ...], now: tuple[StoredText, ...]) -> int:
    """How many blocks at the beginning are the same."""
    differing = (at for at, (old, new) in enumerate(zip(before, now, strict=False)) if old != new)
    return next(differing, min(len(before), len(now)))


def _worth(request: Request, prefix: tuple[StoredText, ...], rounds_after: int) -> tuple[bool, str]:
    if rounds_after == 0:
        return False, "messages not cached: no call with the same tools can follow"
    price = price_of(request.model) or _USUAL
    fixed = len(request.system.text) + (len(request.tools.text) if request.tools else 0)
    tokens = sum(len(block.text) for block in prefix) // CHARS_PER_TOKEN
    if tokens + fixed // CHARS_PER_TOKEN < price.least_cached:
        return False, f"messages not cached: about {tokens} tokens are too few"
    gain = FOLLOWED * (price.input - price.cache_read) - (price.cache_write - price.input)
    sign = "cached" if gain > 0 else "not cached"
    dollars = tokens * gain / 1_000_000
    unit = "USD" if price is not _USUAL else "millionths of the input price"
    return gain > 0, f"messages {sign}: writing about {tokens} tokens is expected to save {dollars:.6f} {unit}"


def _mark(messages: tuple[Message, ...], marks: frozenset[int]) -> tuple[Message, ...]:
    if not marks:
        return messages
    marked, at = [], 0
    for message in messages:
        content = []
        for block in message.content:
            content.append(StoredText(block.text[:-1] + _MARK) if at in marks else block)
            at += 1
        marked.append(replace(message, content=tuple(content)))
    return tuple(marked)
