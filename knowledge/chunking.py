"""Cuts a lesson's text into sentences that the embedder can read whole, and packs these into chunks."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple, Protocol

from antiphon.knowledge.tables import is_separator
from antiphon.knowledge.values import Document, Section
from antiphon.language.sentences import sentence_starts
from antiphon.vocabulary.values import Value

# Measured on chunking_evaluation (https://github.com/brandonstarxel/chunking_evaluation): 200 tokens without
# overlap find 87 % of the answers, 100 tokens 76 %, and overlap makes it worse.
CHUNK_TOKENS = 200
# A text counts as at least one token for this many characters, because the tokenizer counts any word beyond a hundred
# characters as one.
_CHARACTERS_PER_TOKEN = 10
# The beginning of an endless title is enough to tell its subject.
_TITLE_TOKENS = 48
_WORD = re.compile(r"\S+\s*")


class TokenCounter(Protocol):
    """The part of an embedder that the chunker needs."""

    @property
    def max_tokens(self) -> int: ...

    def count_tokens(self, text: str) -> int: ...


class _CountedOnce:
    """Counts each distinct word of a text only once, because most words recur."""

    def __init__(self, counter: TokenCounter) -> None:
        self.max_tokens = counter.max_tokens
        self._counter = counter
        self._counts: dict[str, int] = {}

    def count_tokens(self, text: str) -> int:
        count = self._counts.get(text)
        if count is None:
            count = self._counts[text] = self._counter.count_tokens(text)
        return count


class Chunk(Value, frozen=True, kw_only=True):
    """A run of whole sentences of one section.

    Attributes:
        id: Content address: course, lesson, its title and the text.
        start: Offset of `text` in the section's text, in characters.
        stop: Offset of the next chunk; only white space is between the end of `text` and it.
        starts: Offsets of the sentences in `text`.
        tokens: The tokens of each sentence.
    """

    id: str
    start: int
    stop: int
    text: str
    starts: tuple[int, ...]
    tokens: tuple[int, ...]

    @property
    def sentences(self) -> list[str]:
        """Returns the sentences for the embedder, without the white space around them."""
        ends = (*self.starts[1:], len(self.text))
        return [
            self.text[start:end].strip()
            for start, end in zip(self.starts, ends, strict=True)
        ]


class _Span(NamedTuple):
    """A part of a text, in characters, and its tokens."""

    start: int
    end: int
    tokens: int


def chunk_section(
    document: Document, section: Section, counter: TokenCounter
) -> list[Chunk]:
    """Cuts one section; a text that a lesson repeats is kept once."""
    limit = min(CHUNK_TOKENS, counter.max_tokens)
    chunks: dict[str, Chunk] = {}
    groups = list(_pack(section.text, limit, counter))
    borders = [group[0].start for group in groups] + [len(section.text)]
    for spans, stop in zip(groups, borders[1:], strict=True):
        chunk = _chunk(document, section, spans, stop)
        chunks.setdefault(chunk.id, chunk)
    return list(chunks.values())


def passage_id(
    course: str, lesson: int | None, lesson_title: str | None, text: str
) -> str:
    """Returns the content address of a passage: the same words in two lessons are two sources."""
    address = "\0".join((course, str(lesson), lesson_title or "", text))
    return hashlib.sha256(address.encode()).hexdigest()[:32]


def _chunk(
    document: Document, section: Section, spans: list[_Span], stop: int
) -> Chunk:
    start = spans[0].start
    text = section.text[start : spans[-1].end].rstrip()
    return Chunk(
        id=passage_id(document.title, section.number, section.title, text),
        start=start,
        stop=stop,
        text=text,
        starts=tuple(span.start - start for span in spans),
        tokens=tuple(span.tokens for span in spans),
    )


def titles_of(document: Document, section: Section, counter: TokenCounter) -> str:
    """Returns the course's and lesson's titles, cut to the length that is embedded."""
    course, lesson = document.title, section.title
    titles = f"{course} - {lesson}" if lesson else course
    limit = min(_TITLE_TOKENS, counter.max_tokens // 2)
    for piece in _pieces(titles, limit, counter):
        return titles[: piece.end].strip()
    return ""


def _pack(text: str, limit: int, counter: TokenCounter) -> Iterator[list[_Span]]:
    """Groups neighbouring sentences that together stay within the limit."""
    group: list[_Span] = []
    tokens = 0
    for unit in _units(text, limit, counter):
        if group and tokens + unit.tokens > limit:
            yield group
            group, tokens = [], 0
        group.append(unit)
        tokens += unit.tokens
    if group:
        yield group


def _units(text: str, limit: int, counter: TokenCounter) -> Iterator[_Span]:
    """Yields the sentences, in pieces if they exceed the limit."""
    for start, end in _sentences(text):
        sentence = text[start:end]
        # Counting the tokens of a megabyte takes seconds, and its length is enough to decide.
        if _least_tokens(sentence) <= limit:
            tokens = _tokens(sentence, counter)
            if tokens <= limit:
                yield _Span(start, end, tokens)
                continue
        for piece in _pieces(sentence, limit, counter):
            # Counted again, because the tokens of a piece are not the sum of those of its words.
            piece_tokens = _tokens(sentence[piece.start : piece.end], counter)
            yield _Span(start + piece.start, start + piece.end, piece_tokens)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    """Yields start and end of each sentence, line by line: a list item or a heading ends with its line.

    A table's header and the line of dashes below it count as one.
    """
    line_start = 0
    lines = text.splitlines(keepends=True)
    for line, below in zip_longest(lines, lines[1:], fillvalue=""):
        line_end = line_start + len(line)
        if line.strip() and not is_separator(line):
            starts = [line_start + start for start in sentence_starts(line)]
            end = line_end + len(below) if is_separator(below) else line_end
            yield from zip(starts, [*starts[1:], end], strict=True)
        line_start = line_end


def _pieces(text: str, limit: int, counter: TokenCounter) -> Iterator[_Span]:
    """Yields spans of `text` within the limit, cut between words if possible."""
    start = end = tokens = 0
    for word in _words(text, limit, _CountedOnce(counter)):
        # A span takes its first word even if that alone fills the limit; otherwise it would never advance.
        if end > start and tokens + word.tokens > limit:
            yield _Span(start, end, tokens)
            start, tokens = word.start, 0
        end = word.end
        tokens += word.tokens
    if end > start:
        yield _Span(start, end, tokens)


def _words(text: str, limit: int, counter: TokenCounter) -> Iterator[_Span]:
    for found in _WORD.finditer(text):
        yield from _halve(text, found.start(), found.end(), limit, counter)


def _halve(
    text: str, start: int, end: int, limit: int, counter: TokenCounter
) -> Iterator[_Span]:
    """Yields a word, halved until each piece fits."""
    tokens = _tokens(text[start:end], counter)
    if end - start == 1 or tokens <= limit:
        yield _Span(start, end, tokens)
        return
    middle = (start + end) // 2
    yield from _halve(text, start, middle, limit, counter)
    yield from _halve(text, middle, end, limit, counter)


def _tokens(text: str, counter: TokenCounter) -> int:
    return max(counter.count_tokens(text), _least_tokens(text))


def _least_tokens(text: str) -> int:
    return len(text) // _CHARACTERS_PER_TOKEN
