"""Searches one generation of the index: proposes chunks by meaning and by words, and chooses sentences in them."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from antiphon.knowledge.candidates import (
    SCANNED_WHOLE,
    Candidates,
    NearestIndex,
    Vectors,
    Wanted,
    best,
)
from antiphon.knowledge.catalogue_reader import CatalogueReader
from antiphon.knowledge.generations import (
    CATALOGUE,
    CHROMA,
    MATRIX,
    REBUILD_ADVICE,
    Generations,
    collection_name,
)
from antiphon.knowledge.marks import placed
from antiphon.knowledge.passages import Asked, banned, part_of_lesson, passage_of
from antiphon.knowledge.resolving import CourseTitles
from antiphon.knowledge.scoring import Question, Tuning, score_sentences
from antiphon.knowledge.selecting import Selection
from antiphon.knowledge.vectors import SmallVectors, Vector, VectorFile
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import LessonPart, Passage

# The number of best chunks whose sentences are scored; their neighbours are read too, for windows that reach there.
_SCORED_CHUNKS = 24
# The beginning or the end of a lesson: the most characters of whole sentences, and the number of chunks to read.
_PART_CHARACTERS = 600
_CHUNKS_OF_PART = 2
# Chroma's database, and the first bytes of every SQLite file.
_CHROMA_FILE = "chroma.sqlite3"
_SQLITE_HEADER = b"SQLite format 3\0"


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
                index = _open_index(reader, folder / CHROMA, chroma_url, number)
                if index is not None:
                    on_failure.callback(index.close)
                file = _open_matrix(folder / MATRIX, reader)
                vectors = Vectors(index, file, reader.subset(None, None))
            on_failure.pop_all()
        return cls(number, reader, vectors, tuning)

    def search(self, query: str, vector: Vector, wanted: Wanted) -> list[Passage]:
        """Finds the passages with the highest scores by meaning and words together."""
        found = self._weights.terms_of(query)
        scores = self._candidates.by_meaning_and_words(vector, found, wanted)
        question = Question(
            vector=vector,
            terms=self._weights.shares(found),
            absent=self._weights.absent(found),
        )
        return self._choose(query, scores, question, wanted)

    def keyword_search(self, query: str, wanted: Wanted) -> list[Passage]:
        """Finds the passages that share the query's words; none if no passage does."""
        found = self._weights.terms_of(query)
        scores = self._candidates.by_words(found, wanted)
        question = Question(vector=None, terms=self._weights.shares(found))
        return self._choose(query, scores, question, wanted)

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> list[Passage]:
        """Returns the beginning or the end of a lesson; nothing if there is no such lesson."""
        numbers: list[int] = self.reader.subset(course, lesson).tolist()
        from_first = slice(None, _CHUNKS_OF_PART)
        to_last = slice(-_CHUNKS_OF_PART, None)
        numbers = numbers[from_first if part == "beginning" else to_last]
        if not numbers:
            return []
        row = self.reader.sentences(numbers)
        passage = part_of_lesson(row, part, _PART_CHARACTERS)
        # Chunks come in order, and a lesson is one section.
        section = row.stretches[0].place.section
        return [self._placed(passage, section)]

    def weight(self, term: str) -> float:
        """Returns the weight of a stemmed term: its rarity in the courses by its rarity in English."""
        return self._weights.weight(term)

    def find_vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Returns the vectors of those texts that are sentences of the library."""
        return {
            text: SmallVectors.decode(blob, self.reader.dimensions).rows()[0]
            for text, blob in self.reader.find_vectors(texts).items()
        }

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
            passages.append(self._placed(passage_of(asked, span, row, found), section))
        return passages

    def _placed(self, passage: Passage, section: int) -> Passage:
        """Returns a passage of a section with its places in the file."""
        start = passage.start or 0
        end = start + len(passage.text.text)
        return placed(passage, self.reader.marks(section, start, end))

    def close(self) -> None:
        if self._vectors is not None:
            self._vectors.close()
        self.reader.close()


def _open_index(
    reader: CatalogueReader, folder: Path, url: str | None, number: int
) -> NearestIndex | None:
    """Opens Chroma; for a small library in our own folder, saves its half second and 50 MB."""
    if url is None and reader.chunks <= SCANNED_WHOLE:
        _check_index(folder)
        return None
    # Imported only if it is needed.
    chroma = importlib.import_module("antiphon.knowledge.chroma")
    name = collection_name(reader.library, number)
    index: NearestIndex = chroma.open_index(folder, url, name)
    return index


def _check_index(folder: Path) -> None:
    """Checks, without importing Chroma, that its folder exists and holds a database."""
    if not folder.is_dir():
        raise KnowledgeError(f"the vector index {folder} is missing; {REBUILD_ADVICE}")
    try:
        with (folder / _CHROMA_FILE).open("rb") as file:
            header = file.read(len(_SQLITE_HEADER))
    except OSError as error:
        header = str(error.strerror).encode()
    if header != _SQLITE_HEADER:
        raise KnowledgeError(
            f"the vector index {folder} cannot be used (its database is damaged); {REBUILD_ADVICE}"
        )


def _open_matrix(path: Path, reader: CatalogueReader) -> VectorFile:
    try:
        return VectorFile(path, reader.chunks, reader.dimensions)
    except (OSError, ValueError) as error:
        raise KnowledgeError(
            f"the vectors {path} cannot be used ({error}); {REBUILD_ADVICE}"
        ) from error
