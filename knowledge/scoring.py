"""Scores sentences by their own meaning and words, and by those of their neighbours.

A sentence alone is precise but lacks its context; a page has the context but drowns the one sentence that answers. So
each sentence is scored in windows of several sizes (knowledge/windows.py), by meaning and by words, each score in
standard deviations above the mean over the whole library. All have equal weight: nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log, sqrt

import msgspec
import numpy as np

from antiphon.knowledge.catalogue_tables import term_hash
from antiphon.knowledge.stretches import SentenceFigures, SentenceRow
from antiphon.knowledge.vectors import Vector
from antiphon.knowledge.windows import REACHES, window_cosines, window_sums
from antiphon.language.commonness import rarity_in_english

# BM25's usual constants, which FTS5 uses too (https://www.sqlite.org/fts5.html#the_bm25_function).
_K1 = 1.2
_B = 0.75
_LEAST_DEVIATION = 1e-9


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of search, set to plain values, not fitted (benchmarks/retrieval shows the gain of fitting).

    Attributes:
        words: Weight of words against meaning, in standard deviations.
        saturation: Share of a term's weight that is used up by a passage with the highest score for the term.
    """

    words: float = 1.0
    saturation: float = 0.5


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A query, prepared for scoring.

    Attributes:
        vector: None if only words count.
        terms: Its stems, with the share of all chunks that hold each.
        absent: The total weight of its stems that occur nowhere.
    """

    vector: Vector | None
    terms: Mapping[str, float]
    absent: float = 0.0


class SentenceScores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of the sentences in a row, in standard deviations above the mean.

    Attributes:
        meaning: By meaning.
        by_term: The contribution of each of the question's terms to `words`, a row a term.
        absent: The value of `words` for a sentence without any term.
    """

    meaning: Vector
    by_term: Vector
    absent: float

    @property
    def words(self) -> Vector:
        total: Vector = self.by_term.sum(axis=0) + self.absent
        return total


def score_sentences(
    row: SentenceRow, question: Question, figures: SentenceFigures
) -> SentenceScores:
    """Scores all sentences of the row."""
    by_term, absent = _by_words(row, question.terms, figures)
    if question.vector is None:
        none: Vector = np.zeros(len(row), dtype=np.float32)
        return SentenceScores(meaning=none, by_term=by_term, absent=absent)
    trust = _trust(by_term, question)
    return SentenceScores(
        meaning=_by_meaning(row, question.vector, figures),
        by_term=trust * by_term,
        absent=trust * absent,
    )


def _trust(by_term: Vector, question: Question) -> float:
    """Returns the weight of words against meaning, 0 to 1: by the largest share of them in one place.

    A question in other words than the text shares a word here and there by chance, and must be answered by meaning. The
    square root is the middle between using that share in full and not at all (docs/design/retrieval.md).
    """
    weights = term_weights(question.terms)
    held = ((by_term > 0) * weights[:, None]).sum(axis=0)
    total = float(weights.sum()) + question.absent
    if not held.size or not total:
        return 1.0
    return sqrt(float(held.max()) / total)


def _by_meaning(row: SentenceRow, vector: Vector, figures: SentenceFigures) -> Vector:
    cosines = row.cosines(vector)
    titles = np.array([each.place.vector @ vector for each in row.stretches])
    likeness = window_cosines(
        cosines, row.tokens, row.spread(titles), row.window_lengths()
    )
    columns: list[Vector] = []
    for column, moments in zip(likeness.T, figures.moments, strict=True):
        mean, deviation = moments.spread(vector)
        if deviation > _LEAST_DEVIATION:
            columns.append((column - mean) / deviation)
        else:
            columns.append(np.zeros_like(column))
    average: Vector = np.mean(columns, axis=0, dtype=np.float32)
    return average


def _by_words(
    row: SentenceRow, terms: Mapping[str, float], figures: SentenceFigures
) -> tuple[Vector, float]:
    """Returns each term's contribution to the score by words, and the score of a sentence without any term."""
    counts = _count_terms(row, list(terms))
    in_title = _in_titles(row, list(terms))
    total: Vector = np.zeros_like(counts)
    absent = 0.0
    weights = term_weights(terms)
    for reach in REACHES:
        found = window_sums(counts.T, reach).T + in_title
        usual = (2 * reach + 1) * max(figures.terms, 1.0)
        long = 1.0 - _B + _B * window_sums(row.term_counts, reach) / usual
        scores = weights[:, None] * found * (_K1 + 1.0) / (found + _K1 * long)
        mean, deviation = _usual(terms, weights, reach, figures)
        if deviation > _LEAST_DEVIATION:
            total += (scores / (deviation * len(REACHES))).astype(np.float32)
            absent -= mean / (deviation * len(REACHES))
    return total, absent


def _count_terms(row: SentenceRow, terms: Sequence[str]) -> Vector:
    """Counts each term in each sentence: a row a term."""
    places, hashes = row.terms
    counts = np.zeros((len(terms), len(row)), dtype=np.float32)
    for line, term in zip(counts, terms, strict=True):
        line += np.bincount(places[hashes == term_hash(term)], minlength=len(line))
    return counts


def _in_titles(row: SentenceRow, terms: Sequence[str]) -> Vector:
    """Returns 1 for each sentence and each term that its titles hold."""
    held = np.zeros((len(row.stretches), len(terms)), dtype=np.float32)
    for line, each in zip(held, row.stretches, strict=True):
        in_title = each.place.terms
        line[:] = [term in in_title for term in terms]
    return row.spread(held).T


def term_weights(terms: Mapping[str, float]) -> Vector:
    """Returns the weight of each term, from the share of all chunks that hold it."""
    return np.array(
        [_weight(term, share) for term, share in terms.items()], dtype=np.float32
    )


def _weight(term: str, share: float) -> float:
    """Returns a term's inverse document frequency as in BM25, weighted by its rarity in English; always above 0."""
    rarity = log((1.0 - share) / max(share, 1e-9))
    # The square root, because rarity in English partly causes rarity in the courses, and must not count twice.
    return max(rarity * sqrt(rarity_in_english(term)), 1e-6)


def _usual(
    terms: Mapping[str, float], weights: Vector, reach: int, figures: SentenceFigures
) -> tuple[float, float]:
    """Returns mean and standard deviation of the score by words over all windows of a size.

    An estimate, because counting would mean reading every sentence with a term: a window that holds a term once scores
    about its weight, and the term's share of the chunks gives its expected frequency in windows.
    """
    sentences = (2 * reach + 1) / max(figures.per_chunk, 1.0)
    shares = np.array(list(terms.values()), dtype=np.float64)
    held = 1.0 - (1.0 - np.minimum(shares, 1.0)) ** sentences
    mean = float((held * weights).sum())
    variance = float((held * (1.0 - held) * weights**2).sum())
    return mean, variance**0.5
