"""One generation of the index, open for questions: meaning and words, each of all chunks, fused."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import lru_cache
from math import log

import numpy as np

from antiphon.knowledge.chroma import ChromaIndex, open_index
from antiphon.knowledge.generations import CATALOGUE, CHROMA, Generations
from antiphon.knowledge.matching import WordHits, best, fuse, standardised, words_spread
from antiphon.knowledge.reading import CatalogueReader
from antiphon.knowledge.resolving import CourseTitles
from antiphon.language.words import stem, terms, words
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Passage

_CANDIDATES = 50
"""Chunks that each of the two searches proposes; the exact score of all of them decides."""

_HALF = log(2.0)
"""The weight of a term that half of the chunks hold."""
_MOST_TERMS = 256
"""Further terms of a question are not even looked up."""


class OpenGeneration:
    """What is loaded of one generation; the catalogue never changes while it is open."""

    def __init__(self, number: int, reader: CatalogueReader, index: ChromaIndex | None) -> None:
        self.number = number
        self.reader = reader
        self.courses = reader.courses()
        self.titles = CourseTitles(reader.title_vectors())
        self._index = index
        self._moments = reader.moments()
        self._weight = lru_cache(maxsize=50_000)(self._measure_weight)

    def search(
        self, query: str, vector: Sequence[float], course: str | None, lesson: int | None, limit: int
    ) -> list[Passage]:
        """The passages that stand out most, by meaning and by words together."""
        if self._index is None:
            return []
        wide = max(_CANDIDATES, limit)
        near = self.reader.numbers(self._index.nearest(vector, min(wide, self.reader.chunks), course, lesson))
        hits = self.reader.match(self._terms(query), course, lesson, wide, near)
        numbers, rows = self.reader.vectors(sorted({*near, *hits.scores}))
        aim = np.asarray(vector, dtype=np.float32)
        cosines = dict(zip(numbers, (rows @ aim).tolist(), strict=True))
        return self.reader.passages(best(fuse(cosines, self._moments.spread(aim), hits, self.reader.chunks), limit))

    def keyword_search(self, query: str, course: str | None, lesson: int | None, limit: int) -> list[Passage]:
        """The passages that share the query's words; none where they share nothing."""
        hits = self.reader.match(self._terms(query), course, lesson, limit)
        return self.reader.passages(best(_standard_scores(hits, self.reader.chunks), limit))

    def weight(self, term: str) -> float:
        """How telling a stemmed term is here: its inverse document frequency over chunks."""
        return self._weight(term)

    def _terms(self, query: str) -> list[str]:
        """The words that can tell chunks apart: BM25 gives nothing for a word that half of them hold."""
        all_terms = list(dict.fromkeys(terms(query) or [stem(word) for word in words(query)]))[:_MOST_TERMS]
        return [term for term in all_terms if self.weight(term) > _HALF] or all_terms

    def _measure_weight(self, term: str) -> float:
        return log((self.reader.chunks + 1) / (self.reader.chunks_with(term) + 0.5))

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
        self.reader.close()


def open_generation(store: Generations, number: int, embedder: Embedder, chroma_url: str | None) -> OpenGeneration:
    """Opens what an indexer has published.

    Raises:
        ConfigurationError: It belongs to another embedder or version.
        KnowledgeError: Its catalogue or its vector index cannot be used.
    """
    folder = store.folder(number)
    with ExitStack() as failed:
        reader = CatalogueReader(folder / CATALOGUE)
        failed.callback(reader.close)
        reader.check(embedder.name)
        name = collection_name(reader.library, number)
        index = open_index(folder / CHROMA, chroma_url, name) if reader.chunks else None
        failed.pop_all()
    return OpenGeneration(number, reader, index)


def collection_name(library: str, number: int) -> str:
    """What this generation is called on a Chroma server that several libraries may share."""
    return f"antiphon-{library}-{number}"


def _standard_scores(hits: WordHits, chunks: int) -> dict[int, float]:
    spread = words_spread(hits, chunks)
    return {number: standardised(score, spread) for number, score in hits.scores.items()}
