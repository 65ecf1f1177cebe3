"""Content blocks as their JSON texts; made once a query, so that successive requests share them byte for byte."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from antiphon.language.words import terms
from antiphon.synthesizer.question_parts import label_terms
from antiphon.synthesizer.tokens import tokens_of
from antiphon.vocabulary.values import Fact, Passage, StoredText, Value

LABEL_CHARS = 300
REMEMBERED_CHARS = 1_000
"""Stems of sentences up to this length are kept between queries."""


class SourceBlock(Value, frozen=True, kw_only=True):
    """A fact as a request shows it.

    Attributes:
        fact: The fact.
        kept: The `search_result` block's JSON.
        sentences: Which sentences of the fact it holds, one content block each.
        tokens: Estimated tokens of each of them.
        terms: The stems that each of them holds; worked out once, for serving parts and for worth.
        rounds: The round in which each of them was found: a fact that took in earlier ones has sentences of theirs.
        label_tokens: Estimated tokens of its source and title.
        labels: The stems of its source and title.
        title: The stems of its title alone.
    """

    fact: Fact
    kept: StoredText
    sentences: tuple[int, ...]
    tokens: tuple[int, ...]
    terms: tuple[frozenset[str], ...]
    rounds: tuple[int, ...]
    label_tokens: int
    labels: frozenset[str] = frozenset()
    title: frozenset[str] = frozenset()

    @property
    def all_tokens(self) -> int:
        """Estimated tokens of the whole block."""
        return self.label_tokens + sum(self.tokens)


def text_block(text: str) -> StoredText:
    """A block of plain text."""
    return _kept({"type": "text", "text": text})


def source_block(fact: Fact, olds: Sequence[SourceBlock] = ()) -> SourceBlock:
    """The block of a whole fact; blank sentences are never sent, the API refuses them.

    Args:
        olds: The blocks of the facts that it took in.
    """
    passage = fact.passage
    numbers = tuple(n for n in range(len(passage.starts)) if passage.sentence(n).strip())
    texts = [passage.sentence(number) for number in numbers]
    source, title = _labels(passage)
    return SourceBlock(
        fact=fact,
        kept=_search_result(passage, texts),
        sentences=numbers,
        tokens=tuple(tokens_of(text) for text in texts),
        terms=tuple(_terms_of(text) if len(text) <= REMEMBERED_CHARS else frozenset(terms(text)) for text in texts),
        rounds=tuple(_round_of(fact, number, olds) for number in numbers),
        label_tokens=tokens_of(source) + tokens_of(title),
        labels=label_terms(source) | label_terms(title) | label_terms(passage.course or ""),
        title=label_terms(title),
    )


def _round_of(fact: Fact, number: int, olds: Sequence[SourceBlock]) -> int:
    """The round in which a sentence of the fact was first found; by its place in the lesson."""
    place = (fact.passage.start or 0) + fact.passage.starts[number]
    return min((found for old in olds if (found := _round_at(old, place)) is not None), default=fact.round)


def _round_at(block: SourceBlock, place: int) -> int | None:
    """The round of the sentence that stands at `place` of the lesson; None where the block does not reach there."""
    passage = block.fact.passage
    at = place - (passage.start or 0)
    if not 0 <= at < len(passage.text.text):
        return None
    number = bisect_right(passage.starts, at) - 1
    return dict(zip(block.sentences, block.rounds, strict=True)).get(number)


@lru_cache(maxsize=4096)
def _terms_of(sentence: str) -> frozenset[str]:
    """The stems of one sentence; queries find the same passages again and again, and replays even more so."""
    return frozenset(terms(sentence))


def with_sentences(block: SourceBlock, numbers: frozenset[int]) -> SourceBlock:
    """The block with only the sentences `numbers`; the very same one where that leaves nothing out."""
    places = [place for place, number in enumerate(block.sentences) if number in numbers]
    if len(places) == len(block.sentences):
        return block
    shown = tuple(block.sentences[place] for place in places)
    passage = block.fact.passage
    return replace(
        block,
        kept=_search_result(passage, [passage.sentence(number) for number in shown]),
        sentences=shown,
        tokens=tuple(block.tokens[place] for place in places),
        terms=tuple(block.terms[place] for place in places),
        rounds=tuple(block.rounds[place] for place in places),
    )


def _search_result(passage: Passage, texts: list[str]) -> StoredText:
    source, title = _labels(passage)
    content = [{"type": "text", "text": text} for text in texts]
    return _kept(
        {"type": "search_result", "source": source, "title": title, "content": content, "citations": {"enabled": True}}
    )


def _labels(passage: Passage) -> tuple[str, str]:
    source = passage.source.strip()[:LABEL_CHARS] or passage.id
    return source, (passage.title or "").strip()[:LABEL_CHARS] or source


def _kept(block: dict[str, object]) -> StoredText:
    return StoredText(msgspec.json.encode(block).decode())
