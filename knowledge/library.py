"""The library as the service reads it: searches, outlines and course names, over the generation in use."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from math import log
from pathlib import Path

from antiphon.knowledge.course import Course, CourseMatch, LibraryState
from antiphon.knowledge.generations import Generations
from antiphon.knowledge.searching import OpenGeneration, open_generation
from antiphon.language.words import fold
from antiphon.vocabulary.ports import Embedder
from antiphon.vocabulary.values import Passage


class Library:
    """A read handle for many threads; every method blocks, so an event loop calls it through a thread.

    An index that is not there yet is no error: there are no courses then, and `refresh` finds them once
    they are indexed.
    """

    def __init__(self, store: Generations, embedder: Embedder, chroma_url: str | None) -> None:
        self._store = store
        self._embedder = embedder
        self._chroma_url = chroma_url
        self._turn = threading.Lock()
        self._refreshing = threading.Lock()
        self._open: OpenGeneration | None = None
        self._borrowed: dict[int, int] = {}

    @classmethod
    def open(cls, data_dir: Path, embedder: Embedder, chroma_url: str | None = None) -> Library:
        """Opens the generation in use.

        Raises:
            ConfigurationError: The index was built by another embedder or version; the message says how to mend it.
            KnowledgeError: The data folder cannot be read, or the index is damaged.
        """
        library = cls(Generations(data_dir), embedder, chroma_url)
        library.refresh()
        return library

    def refresh(self) -> bool:
        """Turns to another generation if one was put in use; says whether it did.

        Queries that run finish on the old one. Where the new one cannot be opened the old one stays.

        Raises:
            ConfigurationError: As `open`.
            KnowledgeError: As `open`.
        """
        with self._refreshing:
            number = self._store.current()
            if number == (self._open.number if self._open else 0):
                return False
            fresh = open_generation(self._store, number, self._embedder, self._chroma_url) if number else None
            self._swap(fresh)
            return True

    def search(self, query: str, course: str | None = None, lesson: int | None = None, limit: int = 5) -> list[Passage]:
        """The passages that best meet the query by meaning and by words, best first.

        Args:
            course: An exact title (see `resolve_course`), or None: all courses.
            lesson: A lesson's number, or None: all lessons.

        Raises:
            KnowledgeError: The vector index or the catalogue fails; `keyword_search` may still work.
        """
        with self._borrow() as generation:
            if generation is None or limit < 1:
                return []
            vector = self._embedder.embed([query])[0]
            return generation.search(query, vector, course, lesson, limit)

    def keyword_search(
        self, query: str, course: str | None = None, lesson: int | None = None, limit: int = 5
    ) -> list[Passage]:
        """As `search`, by words alone: no embedder, no vector index."""
        with self._borrow() as generation:
            return generation.keyword_search(query, course, lesson, limit) if generation else []

    def resolve_course(self, name: str) -> CourseMatch:
        """Which course a name means: exact, then by letters (parts, misspellings), then by meaning."""
        with self._borrow() as generation:
            if generation is None:
                return CourseMatch(title=None, nearest=())
            return generation.titles.resolve(name, lambda text: self._embedder.embed([text])[0])

    def outline(self, title: str) -> Course | None:
        """The course with this title, or None."""
        return next((course for course in self.courses() if fold(course.title) == fold(title)), None)

    def courses(self) -> tuple[Course, ...]:
        """All courses, by title."""
        with self._borrow() as generation:
            return generation.courses if generation else ()

    def weight(self, term: str) -> float:
        """How telling a term (stemmed by language/words.py) is in this library: log((N + 1) / (n + 0.5))."""
        with self._borrow() as generation:
            return generation.weight(term) if generation else log(2.0)

    def describe(self) -> LibraryState:
        """What is open."""
        with self._borrow() as generation:
            if generation is None:
                return LibraryState(generation=0, embedder=None, documents=0, chunks=0)
            return LibraryState(
                generation=generation.number, embedder=generation.reader.embedder,
                documents=len(generation.courses), chunks=generation.reader.chunks,
            )  # fmt: skip

    def close(self) -> None:
        """Lets go of all files once the queries that run are done; afterwards the library is empty."""
        self._swap(None)

    @contextmanager
    def _borrow(self) -> Iterator[OpenGeneration | None]:
        """The generation in use, kept open as long as the caller needs it."""
        with self._turn:
            generation = self._open
            if generation is not None:
                self._borrowed[generation.number] = self._borrowed.get(generation.number, 0) + 1
        try:
            yield generation
        finally:
            if generation is not None:
                self._give_back(generation)

    def _give_back(self, generation: OpenGeneration) -> None:
        with self._turn:
            self._borrowed[generation.number] -= 1
            idle = not self._borrowed[generation.number]
            if idle:
                del self._borrowed[generation.number]
            last = idle and generation is not self._open
        if last:
            generation.close()

    def _swap(self, fresh: OpenGeneration | None) -> None:
        with self._turn:
            old, self._open = self._open, fresh
            idle = old is not None and old.number not in self._borrowed
        if old is not None and idle:
            old.close()
