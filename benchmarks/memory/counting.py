"""What a call's messages cost, and which of the needed sentences stand in them word for word.

Tokens are estimated (synthesizer/tokens.py) over everything that the model reads of the messages: texts, sources,
titles, tool names and arguments. System prompt and tools are the same in every mode and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any

import msgspec

from antiphon.language.lengths import tokens_of
from antiphon.vocabulary.values import Message, Value

CACHE_READ_PRICE = 0.1


class Cost(Value, frozen=True, kw_only=True):
    """The context of one call.

    Attributes:
        tokens: All of it.
        priced: The same with the beginning that it shares with the call before at a tenth.
    """

    tokens: int
    priced: float


def costs(calls: Sequence[Sequence[Message]]) -> list[Cost]:
    """The cost of each call of a run, in order."""
    found: list[Cost] = []
    before: list[str] = []
    for messages in calls:
        blocks = [block.text for message in messages for block in message.content]
        sizes = [_tokens(block) for block in blocks]
        shared = next((n for n, pair in enumerate(zip(blocks, before, strict=False)) if pair[0] != pair[1]), None)
        shared = min(len(blocks), len(before)) if shared is None else shared
        cached = sum(sizes[:shared])
        found.append(Cost(tokens=sum(sizes), priced=sum(sizes) - cached * (1 - CACHE_READ_PRICE)))
        before = blocks
    return found


def kept(gold: Sequence[str], messages: Sequence[Message]) -> int:
    """How many of the sentences stand in the evidence of the messages, word for word."""
    evidence = [_plain(text) for message in messages for block in message.content for text in _evidence(block.text)]
    return sum(any(_plain(sentence) in text for text in evidence) for sentence in gold)


def told(gold: Sequence[str], messages: Sequence[Message]) -> int:
    """How many of the sentences stand anywhere in the messages, be it in a note that nothing can cite."""
    blocks = [msgspec.json.decode(block.text) for message in messages for block in message.content]
    read = [_plain(unescape(text)) for block in blocks for text in (" ".join(_read(block)),)]
    return sum(any(_plain(sentence) in text for text in read) for sentence in gold)


def summary_tokens(messages: Sequence[Message]) -> int:
    """What a summarising call is shown."""
    return sum(_tokens(block.text) for message in messages for block in message.content)


def plain_loop_tokens(question: str, rounds: Sequence[Sequence[tuple[str, str, str]]]) -> list[int]:
    """What each call of a plain loop would hold that sends each tool's words as one text.

    Args:
        rounds: For each round its calls: tool, arguments as JSON, the tool's words.
    """
    totals = [tokens_of(question)]
    for calls in rounds:
        totals.append(totals[-1] + sum(tokens_of(part) for call in calls for part in call))
    return totals


def _tokens(block: str) -> int:
    return sum(map(tokens_of, _read(msgspec.json.decode(block))))


def _read(block: Mapping[str, Any]) -> Iterator[str]:
    match block:
        case {"type": "text", "text": str(text)}:
            yield text
        case {"type": "search_result", "source": str(source), "title": str(title), "content": list(parts)}:
            yield from (source, title)
            yield from (str(part["text"]) for part in parts)
        case {"type": "tool_use", "name": str(name), "input": dict(given)}:
            yield from (name, msgspec.json.encode(given).decode())
        case {"type": "tool_result", "content": list(parts)}:
            for part in parts:
                yield from _read(part)


def _evidence(block: str) -> Iterator[str]:
    """The text of each source, its sentences joined."""
    read = msgspec.json.decode(block)
    inner = read["content"] if read["type"] == "tool_result" else [read]
    for part in inner:
        if part["type"] == "search_result":
            yield "".join(str(sentence["text"]) for sentence in part["content"])


def _plain(text: str) -> str:
    return " ".join(text.split())
