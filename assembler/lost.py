"""Finds sentences of an answer whose support had been left out of the briefing that produced it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from antiphon.language.sentences import sentence_starts
from antiphon.language.words import terms
from antiphon.vocabulary.events import BriefingPrepared
from antiphon.vocabulary.values import Citation, Fact, Passage

FEWEST_TERMS = 4
"""Shorter sentences say too little to tell what they rest on."""
SUPPORTS = 0.6
"""The share of a sentence's terms that its support holds."""
READ_CHARS = 20_000


def lost_support(answer: str, citations: Sequence[Citation], briefing: BriefingPrepared, facts: Sequence[Fact]) -> int:
    """How many sentences of the answer cite nothing, and are supported by what was left out and not by what was shown.

    A sentence is supported by one that holds most of its terms. What was left out because another fact says nearly
    the same is not lost.
    """
    loose = list(_uncited(answer[:READ_CHARS], citations)) if briefing.dropped else []
    if not loose:
        return 0
    passages = {fact.id: fact.passage for fact in facts}
    shown = [held for row in briefing.sources for held in _terms(passages.get(row.fact_id), row.sentences)]
    dropped = [
        held
        for item in briefing.dropped
        if item.rule != "repeated"
        for held in _terms(passages.get(item.what), item.sentences)
    ]
    return sum(_best(said, dropped) >= SUPPORTS > _best(said, shown) for said in loose)


def _uncited(answer: str, citations: Sequence[Citation]) -> Iterator[frozenset[str]]:
    """The terms of the sentences that no citation touches."""
    starts = sentence_starts(answer)
    for start, end in zip(starts, [*starts[1:], len(answer)], strict=True):
        held = frozenset(terms(answer[start:end]))
        cited = any(citation.start < end and start < citation.end for citation in citations)
        if not cited and len(held) >= FEWEST_TERMS:
            yield held


def _terms(passage: Passage | None, numbers: Sequence[int]) -> Iterator[frozenset[str]]:
    """The terms of these sentences; of all where none are named."""
    if passage is not None:
        for number in numbers or range(len(passage.starts)):
            yield frozenset(terms(passage.sentence(number)))


def _best(said: frozenset[str], sentences: Sequence[frozenset[str]]) -> float:
    return max((len(said & held) / len(said) for held in sentences), default=0.0)
