"""Proposes chunks that may answer a question, by meaning and by words, with a combined score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log
from typing import Protocol

import numpy as np

from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.scoring import term_weights
from antiphon.knowledge.vectors import Numbers, Vector, VectorFile
from antiphon.knowledge.word_hits import WordHits, words_spread
from antiphon.language.commonness import rarity_in_english
from antiphon.language.words import stem, terms, words
from antiphon.vocabulary.values import Passage, Value

# The number of chunks that each of the two searches proposes.
_CANDIDATES = 60
# Largest subset of chunks that is compared with the question row by row; for a larger one, only Chroma's nearest are.
_SCANNED = 20_000
# Hits of a question's rarer terms after which its more frequent ones are skipped: at 100,000 chunks a single common
# word would take longer than all the rest.
_ENOUGH_HITS = 1_000
# Largest library that is also compared with the question row by row, which is exact and takes 2 ms.
SCANNED_WHOLE = 4_000
# The weight of a term that half of the chunks hold.
_RARITY_OF_HALF = log(2.0)
# Further terms of a question are ignored.
_MAX_TERMS = 256
# Further terms are not scored sentence by sentence.
_SCORED_TERMS = 64


class Wanted(Value, frozen=True, kw_only=True):
    """The limits of a search.

    Attributes:
        limit: Most passages.
        characters: Most characters of all passages together; the first comes no matter how long its sentence is.
        known: Passages whose sentences must not come again.
    """

    course: str | None
    lesson: int | None
    limit: int
    characters: int
    known: tuple[Passage, ...] = ()


class TermWeights:
    """Weighs the terms of a question by the number of chunks that hold them."""

    def __init__(self, reader: CatalogueReader) -> None:
        self._chunks = reader.chunks
        # Per generation, because another one has other counts.
        self.count = lru_cache(maxsize=50_000)(reader.chunks_with)
        # Loads the list of common words now, with the library, and not during the first query.
        rarity_in_english("")

    def weight(self, term: str) -> float:
        """Returns the weight of a stemmed term: its rarity in the courses by its rarity in English."""
        return self.rarity(term) * rarity_in_english(term)

    def rarity(self, term: str) -> float:
        """Returns the rarity of a stemmed term in the courses: its inverse document frequency over chunks."""
        return log((self._chunks + 1) / (self.count(term) + 0.5))

    def terms_of(self, query: str) -> list[str]:
        """Returns the stemmed words that set chunks apart; all of them if none does."""
        # A query of stop words only is searched for those.
        stemmed = terms(query) or map(stem, words(query))
        distinct = list(dict.fromkeys(stemmed))[:_MAX_TERMS]
        # BM25 gives no score for a word that half of the chunks hold.
        selective = [term for term in distinct if self.rarity(term) > _RARITY_OF_HALF]
        return selective or distinct

    def shares(self, found: Sequence[str]) -> dict[str, float]:
        """Returns the share of the chunks in which each term occurs; leaves out terms that occur nowhere."""
        shares = {}
        for term in found[:_SCORED_TERMS]:
            count = self.count(term)
            if count:
                shares[term] = (count + 0.5) / (self._chunks + 1.0)
        return shares

    def absent(self, found: Sequence[str]) -> float:
        """Returns the total weight, by the rule of scoring, of the terms that occur nowhere."""
        share = 0.5 / (self._chunks + 1.0)
        nowhere = [term for term in found[:_SCORED_TERMS] if not self.count(term)]
        return float(term_weights(dict.fromkeys(nowhere, share)).sum())

    def rarest(self, found: Sequence[str]) -> list[str]:
        """Returns the rarest terms, as many as keep the number of chunks with them small enough."""
        rare: list[str] = []
        hits = 0
        for term in sorted(found, key=self.count):
            hits += self.count(term)
            if rare and hits > _ENOUGH_HITS:
                break
            rare.append(term)
        return rare


class NearestIndex(Protocol):
    """The index of meaning; satisfied by `knowledge.chroma.ChromaIndex`."""

    def nearest(self, vector: Sequence[float], limit: int) -> list[int]:
        """Returns the numbers of the chunks nearest to `vector`, the nearest first."""

    def close(self) -> None: ...


class Vectors:
    """The vectors of all chunks: the index that finds the nearest, and the file for looking one up."""

    def __init__(
        self, index: NearestIndex | None, file: VectorFile, numbers: Numbers
    ) -> None:
        """Combines the two.

        Args:
            index: None for a library small enough to scan every row (`SCANNED_WHOLE`).
            numbers: The numbers of the chunks, in the order of the file's rows.
        """
        self._index = index
        self._file = file
        self._numbers = numbers

    def nearest(self, vector: Vector, limit: int) -> list[int]:
        """Returns the numbers of the nearest of all chunks."""
        if self._index is None:
            return self.nearest_of(self._numbers, vector, limit)
        return self._index.nearest(vector.tolist(), min(limit, len(self._numbers)))

    def nearest_of(self, subset: Numbers, vector: Vector, limit: int) -> list[int]:
        """Returns the numbers of the nearest chunks within a subset."""
        if len(subset) > _SCANNED:
            # Chroma's own filter scans every chunk, while this many of its nearest contain enough of a large subset.
            more = limit * len(self._numbers) * 2 // len(subset)
            nearest = np.array(self.nearest(vector, more))
            subset = nearest[np.isin(nearest, subset)]
        elif len(subset) > limit:
            likeness = self.likeness(subset, vector)
            subset = subset[np.argpartition(-likeness, limit)[:limit]]
        found: list[int] = subset.tolist()
        return found

    def likeness(self, numbers: Numbers, vector: Vector) -> Vector:
        """Returns the cosine of each chunk; `numbers` must be ascending."""
        rows = self._file.rows(np.searchsorted(self._numbers, numbers))
        # By einsum, as in knowledge/vectors.py.
        cosines: Vector = np.einsum("ij,j->i", rows, vector)
        return cosines

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
        self._file.close()


class Candidates:
    """The two ways of proposing chunks, each within course and lesson."""

    def __init__(
        self, reader: CatalogueReader, vectors: Vectors | None, weight: float
    ) -> None:
        """Combines the parts that both need.

        Args:
            vectors: None for a library without text.
            weight: Of words against meaning.
        """
        self._reader = reader
        self._vectors = vectors
        self._weight = weight
        self._moments = reader.moments()
        self.weights = TermWeights(reader)
        # Per generation, as the counts of terms are.
        self._subset = lru_cache(maxsize=32)(reader.subset)

    def by_meaning_and_words(
        self, vector: Vector, found: Sequence[str], wanted: Wanted
    ) -> dict[int, float]:
        """Returns the scores of chunks by their numbers.

        Args:
            found: The question's terms.
        """
        if self._vectors is None:
            return {}
        limit = max(_CANDIDATES, wanted.limit)
        subset = self._within(wanted)
        if subset is None:
            near = self._vectors.nearest(vector, limit)
        else:
            near = self._vectors.nearest_of(subset, vector, limit)
        hits = self._match(found, wanted, near)
        numbers = np.array(sorted({*near, *hits.scores}), dtype=np.int64)
        likeness = self._vectors.likeness(numbers, vector)
        cosines = dict(zip(numbers.tolist(), likeness.tolist(), strict=True))
        meaning = self._moments.spread(vector)
        return fuse(cosines, meaning, hits, self._reader.chunks, self._weight)

    def by_words(self, found: Sequence[str], wanted: Wanted) -> dict[int, float]:
        """Returns the scores, only by words, of the chunks that hold any of the terms."""
        return self._match(found, wanted, ()).scores

    def _match(
        self, found: Sequence[str], wanted: Wanted, also: Sequence[int]
    ) -> WordHits:
        """Searches by the rarest words, as many as keep the number of chunks with them small enough."""
        limit = max(_CANDIDATES, wanted.limit)
        rare = self.weights.rarest(found)
        return self._reader.match(rare, self._within(wanted), limit, also)

    def _within(self, wanted: Wanted) -> Numbers | None:
        """Returns the numbers of the chunks in the wanted course and lesson; None for all."""
        if wanted.course is None and wanted.lesson is None:
            return None
        return self._subset(wanted.course, wanted.lesson)


def fuse(
    cosines: Mapping[int, float],
    meaning: tuple[float, float],
    hits: WordHits,
    chunks: int,
    weight: float,
) -> dict[int, float]:
    """Scores each chunk in `cosines` by its standard deviations above the mean, in meaning and in words.

    Both are standardised over all chunks, so that distinctive words dominate the score of a query that has them.

    Args:
        meaning: Mean and standard deviation of the query's cosine over all chunks.
        chunks: The number of all chunks.
        weight: Of words against meaning.
    """
    spread = words_spread(hits, chunks)
    scores = {}
    for number, cosine in cosines.items():
        by_words = standardised(hits.scores.get(number, 0.0), spread)
        scores[number] = standardised(cosine, meaning) + weight * by_words
    return scores


def standardised(value: float, spread: tuple[float, float]) -> float:
    """Returns the standard deviations above the mean; 0 if nothing varies."""
    mean, deviation = spread
    # Rounding leaves a trace of a deviation if all values are the same.
    if deviation <= 1e-9:
        return 0.0
    return (value - mean) / deviation


def best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """Returns the `limit` highest, ties in order of number."""
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return dict(ranked[: max(limit, 0)])
