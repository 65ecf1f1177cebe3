"""What each sentence is worth to the question, by the signals that cost next to nothing.

Worth adds up
- half the share of the question's terms that the sentence holds, rare terms weighing more,
- a fifth of its passage's score, relative to the best of the tool call that brought it,
- less a sixth for each round of age.
To this the briefing adds the likeness of meaning to the question, -1 to 1, where it was asked for and could be had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from language.words import terms
from synthesizer.blocks import SourceBlock

OVERLAP_WEIGHT = 1 / 2
SCORE_WEIGHT = 1 / 5
AGE_WEIGHT = 1 / 6


def worths(question: str, sources: Sequence[SourceBlock]) -> list[float]:
    """The worth of every sentence of `sources`, in order, as far as words, score and age tell."""
    overlaps = _overlaps(frozenset(terms(question)), [held for source in sources for held in source.terms])
    standings = [standing for source, standing in zip(sources, _standings(sources), strict=True) for _ in source.terms]
    return [OVERLAP_WEIGHT * overlap + standing for overlap, standing in zip(overlaps, standings, strict=True)]


def _overlaps(asked: frozenset[str], sentences: Sequence[frozenset[str]]) -> list[float]:
    """For each sentence, the share of the `asked` terms that it holds, each by its rarity among the sentences."""
    shared = [asked & held for held in sentences]
    counts = Counter(term for held in shared for term in held)
    rarity = {term: log(1 + len(sentences) / count) for term, count in counts.items()}
    most = sum(rarity.values())
    return [sum(rarity[term] for term in sorted(held)) / most if held else 0.0 for held in shared]


def _standings(sources: Sequence[SourceBlock]) -> list[float]:
    """For each source, what its score within its tool call and its age add."""
    best: dict[str, float] = {}
    for source in sources:
        call_id = source.fact.tool_call_id
        best[call_id] = max(best.get(call_id, 0.0), source.fact.passage.score)
    newest = max((source.fact.round for source in sources), default=0)
    return [_standing(source, best[source.fact.tool_call_id], newest) for source in sources]


def _standing(source: SourceBlock, best: float, newest: int) -> float:
    score = max(0.0, source.fact.passage.score) / best if best > 0 else 0.0
    return SCORE_WEIGHT * score - AGE_WEIGHT * (newest - source.fact.round)
