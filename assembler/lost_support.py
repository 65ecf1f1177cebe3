"""Finds sentences of an answer whose support the briefing behind it had left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from antiphon.language.sentences import sentence_starts
from antiphon.language.words import sentence_terms
from antiphon.vocabulary.events import BriefingPrepared
from antiphon.vocabulary.values import Citation, Fact, Passage

FEWEST_TERMS = 4
"""Shorter sentences say too little to tell what they rest on."""
SUPPORTS = 0.6
"""A sentence is supported by one that holds at least this share of its terms."""
READ_CHARS = 20_000
"""Characters of an answer that are checked: each sentence is compared with every one that was found."""

Terms = frozenset[str]


def lost_support(
    answer: str,
    citations: Sequence[Citation],
    briefing: BriefingPrepared,
    facts: Sequence[Fact],
) -> int:
    """Counts the sentences of the answer that cite nothing and that only omitted sentences support.

    A sentence is supported by one that holds most of its terms. A sentence that was left out because another fact
    says nearly the same is not lost.
    """
    passages = {fact.id: fact.passage for fact in facts}
    dropped = _dropped_terms(briefing, passages)
    # Most briefings leave out only repetitions.
    if not dropped:
        return 0
    uncited = uncited_sentences(answer[:READ_CHARS], citations)
    if not uncited:
        return 0
    shown = _shown_terms(briefing, passages)
    lost = 0
    for sentence in map(sentence_terms, uncited):
        if not _is_supported(sentence, shown) and _is_supported(sentence, dropped):
            lost += 1
    return lost


def uncited_sentences(answer: str, citations: Sequence[Citation]) -> list[str]:
    """Returns the sentences that no citation touches and that are long enough to show what they rest on."""
    uncited: list[str] = []
    for start, end in pairwise([*sentence_starts(answer), len(answer)]):
        is_cited = any(
            citation.start < end and start < citation.end for citation in citations
        )
        # A cited sentence names its support; only the others need a check.
        if not is_cited and len(sentence_terms(answer[start:end])) >= FEWEST_TERMS:
            uncited.append(answer[start:end])
    return uncited


def _shown_terms(
    briefing: BriefingPrepared, passages: Mapping[str, Passage]
) -> list[Terms]:
    shown: list[Terms] = []
    for row in briefing.sources:
        shown += _terms_of(passages.get(row.fact_id), row.sentences)
    return shown


def _dropped_terms(
    briefing: BriefingPrepared, passages: Mapping[str, Passage]
) -> list[Terms]:
    dropped: list[Terms] = []
    for item in briefing.dropped:
        # The model saw a repeated sentence in the fact that repeats it.
        if item.rule != "repeated":
            dropped += _terms_of(passages.get(item.what), item.sentences)
    return dropped


def _terms_of(passage: Passage | None, numbers: Sequence[int]) -> list[Terms]:
    """Returns the terms of these sentences; without numbers, of all of them; nothing for an unknown passage."""
    if passage is None:
        return []
    if not numbers:
        numbers = range(len(passage.starts))
    return [sentence_terms(passage.sentence(number)) for number in numbers]


def _is_supported(sentence: Terms, others: Sequence[Terms]) -> bool:
    most = max([len(sentence & other) for other in others], default=0)
    return most / len(sentence) >= SUPPORTS
