"""The rules by which meaning and words are weighed against one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from antiphon.vocabulary.values import Value

WORDS_WEIGHT = 0.8
"""Weight of words against meaning, in standard deviations. Measured with all-MiniLM-L6-v2 int8, 5 passages:

| weight | chunking_evaluation recall | hotpotqa recall (10: all gold) |
|---|---|---|
| 0 | 77.3 | 78.5 (70) |
| 0.4 | 87.4 | 82.0 (82) |
| 0.6 | 88.8 | 82.5 (82) |
| 0.8 | 89.1 | 82.5 (82) |
| 1.0 | 89.1 | 81.5 (82) |

https://github.com/brandonstarxel/chunking_evaluation (472 questions, 1,629 chunks),
https://hotpotqa.github.io (100 questions, 994 passages)."""
_MOST_TERMS = 64
"""Further terms of a question are left out: a hundred kilobytes must not become one query."""


class WordHits(Value, frozen=True, kw_only=True):
    """What the word index says to a query.

    Attributes:
        scores: BM25 by chunk number, of the chunks asked about; who is missing scores 0.
        total: Sum of the scores of all chunks that match, asked about or not.
        squares: Sum of their squares.
    """

    scores: dict[int, float]
    total: float
    squares: float


def fts_query(terms: Sequence[str]) -> str:
    """Any of the terms, each quoted, so that nothing in a question is read as an operator."""
    distinct = list(dict.fromkeys(terms))[:_MOST_TERMS]
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in distinct)


def fuse(cosines: Mapping[int, float], meaning: tuple[float, float], hits: WordHits, chunks: int) -> dict[int, float]:
    """The score of each chunk in `cosines`: how far it stands out by meaning, and by words.

    Both are standardised over all chunks, so that a query whose words are telling is led by its words.

    Args:
        meaning: Mean and standard deviation of the query's cosine over all chunks.
        chunks: How many chunks there are.
    """
    words = words_spread(hits, chunks)
    return {
        number: standardised(cosine, meaning) + WORDS_WEIGHT * standardised(hits.scores.get(number, 0.0), words)
        for number, cosine in cosines.items()
    }


def words_spread(hits: WordHits, chunks: int) -> tuple[float, float]:
    """Mean and standard deviation of BM25 over all chunks, matching or not."""
    mean = hits.total / max(chunks, 1)
    variance = hits.squares / max(chunks, 1) - mean * mean
    return mean, max(variance, 0.0) ** 0.5


def standardised(value: float, spread: tuple[float, float]) -> float:
    """Standard deviations above the mean; 0 where nothing varies."""
    mean, deviation = spread
    return (value - mean) / deviation if deviation > 1e-9 else 0.0


def best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """The `limit` highest, ties in order of number."""
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return dict(ranked[: max(limit, 0)])
