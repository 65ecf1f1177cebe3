"""Search over one generation of the index: chunks are proposed by meaning and by words, sentences in them chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from antiphon.knowledge.candidates import Candidates, Vectors, Wanted, best
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.chroma import open_index
from antiphon.knowledge.generations import (
    CATALOGUE,
    CHROMA,
    MATRIX,
    REBUILD_ADVICE,
    Generations,
    collection_name,
)
from antiphon.knowledge.marks import placed
from antiphon.knowledge.passages import Asked, banned, passage_of
from antiphon.knowledge.resolving import CourseTitles
from antiphon.knowledge.scoring import Question, Tuning, score_sentences
from antiphon.knowledge.selecting import Selection
from antiphon.knowledge.vectors import SmallVectors, Vector, VectorFile
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Passage

# Of all chunks proposed, those whose sentences are scored; their neighbours are read too, for the windows that reach
# there.
_SCORED_CHUNKS = 24


class OpenGeneration:
    """One generation, loaded; the catalogue never changes while it is open."""

    def __init__(
        self,
        number: int,
        reader: CatalogueReader,
        vectors: Vectors | None,
        tuning: Tuning,
    ) -> None:
        self.number = number
        self.reader = reader
        self.courses = reader.courses()
        instructors = {each.title: each.instructor or "" for each in self.courses}
        self.titles = CourseTitles(reader.title_vectors(), instructors)
        self._vectors = vectors
        self._tuning = tuning
        self._candidates = Candidates(reader, vectors, tuning.words)
        self._weights = self._candidates.weights
        self._figures = reader.sentence_figures()

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
            vectors = None
            if reader.chunks:
                index = open_index(
                    folder / CHROMA, chroma_url, collection_name(reader.library, number)
                )
                on_failure.callback(index.close)
                file = _open_matrix(folder / MATRIX, reader)
                vectors = Vectors(index, file, reader.subset(None, None))
            on_failure.pop_all()
        return cls(number, reader, vectors, tuning)

    def search(self, query: str, vector: Vector, wanted: Wanted) -> list[Passage]:
        """Finds the passages that stand out most, by meaning and by words together."""
        found = self._weights.terms_of(query)
        scores = self._candidates.by_meaning_and_words(vector, found, wanted)
        question = Question(vector=vector, terms=self._weights.shares(found))
        return self._choose(query, scores, question, wanted)

    def keyword_search(self, query: str, wanted: Wanted) -> list[Passage]:
        """Finds the passages that share the query's words; none where they share nothing."""
        found = self._weights.terms_of(query)
        scores = self._candidates.by_words(found, wanted)
        question = Question(vector=None, terms=self._weights.shares(found))
        return self._choose(query, scores, question, wanted)

    def weight(self, term: str) -> float:
        """Returns the weight of a stemmed term: its inverse document frequency over chunks."""
        return self._weights.weight(term)

    def find_vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Returns the vectors of those texts that are sentences of the library."""
        found = {}
        for text, blob in self.reader.find_vectors(texts).items():
            found[text] = SmallVectors.decode(blob, self.reader.dimensions).rows()[0]
        return found

    def _choose(
        self,
        query: str,
        scores: Mapping[int, float],
        question: Question,
        wanted: Wanted,
    ) -> list[Passage]:
        """Chooses passages from the sentences of the best chunks, best first."""
        if not scores:
            return []
        around: set[int] = set()
        for number in best(scores, max(_SCORED_CHUNKS, wanted.limit)):
            around |= {number - 1, number, number + 1}
        row = self.reader.sentences(sorted(around))
        found = score_sentences(row, question, self._figures)
        closed = banned(row, wanted)
        if question.vector is None:
            closed |= ~found.by_term.any(axis=0)
        spans = Selection(
            row, found, closed, wanted.characters, wanted.limit, self._tuning
        ).run()
        spans.sort(key=lambda span: (-span.score, span.first))
        asked = Asked(query)
        passages = []
        for span in spans:
            section = row.stretch_of(span.first).place.section
            passage = passage_of(asked, span, row, found)
            start = passage.start or 0
            end = start + len(passage.text.text)
            passages.append(placed(passage, self.reader.marks(section, start, end)))
        return passages

    def close(self) -> None:
        if self._vectors is not None:
            self._vectors.close()
        self.reader.close()


def _open_matrix(path: Path, reader: CatalogueReader) -> VectorFile:
    try:
        return VectorFile(path, reader.chunks, reader.dimensions)
    except (OSError, ValueError) as error:
        raise KnowledgeError(
            f"the vectors {path} cannot be used ({error}); {REBUILD_ADVICE}"
        ) from error
