"""Evaluates answers of the word index: BM25 of the chunks that hold any of a question's terms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from antiphon.knowledge.vectors import Numbers
from antiphon.vocabulary.values import Value

# Further terms of a question are ignored: a hundred kilobytes must not become one query.
_MAX_TERMS = 64


class WordHits(Value, frozen=True, kw_only=True):
    """The word index's answer to a query.

    Attributes:
        scores: BM25 by chunk number, for the chunks to search; a missing chunk scores 0.
        total: Sum of the scores of all matching chunks, including those not searched.
        squares: Sum of their squares.
    """

    scores: dict[int, float]
    total: float
    squares: float


NO_HITS = WordHits(scores={}, total=0.0, squares=0.0)


def fts_query(terms: Sequence[str]) -> str:
    """Builds a query for any of the terms, each quoted, so that FTS5 reads nothing in a question as an operator."""
    distinct = list(dict.fromkeys(terms))[:_MAX_TERMS]
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in distinct)


def hits_of(
    rows: Sequence[tuple[int, float]],
    subset: Numbers | None,
    limit: int,
    also: Sequence[int],
) -> WordHits:
    """Returns the `limit` best chunks, and those of `also` that have a score.

    Args:
        rows: Number and score of every chunk that matches.
        subset: The numbers of the chunks to search; None: all.
    """
    if not rows:
        return NO_HITS
    # Column by column, because numpy takes ten times as long for a list of pairs.
    numbers, scores = map(np.array, zip(*rows, strict=True))
    # Ties in order of number, so that the same query always gets the same answer.
    ranked = numbers[np.lexsort((numbers, -scores))]
    if subset is not None:
        ranked = ranked[np.isin(ranked, subset)]
    by_number = dict(rows)
    chosen = {
        number: by_number[number]
        for number in (*ranked[:limit].tolist(), *also)
        if number in by_number
    }
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
