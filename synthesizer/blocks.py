"""Content blocks as their JSON texts; made once a query, so that successive requests share them byte for byte."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from synthesizer.tokens import tokens_of
from vocabulary.values import Fact, Kept, Passage, Value

LABEL_CHARS = 300


class SourceBlock(Value, frozen=True):
    """A fact as a request shows it.

    Attributes:
        fact: The fact.
        kept: The `search_result` block's JSON.
        sentences: Which sentences of the fact it holds, one content block each.
        tokens: Estimated tokens of each of them.
        label_tokens: Estimated tokens of its source and title.
    """

    fact: Fact
    kept: Kept
    sentences: tuple[int, ...]
    tokens: tuple[int, ...]
    label_tokens: int

    @property
    def all_tokens(self) -> int:
        """Estimated tokens of the whole block."""
        return self.label_tokens + sum(self.tokens)


def text_block(text: str) -> Kept:
    """A block of plain text."""
    return _kept({"type": "text", "text": text})


def source_block(fact: Fact, numbers: Iterable[int] | None = None) -> SourceBlock:
    """A fact with the sentences `numbers`, or all; blank ones are never sent, the API refuses them."""
    passage = fact.passage
    wanted = range(len(passage.starts)) if numbers is None else numbers
    shown = [(number, text) for number in wanted if (text := passage.sentence(number)).strip()]
    source, title = _labels(passage)
    block = {
        "type": "search_result",
        "source": source,
        "title": title,
        "content": [{"type": "text", "text": text} for _, text in shown],
        "citations": {"enabled": True},
    }
    return SourceBlock(
        fact=fact,
        kept=_kept(block),
        sentences=tuple(number for number, _ in shown),
        tokens=tuple(tokens_of(text) for _, text in shown),
        label_tokens=tokens_of(source) + tokens_of(title),
    )


def _labels(passage: Passage) -> tuple[str, str]:
    source = passage.source.strip()[:LABEL_CHARS] or passage.id
    return source, (passage.title or "").strip()[:LABEL_CHARS] or source


def _kept(block: dict[str, object]) -> Kept:
    return Kept(msgspec.json.encode(block).decode())
