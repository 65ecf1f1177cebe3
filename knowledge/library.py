"""The service's view of the library: searches, outlines and course names, over the generation in use."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from pathlib import Path

from antiphon.knowledge.candidates import Wanted
from antiphon.knowledge.generations import Generations
from antiphon.knowledge.lessons import resolve_lesson
from antiphon.knowledge.likeness import VectorCache, likeness
from antiphon.knowledge.scoring import Tuning
from antiphon.knowledge.searching import OpenGeneration
from antiphon.knowledge.values import Course, CourseMatch, LessonMatch, LibraryState
from antiphon.knowledge.vectors import Vector
from antiphon.language.words import fold
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.health import LastTry
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import LessonPart, Passage

PASSAGE_CHARACTERS = 760
"""Mean characters of a passage, unless a search names another budget."""
_UNFITTED = Tuning()


class Library:
    """A thread-safe read handle; every method blocks, so an event loop must call it through a thread.

    A missing index is no error: there are no courses then, and `refresh` finds them once they are indexed.

    Attributes:
        last_search: The outcome of the last search by meaning, over all callers.
    """

    def __init__(
        self,
        store: Generations,
        embedder: Embedder,
        chroma_url: str | None,
        tuning: Tuning = _UNFITTED,
    ) -> None:
        self._store = store
        self._tuning = tuning
        self._embedder = embedder
        self._vectors = VectorCache(embedder)
        self._chroma_url = chroma_url
        self._lock = threading.Lock()
        # A lock of its own, because opening a generation takes seconds, during which queries continue.
        self._refresh_lock = threading.Lock()
        self._open: OpenGeneration | None = None
        # The number of readers of each generation; the last reader of a replaced one closes it.
        self._readers: Counter[int] = Counter()
        self.last_search = LastTry()

    @classmethod
    def open(
        cls,
        data_dir: Path,
        embedder: Embedder,
        chroma_url: str | None = None,
        tuning: Tuning = _UNFITTED,
    ) -> Library:
        """Opens the generation in use.

        Args:
            tuning: Figures other than the product's, for benchmarks.

        Raises:
            ConfigurationError: The index was built by another embedder or version; the message says how to fix that.
            KnowledgeError: The data folder cannot be read, or the index is damaged.
        """
        generations = Generations(data_dir)
        generations.protect()
        library = cls(generations, embedder, chroma_url, tuning)
        library.refresh()
        return library

    def refresh(self) -> bool:
        """Switches to another generation if one was put in use; returns True if it did.

        Running queries finish on the old one. If the new one cannot be opened, the old one stays.

        Raises:
            ConfigurationError: As `open`.
            KnowledgeError: As `open`.
        """
        with self._refresh_lock:
            number = self._store.current()
            open_number = 0 if self._open is None else self._open.number
            if number == open_number:
                return False
            if not number:
                self._swap(None)
                return True
            fresh = OpenGeneration.open(
                self._store, number, self._embedder, self._chroma_url, self._tuning
            )
            self._swap(fresh)
            return True

    def search(
        self,
        query: str,
        course: str | None = None,
        lesson: int | None = None,
        limit: int = 5,
        known: Sequence[Passage] = (),
        characters: int | None = None,
    ) -> list[Passage]:
        """Finds the passages that match the query best by meaning and by words, best first.

        Args:
            course: An exact title (see `resolve_course`), or None: all courses.
            lesson: A lesson's number, or None: all lessons.
            known: Passages found before, whose sentences must not come again.
            characters: Most characters of all passages together; None: `PASSAGE_CHARACTERS` for each.

        Raises:
            KnowledgeError: The vector index or the catalogue fails; `keyword_search` may still work.
        """
        with self._borrow() as generation:
            if generation is None or limit < 1:
                return []
            wanted = _wanted(course, lesson, limit, known, characters)
            try:
                vector = self._vectors.vector(query.strip())
                found = generation.search(query, vector, wanted)
            except KnowledgeError as error:
                self.last_search.note(str(error))
                raise
            self.last_search.note()
            return found

    def keyword_search(
        self,
        query: str,
        course: str | None = None,
        lesson: int | None = None,
        limit: int = 5,
        known: Sequence[Passage] = (),
        characters: int | None = None,
    ) -> list[Passage]:
        """Searches as `search` does, but only by words, without embedder or vector index."""
        with self._borrow() as generation:
            if generation is None or limit < 1:
                return []
            wanted = _wanted(course, lesson, limit, known, characters)
            return generation.keyword_search(query, wanted)

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> list[Passage]:
        """Returns the beginning or the end of a lesson as one passage; nothing if there is no such lesson.

        Args:
            course: An exact title.
        """
        with self._borrow() as generation:
            if generation is None:
                return []
            return generation.lesson_part(course, lesson, part)

    def likeness(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Returns each text's likeness in meaning to the question: the cosine, -1 to 1, in the texts' order.

        It does not embed again recent questions and queries, or sentences of the library. It needs no index: an
        unreadable catalogue only makes it slower.
        """
        with self._borrow() as generation:

            def look_up(unknown: Sequence[str]) -> Mapping[str, Vector]:
                if generation is None:
                    return {}
                try:
                    return generation.find_vectors(unknown)
                except KnowledgeError:
                    return {}

            return likeness(self._vectors, question, texts, look_up)

    def resolve_course(self, name: str) -> CourseMatch:
        """Finds the course that a name means: exact, then by letters (parts, misspellings), then by meaning."""
        with self._borrow() as generation:
            if generation is None:
                return CourseMatch(title=None, nearest=())
            return generation.titles.resolve(
                name, lambda text: self._embedder.embed([text])[0]
            )

    def resolve_lesson(self, name: int | str, course: str | None = None) -> LessonMatch:
        """Finds the lesson that a name means, by number, place in the outline, or title.

        Args:
            name: In any usual form: 4, "lesson four", "the last lesson", or its title or a part of it.
            course: The exact title of its course, or None: any course.
        """
        courses = [each for each in self.courses() if course in (None, each.title)]
        return resolve_lesson(name, courses, self._vectors.vectors)

    def outline(self, title: str) -> Course | None:
        """Returns the course with this title, ignoring case and accents, or None."""
        for course in self.courses():
            if fold(course.title) == fold(title):
                return course
        return None

    def courses(self) -> tuple[Course, ...]:
        """Returns all courses, by title."""
        with self._borrow() as generation:
            if generation is None:
                return ()
            return generation.courses

    def weight(self, term: str) -> float:
        """Returns the weight of a term (stemmed by language/words.py): its rarity here times its rarity in English."""
        with self._borrow() as generation:
            if generation is None:
                return log(2.0)
            return generation.weight(term)

    def describe(self) -> LibraryState:
        """Describes the generation in use."""
        with self._borrow() as generation:
            if generation is None:
                return LibraryState(generation=0, embedder=None, documents=0, chunks=0)
            return LibraryState(
                generation=generation.number,
                embedder=generation.reader.embedder,
                documents=len(generation.courses),
                chunks=generation.reader.chunks,
            )

    def close(self) -> None:
        """Closes all files once the running queries are done; afterwards the library is empty."""
        self._swap(None)

    @contextmanager
    def _borrow(self) -> Iterator[OpenGeneration | None]:
        """Lends the generation in use, and keeps it open while the caller needs it."""
        with self._lock:
            generation = self._open
            if generation is not None:
                self._readers[generation.number] += 1
        try:
            yield generation
        finally:
            if generation is not None:
                self._give_back(generation)

    def _give_back(self, generation: OpenGeneration) -> None:
        number = generation.number
        with self._lock:
            self._readers[number] -= 1
            if self._readers[number]:
                return
            del self._readers[number]
            replaced = generation is not self._open
        # Outside the lock: closing waits for the files.
        if replaced:
            generation.close()

    def _swap(self, fresh: OpenGeneration | None) -> None:
        with self._lock:
            old, self._open = self._open, fresh
            if old is None or old.number in self._readers:
                return
        old.close()


def _wanted(
    course: str | None,
    lesson: int | None,
    limit: int,
    known: Sequence[Passage],
    characters: int | None,
) -> Wanted:
    if characters is None:
        characters = limit * PASSAGE_CHARACTERS
    return Wanted(
        course=course,
        lesson=lesson,
        limit=limit,
        characters=characters,
        known=tuple(known),
    )
