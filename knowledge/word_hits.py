"""The word index's answers: BM25 of the chunks that hold any of a question's terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from antiphon.knowledge.vectors import Numbers
from antiphon.vocabulary.values import Value

# Further terms of a question are left out: a hundred kilobytes must not become one query.
_MAX_TERMS = 64


class WordHits(Value, frozen=True, kw_only=True):
    """The word index's answer to a query.

    Attributes:
        scores: BM25 by chunk number, of the chunks asked about; a missing chunk scores 0.
        total: Sum of the scores of all chunks that match, asked about or not.
        squares: Sum of their squares.
    """

    scores: dict[int, float]
    total: float
    squares: float


NO_HITS = WordHits(scores={}, total=0.0, squares=0.0)


def fts_query(terms: Sequence[str]) -> str:
    """Builds a query for any of the terms, each quoted, so that nothing in a question is read as an operator."""
    distinct = list(dict.fromkeys(terms))[:_MAX_TERMS]
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in distinct)


def hits_of(
    rows: Sequence[tuple[int, float]],
    subset: Numbers | None,
    limit: int,
    also: Sequence[int],
) -> WordHits:
    """Returns the `limit` chunks that score best, and those of `also` that score at all.

    Args:
        rows: Number and score of every chunk that matches.
        subset: The numbers of the chunks asked about; None: all.
    """
    if not rows:
        return NO_HITS
    # Column by column: numpy takes ten times as long over a list of pairs.
    numbers, scores = map(np.array, zip(*rows, strict=True))
    # Ties in order of number, so that the same query always has the same answer.
    ranked = numbers[np.lexsort((numbers, -scores))]
    if subset is not None:
        ranked = ranked[np.isin(ranked, subset)]
    by_number = dict(rows)
    chosen = {}
    for number in (*ranked[:limit].tolist(), *also):
        if number in by_number:
            chosen[number] = by_number[number]
    return WordHits(
        scores=chosen,
        total=float(scores.sum()),
        squares=float((scores * scores).sum()),
    )


def words_spread(hits: WordHits, chunks: int) -> tuple[float, float]:
    """Returns mean and standard deviation of BM25 over all chunks, matching or not."""
    mean = hits.total / max(chunks, 1)
    variance = hits.squares / max(chunks, 1) - mean * mean
    return mean, max(variance, 0.0) ** 0.5
