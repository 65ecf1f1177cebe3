"""Bills a request's input: tokens read from the cache, written to it, and neither; pure.

The rules are those of build-with-claude/prompt-caching: a prefix of tools, system prompt and messages with the same
bytes is read up to a mark, and lasts five minutes from its last use. A change of the model, of thinking or of the
effort invalidates the whole cache, one of `tool_choice` only the messages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from antiphon.engine.documented.request import DocumentedRequest, unmarked
from antiphon.vocabulary.ports import Json
from antiphon.vocabulary.values import Usage

CACHE_S = 300.0
CHARS_PER_TOKEN = 4
"""A common estimate for English text; the documentation has none, and there is no public tokenizer."""
_LOOK_BACK = 20
"""Blocks before a mark in which the API looks for an earlier cached prefix."""

Cache = Mapping[bytes, float]
"""The expiry times of prefixes, by digest."""


class Prefix(NamedTuple):
    """The beginning of a request up to the end of one of its tools or blocks."""

    digest: bytes
    tokens: int
    is_marked: bool


def prefixes_of(asked: DocumentedRequest) -> list[Prefix]:
    """Returns all prefixes of a request, the shortest first."""
    digest = sha256(
        msgspec.json.encode([asked.name, asked.thinking, asked.effort])
    ).digest()
    chars = 0
    prefixes: list[Prefix] = []
    for place, part in _parts(asked):
        text = msgspec.json.encode(unmarked(part))
        # Chained, so that equal digests mean equal prefixes.
        digest = sha256(digest + place + text).digest()
        chars += len(text.decode())
        tokens = chars // CHARS_PER_TOKEN
        prefixes.append(Prefix(digest, tokens, bool(part.get("cache_control"))))
    if asked.cache_control:
        prefixes[-1] = prefixes[-1]._replace(is_marked=True)
    return prefixes


def _parts(asked: DocumentedRequest) -> Iterator[tuple[bytes, Json]]:
    """Yields tools and blocks in the cache's order, each with the rest of what its prefix depends on."""
    for part in (*asked.tools, *asked.system_blocks):
        yield b"", part
    choice = msgspec.json.encode(asked.tool_choice)
    for message in asked.messages:
        for block in message.blocks:
            yield choice + message.role.encode(), block


def bill_input(
    prefixes: Sequence[Prefix], cache: Cache, now: float, least_cached: int
) -> tuple[Usage, Cache]:
    """Returns the usage of a request's input, and the cache after it.

    Args:
        now: Seconds, by the cache's clock.
        least_cached: Tokens below which a prefix is silently not cached.
    """
    alive = {digest: until for digest, until in cache.items() if until > now}
    marks = list(_marks(prefixes, least_cached))
    ends = [prefixes[at] for at in marks]
    found = [prefix for prefix in _near(prefixes, marks) if prefix.digest in alive]
    read = max([prefix.tokens for prefix in found], default=0)
    cached = max([prefix.tokens for prefix in ends], default=0)
    usage = Usage(
        input_tokens=prefixes[-1].tokens - cached,
        cache_read_tokens=read,
        cache_write_tokens=cached - read,
    )
    used = {prefix.digest: now + CACHE_S for prefix in (*found, *ends)}
    return usage, alive | used


def _marks(prefixes: Sequence[Prefix], least_cached: int) -> Iterator[int]:
    for at, prefix in enumerate(prefixes):
        if prefix.is_marked and prefix.tokens >= least_cached:
            yield at


def _near(prefixes: Sequence[Prefix], marks: Sequence[int]) -> Iterator[Prefix]:
    """Yields the prefixes that end at a mark or a little before one."""
    for at in marks:
        yield from prefixes[max(0, at - _LOOK_BACK) : at + 1]
