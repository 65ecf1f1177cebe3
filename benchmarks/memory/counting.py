"""Counts of what a call's messages cost, and of the needed sentences that are in them word for word.

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
    """Returns the cost of each call of a run, in order."""
    found: list[Cost] = []
    previous: list[str] = []
    for messages in calls:
        blocks = _blocks(messages)
        sizes = list(map(_tokens, blocks))
        cached = sum(sizes[: _shared_beginning(blocks, previous)])
        tokens = sum(sizes)
        found.append(
            Cost(tokens=tokens, priced=tokens - cached * (1 - CACHE_READ_PRICE))
        )
        previous = blocks
    return found


def _shared_beginning(blocks: Sequence[str], previous: Sequence[str]) -> int:
    """Counts the blocks up to the first that differs: a cache holds beginnings."""
    shared = 0
    for block, before in zip(blocks, previous, strict=False):
        if block != before:
            break
        shared += 1
    return shared


def sentences_kept(needed: Sequence[str], messages: Sequence[Message]) -> int:
    """Counts the needed sentences that are in the evidence of the messages, if they can be cited."""
    evidence = []
    for block in _blocks(messages):
        for text in _evidence(msgspec.json.decode(block)):
            evidence.append(_plain(text))
    return _count_held(needed, evidence)


def sentences_mentioned(needed: Sequence[str], messages: Sequence[Message]) -> int:
    """Counts the needed sentences that are anywhere in the messages, be it in a note that nothing can cite."""
    texts = []
    for block in _blocks(messages):
        read = " ".join(_texts(msgspec.json.decode(block)))
        # Notes are markup, in which a text is escaped.
        texts.append(_plain(unescape(read)))
    return _count_held(needed, texts)


def summary_tokens(messages: Sequence[Message]) -> int:
    """Counts the tokens that a summarising call sees."""
    return sum(map(_tokens, _blocks(messages)))


def plain_loop_tokens(
    question: str, rounds: Sequence[Sequence[tuple[str, str, str]]]
) -> list[int]:
    """Counts what each call of a plain loop would hold that sends each tool's result as one text.

    Args:
        rounds: For each round its calls: tool, arguments as JSON, the tool's result.
    """
    total = tokens_of(question)
    totals = [total]
    for calls in rounds:
        for call in calls:
            total += sum(map(tokens_of, call))
        totals.append(total)
    return totals


def _blocks(messages: Sequence[Message]) -> list[str]:
    blocks = []
    for message in messages:
        blocks += [block.text for block in message.content]
    return blocks


def _tokens(block: str) -> int:
    return sum(map(tokens_of, _texts(msgspec.json.decode(block))))


def _texts(block: Mapping[str, Any]) -> Iterator[str]:
    """Yields everything that the model reads of a block."""
    match block:
        case {"type": "text", "text": str(text)}:
            yield text
        case {
            "type": "search_result",
            "source": str(source),
            "title": str(title),
            "content": list(parts),
        }:
            yield source
            yield title
            for part in parts:
                yield part["text"]
        case {"type": "tool_use", "name": str(name), "input": dict(arguments)}:
            yield name
            yield msgspec.json.encode(arguments).decode()
        case {"type": "tool_result", "content": list(parts)}:
            for part in parts:
                yield from _texts(part)


def _evidence(block: Mapping[str, Any]) -> Iterator[str]:
    """Yields the text of each source, its sentences joined."""
    if block["type"] == "tool_result":
        for part in block["content"]:
            yield from _evidence(part)
    elif block["type"] == "search_result":
        yield "".join(sentence["text"] for sentence in block["content"])


def _count_held(needed: Sequence[str], texts: Sequence[str]) -> int:
    # Joined by a line feed, which no plain text holds, so that no sentence is found across two of them.
    whole = "\n".join(texts)
    held = 0
    for sentence in needed:
        if _plain(sentence) in whole:
            held += 1
    return held


def _plain(text: str) -> str:
    return " ".join(text.split())
