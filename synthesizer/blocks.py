"""Content blocks as JSON texts, made once a query, so that successive requests share them byte for byte."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from antiphon.language.lengths import tokens_of
from antiphon.language.words import label_terms, sentence_terms
from antiphon.vocabulary.values import Fact, Passage, StoredText, Value

LABEL_CHARS = 300


class Sentence(Value, frozen=True, kw_only=True):
    """One sentence of a fact, with everything that scoring and selecting need; its text is in the fact's passage.

    Attributes:
        fact_id: The fact under whose id requests show it.
        number: Its place among the fact's sentences, from 0.
        tokens: Estimated tokens of its text.
        terms: The stems that it holds.
        round: The round that found it, which may be earlier than the fact's: merged facts bring their sentences along.
    """

    fact_id: str
    number: int
    tokens: int
    terms: frozenset[str]
    round: int


class SourceBlock(Value, frozen=True, kw_only=True):
    """A fact as a request shows it.

    Attributes:
        fact: The fact.
        json: The `search_result` block's JSON.
        sentences: The sentences of the fact that the block holds, one content block each.
        label_tokens: Estimated tokens of its source and title.
        labels: The stems of its source and title.
        title: The stems of its title alone.
    """

    fact: Fact
    json: StoredText
    sentences: tuple[Sentence, ...]
    label_tokens: int
    labels: frozenset[str] = frozenset()
    title: frozenset[str] = frozenset()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of its sentences in the fact."""
        return tuple([sentence.number for sentence in self.sentences])

    @property
    def tokens(self) -> int:
        """Estimated tokens of the whole block."""
        tokens = self.label_tokens
        for sentence in self.sentences:
            tokens += sentence.tokens
        return tokens

    def all_terms(self) -> frozenset[str]:
        """Returns the stems of its sentences and labels."""
        return self.labels.union(*[sentence.terms for sentence in self.sentences])


def text_block(text: str) -> StoredText:
    """Returns a block of plain text."""
    return _encoded({"type": "text", "text": text})


def source_block(fact: Fact, merged: Sequence[SourceBlock] = ()) -> SourceBlock:
    """Makes the block of a whole fact; blank sentences are left out, because the API refuses them.

    Args:
        merged: The blocks of the earlier facts merged into it.
    """
    passage = fact.passage
    sentences: list[Sentence] = []
    for number in range(len(passage.starts)):
        text = passage.sentence(number)
        if not text.strip():
            continue
        sentence = Sentence(
            fact_id=fact.id,
            number=number,
            tokens=tokens_of(text),
            terms=sentence_terms(text),
            round=_first_found(fact, number, merged),
        )
        sentences.append(sentence)
    source, title = _labels(passage)
    labels = label_terms(source) | label_terms(title)
    # A question that names a course asks for everything in it.
    if passage.course is not None:
        labels |= label_terms(passage.course)
    return SourceBlock(
        fact=fact,
        json=_search_result(passage, sentences),
        sentences=tuple(sentences),
        label_tokens=tokens_of(source) + tokens_of(_shown_title(passage, sentences)),
        labels=labels,
        title=label_terms(title),
    )


def with_sentences(block: SourceBlock, sentences: Sequence[Sentence]) -> SourceBlock:
    """Returns the block with only these of its sentences; the same object if they are all of them."""
    # The same block is the same bytes, which the provider's prompt cache requires.
    if len(sentences) == len(block.sentences):
        return block
    return replace(
        block,
        json=_search_result(block.fact.passage, sentences),
        sentences=tuple(sentences),
    )


def _first_found(fact: Fact, number: int, merged: Sequence[SourceBlock]) -> int:
    """Returns the round in which a sentence of the fact was first found, looked up by its offset in the lesson."""
    if not merged:
        return fact.round
    # A sentence has a different number in each passage that holds it: only its place in the lesson is the same.
    offset = _beginning(fact.passage) + fact.passage.starts[number]
    found: list[int] = []
    for block in merged:
        passage = block.fact.passage
        at = offset - _beginning(passage)
        if not 0 <= at < len(passage.text.text):
            continue
        number_there = bisect_right(passage.starts, at) - 1
        for sentence in block.sentences:
            if sentence.number == number_there:
                found.append(sentence.round)
    return min(found, default=fact.round)


def _beginning(passage: Passage) -> int:
    """Returns a passage's offset in its lesson; a passage of unknown place counts as the beginning."""
    return passage.start or 0


def _search_result(passage: Passage, sentences: Sequence[Sentence]) -> StoredText:
    source, _ = _labels(passage)
    # One content block a sentence: a citation names blocks, so each sentence can be cited alone.
    content = [
        {"type": "text", "text": passage.sentence(sentence.number)}
        for sentence in sentences
    ]
    return _encoded(
        {
            "type": "search_result",
            "source": source,
            "title": _shown_title(passage, sentences),
            "content": content,
            "citations": {"enabled": True},
        }
    )


def _labels(passage: Passage) -> tuple[str, str]:
    # The API refuses a block without them, so each has a substitute.
    source = passage.source.strip()[:LABEL_CHARS] or passage.id
    title = (passage.title or "").strip()[:LABEL_CHARS] or source
    return source, title


def _shown_title(passage: Passage, sentences: Sequence[Sentence]) -> str:
    """Returns the title with the page, the heading or the time of the sentences."""
    _, title = _labels(passage)
    if not sentences:
        return title
    first, last = sentences[0].number, sentences[-1].number
    places = passage.places_from(passage.starts[first], passage.starts[last])
    if not places:
        return title
    return f"{title}, {places}"


def _encoded(block: dict[str, object]) -> StoredText:
    return StoredText(msgspec.json.encode(block).decode())
