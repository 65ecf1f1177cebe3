"""Scores of sentences: each by its own meaning and words, and by those of its neighbours.

A sentence alone is telling but blind to what is said around it; a page has the context and drowns the one sentence
that answers. So each sentence is scored in windows of several sizes (knowledge/windows.py), by meaning and by words,
each score in standard deviations above the mean over the whole library. All count the same: nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log

import msgspec
import numpy as np

from antiphon.knowledge.catalogue import term_hash
from antiphon.knowledge.stretches import SentenceFigures, Stretch
from antiphon.knowledge.vectors import Numbers, Vector
from antiphon.knowledge.windows import REACHES, window_cosines, window_sums


class Tuning(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of search that could be fitted, and are chosen plain (benchmarks/retrieval shows what fitting gains).

    Attributes:
        words: Weight of words against meaning, in standard deviations.
        saturation: Share of a term's weight that a passage takes which holds as much of it as any.
    """

    words: float = 1.0
    saturation: float = 0.5


# BM25's usual constants, which FTS5 uses too (https://www.sqlite.org/fts5.html#the_bm25_function).
_K1 = 1.2
_B = 0.75
# Sentences between two stretches that are none, so that no window reaches from one into the other.
_PADDING = max(REACHES)
_LEAST_DEVIATION = 1e-9


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A query as it is scored.

    Attributes:
        vector: None where only words count.
        terms: Its stems, with the share of all chunks in which each stands.
    """

    vector: Vector | None
    terms: Mapping[str, float]


class ScoredSentences(msgspec.Struct, frozen=True, kw_only=True):
    """Sentences in a row, stretch after stretch, with the scores of each.

    Attributes:
        stretch: The number of the stretch that a sentence is of; -1 for the padding between two.
        place: Its number within the stretch.
        meaning: In standard deviations above the mean.
        words: The same by words.
        by_term: What each of the question's terms adds to `words`, a row a term.
        absent: What `words` is where no term stands.
    """

    stretch: Numbers
    place: Numbers
    meaning: Vector
    by_term: Vector
    absent: float

    @property
    def words(self) -> Vector:
        total: Vector = self.by_term.sum(axis=0) + self.absent
        return total


def score_sentences(
    stretches: Sequence[Stretch], question: Question, figures: SentenceFigures
) -> ScoredSentences:
    """Scores all sentences of the stretches."""
    numbers = []
    places = []
    for number, each in enumerate(stretches):
        numbers.append(np.full(len(each), number, dtype=np.float32))
        places.append(np.arange(len(each), dtype=np.float32))
    place = _lay_out(places, -1).astype(np.int64)
    meaning: Vector = np.zeros(len(place), dtype=np.float32)
    if question.vector is not None:
        meaning = _by_meaning(stretches, question.vector, figures)
    by_term, absent = _by_words(stretches, question.terms, figures)
    return ScoredSentences(
        stretch=_lay_out(numbers, -1).astype(np.int64),
        place=place,
        meaning=meaning,
        by_term=by_term,
        absent=absent,
    )


def _lay_out(parts: Sequence[Vector], padding: float) -> Vector:
    """Puts parts in a row, with padding after each."""
    between = np.full(_PADDING, padding, dtype=np.float32)
    row: list[Vector] = []
    for part in parts:
        row += [part, between]
    joined: Vector = np.concatenate(row)
    return joined


def _by_meaning(
    stretches: Sequence[Stretch], vector: Vector, figures: SentenceFigures
) -> Vector:
    rows = np.vstack([each.vectors(len(vector)) for each in stretches])
    cosines = _spread_out(stretches, rows @ vector)
    tokens = _lay_out([each.tokens() for each in stretches], 0.0)
    titles = [
        np.full(len(each), float(each.place.vector @ vector)) for each in stretches
    ]
    lengths = [
        np.vstack([each.lengths(), np.ones((_PADDING, len(REACHES)))])
        for each in stretches
    ]
    likeness = window_cosines(
        cosines, tokens, _lay_out(titles, 0.0), np.vstack(lengths)
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


def _spread_out(stretches: Sequence[Stretch], values: Vector) -> Vector:
    """Puts values of all sentences, one after the other, into the row with padding."""
    ends = np.cumsum([len(each) for each in stretches])
    return _lay_out(np.split(values, ends[:-1]), 0.0)


def _by_words(
    stretches: Sequence[Stretch],
    terms: Mapping[str, float],
    figures: SentenceFigures,
) -> tuple[Vector, float]:
    """Returns what each term adds to the score by words, and the score of a sentence without any."""
    lengths = _lay_out([each.term_counts() for each in stretches], 0.0)
    counts = _count_terms(stretches, list(terms))
    in_title = _in_titles(stretches, list(terms))
    total: Vector = np.zeros_like(counts)
    absent = 0.0
    weights = np.array([_rarity(share) for share in terms.values()], dtype=np.float32)
    for reach in REACHES:
        found = window_sums(counts.T, reach).T + in_title
        usual = (2 * reach + 1) * max(figures.terms, 1.0)
        long = 1.0 - _B + _B * window_sums(lengths, reach) / usual
        scores = weights[:, None] * found * (_K1 + 1.0) / (found + _K1 * long)
        mean, deviation = _usual(terms, weights, reach, figures)
        if deviation > _LEAST_DEVIATION:
            total += (scores / (deviation * len(REACHES))).astype(np.float32)
            absent -= mean / (deviation * len(REACHES))
    return total, absent


def _count_terms(stretches: Sequence[Stretch], terms: Sequence[str]) -> Vector:
    """Counts each term in each sentence: a row a term."""
    hashes = np.concatenate([each.terms() for each in stretches])
    lengths = _lay_out([each.term_counts() for each in stretches], 0.0)
    owners = np.repeat(np.arange(len(lengths)), lengths.astype(np.int64))
    counts = np.zeros((len(terms), len(lengths)), dtype=np.float32)
    for row, term in zip(counts, terms, strict=True):
        row += np.bincount(owners[hashes == term_hash(term)], minlength=len(row))
    return counts


def _in_titles(stretches: Sequence[Stretch], terms: Sequence[str]) -> Vector:
    """Returns 1 for each term and sentence where the titles hold the term."""
    columns = []
    for each in stretches:
        held = each.place.terms
        column = np.array([term in held for term in terms], dtype=np.float32)
        columns.append(np.repeat(column[:, None], len(each), axis=1))
        columns.append(np.zeros((len(terms), _PADDING), dtype=np.float32))
    joined: Vector = np.concatenate(columns, axis=1)
    return joined


def _rarity(share: float) -> float:
    """Returns a term's weight, its inverse document frequency as BM25 has it; never below a trace."""
    return max(log((1.0 - share) / max(share, 1e-9)), 1e-6)


def _usual(
    terms: Mapping[str, float], weights: Vector, reach: int, figures: SentenceFigures
) -> tuple[float, float]:
    """Returns mean and standard deviation of the score by words over all windows of a size.

    Not counted, which would mean to read every sentence that holds a term, but expected: a window that holds a term
    once scores about its weight, and terms stand in windows as often as their share of the chunks lets expect.
    """
    sentences = (2 * reach + 1) / max(figures.per_chunk, 1.0)
    shares = np.array(list(terms.values()), dtype=np.float64)
    held = 1.0 - (1.0 - np.minimum(shares, 1.0)) ** sentences
    mean = float((held * weights).sum())
    variance = float((held * (1.0 - held) * weights**2).sum())
    return mean, variance**0.5
