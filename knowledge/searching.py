"""Search over one generation of the index: chunks are proposed by meaning and by words, sentences in them chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import lru_cache
from math import log
from pathlib import Path

import numpy as np

from antiphon.knowledge.catalogue_reader import CatalogueReader, WordHits
from antiphon.knowledge.chroma import ChromaIndex, open_index
from antiphon.knowledge.chunking import passage_id
from antiphon.knowledge.generations import (
    CATALOGUE,
    CHROMA,
    MATRIX,
    REBUILD_ADVICE,
    Generations,
    collection_name,
)
from antiphon.knowledge.marks import placed
from antiphon.knowledge.resolving import CourseTitles
from antiphon.knowledge.scoring import (
    Question,
    SentenceScores,
    Tuning,
    score_sentences,
)
from antiphon.knowledge.selecting import Selection, Span
from antiphon.knowledge.stretches import SentenceRow
from antiphon.knowledge.vectors import Flags, SmallVectors, Vector, VectorFile
from antiphon.language.words import stem, terms, words
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Passage, Signals, StoredText, Value

# Chunks that each of the two searches proposes.
_CANDIDATES = 60
# Of all these, the chunks whose sentences are scored; their neighbours are read too, for the windows that reach there.
_SCORED_CHUNKS = 40
# A subset of up to so many chunks is compared with the question row by row; of a larger one, Chroma's nearest are.
_SCANNED = 20_000
# Chunks among which the most frequent of a question's terms are not looked for any more, once the rarer ones have
# brought so many: at 100,000 chunks a common word alone would take longer than all the rest.
_ENOUGH_HITS = 2_000
# The weight of a term that half of the chunks hold.
_WEIGHT_OF_HALF = log(2.0)
# Further terms of a question are not even looked up.
_MAX_TERMS = 256
# Further terms are not scored sentence by sentence.
_SCORED_TERMS = 64


class Wanted(Value, frozen=True, kw_only=True):
    """The limits of a search.

    Attributes:
        limit: Passages at most.
        characters: Of all of them together, at most; the first comes however long its sentence is.
        known: Passages whose sentences are not brought again.
    """

    course: str | None
    lesson: int | None
    limit: int
    characters: int
    known: tuple[Passage, ...] = ()


class OpenGeneration:
    """One generation, loaded; the catalogue never changes while it is open."""

    def __init__(
        self,
        number: int,
        reader: CatalogueReader,
        index: ChromaIndex | None,
        matrix: VectorFile | None,
        tuning: Tuning,
    ) -> None:
        self.number = number
        self.reader = reader
        self.courses = reader.courses()
        instructors = {each.title: each.instructor or "" for each in self.courses}
        self.titles = CourseTitles(reader.title_vectors(), instructors)
        self._index = index
        self._matrix = matrix
        self._tuning = tuning
        self._numbers = reader.subset(None, None)
        self._moments = reader.moments()
        self._figures = reader.sentence_figures()
        # Per generation, because another one has other counts.
        self._count = lru_cache(maxsize=50_000)(reader.chunks_with)
        self._subset = lru_cache(maxsize=32)(reader.subset)

    @classmethod
    def open(
        cls,
        store: Generations,
        number: int,
        embedder: Embedder,
        chroma_url: str | None,
        tuning: Tuning,
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
            matrix = None
            if reader.chunks:
                index = open_index(
                    folder / CHROMA, chroma_url, collection_name(reader.library, number)
                )
                on_failure.callback(index.close)
                matrix = _open_matrix(folder / MATRIX, reader)
            on_failure.pop_all()
        return cls(number, reader, index, matrix, tuning)

    def search(self, query: str, vector: Vector, wanted: Wanted) -> list[Passage]:
        """Finds the passages that stand out most, by meaning and by words together."""
        if self._index is None or self._matrix is None:
            return []
        found = self._terms(query)
        near = self._nearest(self._index, self._matrix, vector, wanted)
        hits = self._match(found, wanted, near)
        numbers = np.array(sorted({*near, *hits.scores}), dtype=np.int64)
        rows = self._matrix.rows(np.searchsorted(self._numbers, numbers))
        likeness = np.einsum("ij,j->i", rows, vector).tolist()
        cosines = dict(zip(numbers.tolist(), likeness, strict=True))
        scores = fuse(
            cosines,
            self._moments.spread(vector),
            hits,
            self.reader.chunks,
            self._tuning.words,
        )
        question = Question(vector=vector, terms=self._shares(found))
        return self._choose(query, scores, question, wanted)

    def keyword_search(self, query: str, wanted: Wanted) -> list[Passage]:
        """Finds the passages that share the query's words; none where they share nothing."""
        found = self._terms(query)
        hits = self._match(found, wanted, ())
        if not hits.scores:
            return []
        question = Question(vector=None, terms=self._shares(found))
        return self._choose(query, hits.scores, question, wanted)

    def weight(self, term: str) -> float:
        """Returns the weight of a stemmed term: its inverse document frequency over chunks."""
        return log((self.reader.chunks + 1) / (self._count(term) + 0.5))

    def find_vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Returns the vectors of those texts that are sentences of the library."""
        found = {}
        for text, blob in self.reader.find_vectors(texts).items():
            found[text] = SmallVectors.decode(blob, self.reader.dimensions).rows()[0]
        return found

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

    def _shares(self, found: Sequence[str]) -> dict[str, float]:
        """Returns the share of the chunks in which each term stands; those that stand nowhere are left out."""
        shares = {}
        for term in found[:_SCORED_TERMS]:
            count = self._count(term)
            if count:
                shares[term] = (count + 0.5) / (self.reader.chunks + 1.0)
        return shares

    def _nearest(
        self,
        index: ChromaIndex,
        matrix: VectorFile,
        vector: Vector,
        wanted: Wanted,
    ) -> Sequence[int]:
        """Returns the numbers of the chunks that are nearest by meaning, within course and lesson."""
        count = min(max(_CANDIDATES, wanted.limit), self.reader.chunks)
        if wanted.course is None and wanted.lesson is None:
            return index.nearest(vector.tolist(), count)
        subset = self._subset(wanted.course, wanted.lesson)
        if len(subset) > _SCANNED:
            # Chroma's own filter looks at every chunk; so many of its nearest leave enough of a large subset.
            more = min(
                count * self.reader.chunks * 2 // len(subset), self.reader.chunks
            )
            nearest = np.array(index.nearest(vector.tolist(), more))
            inside: list[int] = nearest[np.isin(nearest, subset)].tolist()
            return inside
        if len(subset) > count:
            rows = matrix.rows(np.searchsorted(self._numbers, subset))
            subset = subset[np.argpartition(-(rows @ vector), count)[:count]]
        nearest_inside: list[int] = subset.tolist()
        return nearest_inside

    def _match(
        self, found: Sequence[str], wanted: Wanted, also: Sequence[int]
    ) -> WordHits:
        """Searches by words: by the rarer terms, as long as all that hold them are not too many."""
        rare: list[str] = []
        hits = 0
        for term in sorted(found, key=self._count):
            hits += self._count(term)
            if rare and hits > _ENOUGH_HITS:
                break
            rare.append(term)
        subset = None
        if wanted.course is not None or wanted.lesson is not None:
            subset = self._subset(wanted.course, wanted.lesson)
        limit = max(_CANDIDATES, wanted.limit)
        return self.reader.match(rare, subset, limit, also)

    def _choose(
        self,
        query: str,
        scores: Mapping[int, float],
        question: Question,
        wanted: Wanted,
    ) -> list[Passage]:
        """Chooses passages from the sentences of the best chunks."""
        chunks = best(scores, max(_SCORED_CHUNKS, wanted.limit))
        if not chunks:
            return []
        around: set[int] = set()
        for number in chunks:
            around |= {number - 1, number, number + 1}
        row = self.reader.sentences(sorted(around))
        sentence_scores = score_sentences(row, question, self._figures)
        banned = _banned(row, wanted)
        if question.vector is None:
            banned |= ~sentence_scores.by_term.any(axis=0)
        spans = Selection(
            row,
            sentence_scores,
            banned,
            wanted.characters,
            wanted.limit,
            self._tuning,
        ).run()
        spans.sort(key=lambda span: (-span.score, span.first))
        passages = []
        for span in spans:
            section = row.stretch_of(span.first).place.section
            passage = _passage(query, span, row, sentence_scores)
            start = passage.start or 0
            end = start + len(passage.text.text)
            passages.append(placed(passage, self.reader.marks(section, start, end)))
        return passages

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
        if self._matrix is not None:
            self._matrix.close()
        self.reader.close()


def _open_matrix(path: Path, reader: CatalogueReader) -> VectorFile:
    try:
        return VectorFile(path, reader.chunks, reader.dimensions)
    except (OSError, ValueError) as error:
        raise KnowledgeError(
            f"the vectors {path} cannot be used ({error}); {REBUILD_ADVICE}"
        ) from error


def _banned(row: SentenceRow, wanted: Wanted) -> Flags:
    """Returns which sentences are not to be chosen: outside course or lesson, or known already."""
    outside = []
    for stretch in row.stretches:
        place = stretch.place
        other = wanted.course not in (None, place.course)
        outside.append(other or wanted.lesson not in (None, place.lesson))
    banned: Flags = np.array(outside, dtype=bool)[row.stretch]
    for passage in wanted.known:
        if passage.start is not None:
            banned |= _within(row, passage, passage.start)
    return banned


def _within(row: SentenceRow, passage: Passage, start: int) -> Flags:
    """Returns which sentences stand in a passage, whole or in part."""
    found: Flags = np.zeros(len(row), dtype=bool)
    end = start + len(passage.text.text)
    address = (passage.course, passage.lesson, passage.title)
    for number, stretch in enumerate(row.stretches):
        place = stretch.place
        if address == (place.course, place.lesson, place.title or None):
            same = row.stretch == number
            before_end = row.starts + stretch.start < end
            found |= same & before_end & (row.ends + stretch.start > start)
    return found


def _passage(
    query: str, span: Span, row: SentenceRow, scores: SentenceScores
) -> Passage:
    """Makes a passage of a span: the exact text of its lesson, from its first sentence to its last."""
    stretch = row.stretch_of(span.first)
    place = stretch.place
    start = int(row.starts[span.first])
    text = stretch.text[start : int(row.ends[span.last])].rstrip()
    starts = (row.starts[span.first : span.last + 1] - start).tolist()
    source = place.course
    if place.lesson is not None:
        source = f"{place.course} - Lesson {place.lesson}"
    signals = Signals(
        meaning=round(float(scores.meaning[span.best]), 2),
        words=round(float(scores.words[span.best]), 2),
        matched=_matched(query, text),
    )
    return Passage(
        id=passage_id(place.course, place.lesson, place.title, text),
        source=source,
        text=StoredText(text),
        starts=tuple(starts),
        course=place.course,
        lesson=place.lesson,
        title=place.title or None,
        link=place.link,
        score=round(span.score, 4),
        start=stretch.start + start,
        signals=signals,
    )


def _matched(query: str, text: str) -> tuple[str, ...]:
    """Returns the query's words that the text holds, as the query has them."""
    held = set(terms(text))
    matched = []
    for word in dict.fromkeys(words(query)):
        if held.intersection(terms(word)):
            matched.append(word)
    return tuple(matched)


def fuse(
    cosines: Mapping[int, float],
    meaning: tuple[float, float],
    hits: WordHits,
    chunks: int,
    weight: float,
) -> dict[int, float]:
    """Scores each chunk in `cosines`: how far it stands out by meaning, and by words.

    Both are standardised over all chunks, so that a query whose words are telling is led by its words.

    Args:
        meaning: Mean and standard deviation of the query's cosine over all chunks.
        chunks: How many chunks there are.
        weight: Of words against meaning.
    """
    spread = words_spread(hits, chunks)
    scores = {}
    for number, cosine in cosines.items():
        by_words = standardised(hits.scores.get(number, 0.0), spread)
        scores[number] = standardised(cosine, meaning) + weight * by_words
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
