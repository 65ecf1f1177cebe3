"""Search over one generation of the index: by meaning and by words, each over all chunks, fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from math import log

import numpy as np

from antiphon.knowledge.catalogue_reader import CatalogueReader, WordHits
from antiphon.knowledge.chroma import ChromaIndex, open_index
from antiphon.knowledge.generations import (
    CATALOGUE,
    CHROMA,
    Generations,
    collection_name,
)
from antiphon.knowledge.resolving import CourseTitles
from antiphon.language.words import stem, terms, words
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Passage

# Weight of words against meaning, in standard deviations. Measured with all-MiniLM-L6-v2 int8, 5 passages:
#
# | weight | chunking_evaluation recall | hotpotqa recall (10: all gold) |
# |---|---|---|
# | 0 | 77.3 | 78.5 (70) |
# | 0.4 | 87.4 | 82.0 (82) |
# | 0.6 | 88.8 | 82.5 (82) |
# | 0.8 | 89.1 | 82.5 (82) |
# | 1.0 | 89.1 | 81.5 (82) |
#
# https://github.com/brandonstarxel/chunking_evaluation (472 questions, 1,629 chunks),
# https://hotpotqa.github.io (100 questions, 994 passages).
WORDS_WEIGHT = 0.8
# Chunks that each of the two searches proposes; the exact score of all of them decides.
_CANDIDATES = 50
# The weight of a term that half of the chunks hold.
_WEIGHT_OF_HALF = log(2.0)
# Further terms of a question are not even looked up.
_MAX_TERMS = 256


class OpenGeneration:
    """One generation, loaded; the catalogue never changes while it is open."""

    def __init__(
        self, number: int, reader: CatalogueReader, index: ChromaIndex | None
    ) -> None:
        self.number = number
        self.reader = reader
        self.courses = reader.courses()
        instructors = {each.title: each.instructor or "" for each in self.courses}
        self.titles = CourseTitles(reader.title_vectors(), instructors)
        self._index = index
        self._moments = reader.moments()
        # Per generation, because another one has other counts.
        self._weight = lru_cache(maxsize=50_000)(self._measure_weight)

    @classmethod
    def open(
        cls, store: Generations, number: int, embedder: Embedder, chroma_url: str | None
    ) -> OpenGeneration:
        """Opens a published generation.

        Raises:
            ConfigurationError: It belongs to another embedder or version.
            KnowledgeError: Its catalogue or its vector index cannot be used.
        """
        folder = store.folder(number)
        with ExitStack() as on_failure:
            reader = CatalogueReader(folder / CATALOGUE)
            on_failure.callback(reader.close)
            reader.check(embedder.name)
            index = None
            if reader.chunks:
                index = open_index(
                    folder / CHROMA, chroma_url, collection_name(reader.library, number)
                )
            on_failure.pop_all()
        return cls(number, reader, index)

    def search(
        self,
        query: str,
        vector: Sequence[float],
        course: str | None,
        lesson: int | None,
        limit: int,
    ) -> list[Passage]:
        """Finds the passages that stand out most, by meaning and by words together."""
        if self._index is None:
            return []
        candidates = max(_CANDIDATES, limit)
        nearest = self._index.nearest(
            vector, min(candidates, self.reader.chunks), course, lesson
        )
        near = self.reader.numbers(nearest)
        hits = self.reader.match(self._terms(query), course, lesson, candidates, near)
        # Of all candidates: those that were found by their words have no cosine yet.
        numbers, rows = self.reader.vectors(sorted({*near, *hits.scores}))
        query_vector = np.asarray(vector, dtype=np.float32)
        cosines = dict(zip(numbers, (rows @ query_vector).tolist(), strict=True))
        scores = fuse(
            cosines, self._moments.spread(query_vector), hits, self.reader.chunks
        )
        return self.reader.passages(best(scores, limit))

    def keyword_search(
        self, query: str, course: str | None, lesson: int | None, limit: int
    ) -> list[Passage]:
        """Finds the passages that share the query's words; none where they share nothing."""
        hits = self.reader.match(self._terms(query), course, lesson, limit)
        spread = words_spread(hits, self.reader.chunks)
        scores = {}
        for number, score in hits.scores.items():
            scores[number] = standardised(score, spread)
        return self.reader.passages(best(scores, limit))

    def weight(self, term: str) -> float:
        """Returns the weight of a stemmed term: its inverse document frequency over chunks."""
        return self._weight(term)

    def _measure_weight(self, term: str) -> float:
        return log((self.reader.chunks + 1) / (self.reader.chunks_with(term) + 0.5))

    def _terms(self, query: str) -> list[str]:
        """Returns the stemmed words that set chunks apart; all of them where none does."""
        stemmed = list(terms(query))
        # A query of nothing but stop words is searched for those.
        if not stemmed:
            stemmed = [stem(word) for word in words(query)]
        distinct = list(dict.fromkeys(stemmed))[:_MAX_TERMS]
        selective = []
        for term in distinct:
            # BM25 gives nothing for a word that half of the chunks hold.
            if self.weight(term) > _WEIGHT_OF_HALF:
                selective.append(term)
        if not selective:
            return distinct
        return selective

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
        self.reader.close()


def fuse(
    cosines: Mapping[int, float],
    meaning: tuple[float, float],
    hits: WordHits,
    chunks: int,
) -> dict[int, float]:
    """Scores each chunk in `cosines`: how far it stands out by meaning, and by words.

    Both are standardised over all chunks, so that a query whose words are telling is led by its words.

    Args:
        meaning: Mean and standard deviation of the query's cosine over all chunks.
        chunks: How many chunks there are.
    """
    spread = words_spread(hits, chunks)
    scores = {}
    for number, cosine in cosines.items():
        by_words = standardised(hits.scores.get(number, 0.0), spread)
        scores[number] = standardised(cosine, meaning) + WORDS_WEIGHT * by_words
    return scores


def words_spread(hits: WordHits, chunks: int) -> tuple[float, float]:
    """Returns mean and standard deviation of BM25 over all chunks, matching or not."""
    mean = hits.total / max(chunks, 1)
    variance = hits.squares / max(chunks, 1) - mean * mean
    return mean, max(variance, 0.0) ** 0.5


def standardised(value: float, spread: tuple[float, float]) -> float:
    """Returns the standard deviations above the mean; 0 where nothing varies."""
    mean, deviation = spread
    # Rounding leaves a trace of a deviation where all values are the same.
    if deviation <= 1e-9:
        return 0.0
    return (value - mean) / deviation


def best(scores: Mapping[int, float], limit: int) -> dict[int, float]:
    """Returns the `limit` highest, ties in order of number."""
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return dict(ranked[: max(limit, 0)])
