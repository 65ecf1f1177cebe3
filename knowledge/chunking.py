"""A lesson's text cut into chunks of whole sentences that the embedder can read to the end."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Protocol

from antiphon.knowledge.document import Document, Section
from antiphon.language.sentences import sentence_starts
from antiphon.vocabulary.values import Value

CHUNK_TOKENS = 200
"""Measured on chunking_evaluation (https://github.com/brandonstarxel/chunking_evaluation): 200 tokens without
overlap find 87 % of what answers, 100 tokens 76 %, and overlap makes it worse."""
_CHARACTERS_A_TOKEN = 10
"""A text counts at least one token for so many characters: the tokenizer counts a word of any length beyond a
hundred characters as one."""
_CONTEXT_TOKENS = 48
_WORD = re.compile(r"\S+\s*")


class TokenCounter(Protocol):
    """What the chunker needs of an embedder."""

    @property
    def max_tokens(self) -> int: ...

    def count_tokens(self, text: str) -> int: ...


class Chunk(Value, frozen=True, kw_only=True):
    """A run of whole sentences of one section.

    Attributes:
        id: Content address: course, lesson, its title and the text.
        start: Offset of `text` in the section's text, in characters.
        starts: Offsets of the sentences in `text`.
        context: The course's and lesson's titles, for the embedder; never part of what is cited.
    """

    id: str
    start: int
    text: str
    starts: tuple[int, ...]
    context: str

    @property
    def embedded(self) -> str:
        """What the embedder reads."""
        return f"{self.context}\n{self.text}"


def chunk_section(document: Document, section: Section, counter: TokenCounter) -> list[Chunk]:
    """Cuts one section; the same text twice in one lesson is kept once."""
    context = _context(document, section, counter)
    limit = min(CHUNK_TOKENS, counter.max_tokens - counter.count_tokens(context))
    chunks: dict[str, Chunk] = {}
    for spans in _packed(section.text, limit, counter):
        chunk = _chunk(document, section, spans, context)
        chunks.setdefault(chunk.id, chunk)
    return list(chunks.values())


def _chunk(document: Document, section: Section, spans: list[tuple[int, int]], context: str) -> Chunk:
    start = spans[0][0]
    text = section.text[start : spans[-1][1]].rstrip()
    address = "\0".join((document.title, str(section.number), section.title, text))
    return Chunk(
        id=hashlib.sha256(address.encode()).hexdigest()[:32],
        start=start,
        text=text,
        starts=tuple(first - start for first, _ in spans),
        context=context,
    )


def _context(document: Document, section: Section, counter: TokenCounter) -> str:
    titles = f"{document.title} - {section.title}" if section.title else document.title
    first = next(_pieces(titles, 0, min(_CONTEXT_TOKENS, counter.max_tokens // 2), counter), (0, 0))
    return titles[: first[1]].strip()


def _packed(text: str, limit: int, counter: TokenCounter) -> Iterator[list[tuple[int, int]]]:
    """Groups of neighbouring sentences (as spans) that together stay within the limit."""
    group: list[tuple[int, int]] = []
    spent = 0
    for start, end in _spans(text):
        cost = _cost(text[start:end], counter)
        units = [(start, end)] if cost <= limit else list(_pieces(text[start:end], start, limit, counter))
        for unit in units:
            unit_cost = cost if len(units) == 1 else _cost(text[unit[0] : unit[1]], counter)
            if group and spent + unit_cost > limit:
                yield group
                group, spent = [], 0
            group.append(unit)
            spent += unit_cost
    if group:
        yield group


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The sentences, each line for itself: a list item or a heading ends where its line ends."""
    position = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            starts = sentence_starts(line)
            for start, end in zip(starts, [*starts[1:], len(line)], strict=True):
                yield position + start, position + end
        position += len(line)


def _pieces(text: str, offset: int, limit: int, counter: TokenCounter) -> Iterator[tuple[int, int]]:
    """Spans of `text` within the limit, cut between words where that is possible."""
    start = end = spent = 0
    for first, last in _words(text, limit, counter):
        cost = _cost(text[first:last], counter)
        if end > start and spent + cost > limit:
            yield offset + start, offset + end
            start, spent = first, 0
        end = last
        spent += cost
    if end > start:
        yield offset + start, offset + end


def _words(text: str, limit: int, counter: TokenCounter) -> Iterator[tuple[int, int]]:
    for found in _WORD.finditer(text):
        yield from _halved(text, found.start(), found.end(), limit, counter)


def _halved(text: str, start: int, end: int, limit: int, counter: TokenCounter) -> Iterator[tuple[int, int]]:
    """A word, or its halves' halves where it alone is too long."""
    if end - start == 1 or _cost(text[start:end], counter) <= limit:
        yield start, end
        return
    middle = (start + end) // 2
    yield from _halved(text, start, middle, limit, counter)
    yield from _halved(text, middle, end, limit, counter)


def _cost(text: str, counter: TokenCounter) -> int:
    return max(counter.count_tokens(text), len(text) // _CHARACTERS_A_TOKEN)
