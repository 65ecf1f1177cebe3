"""The courses that one tenant sees: its own beside the shared ones, each kind in its own index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

# Imported as a module: code that only names this class must not load what searching needs.
from antiphon import knowledge
from antiphon.knowledge import (
    Course,
    CourseMatch,
    LessonMatch,
    LibraryState,
)
from antiphon.language.words import fold
from antiphon.vocabulary.health import LastTry
from antiphon.vocabulary.values import LessonPart, Passage

RESULTS = 5


class LayeredLibrary:
    """A tenant's own library over the shared one; satisfies `CourseIndex` and `SearchedLibrary`.

    Two indexes rather than one with a filter: nothing of another tenant's documents, not even that a title is taken or
    how rare a word is, can reach a search. A tenant's own course hides the shared one of the same title.
    """

    def __init__(self, own: knowledge.Library, shared: knowledge.Library) -> None:
        self._own = own
        self._shared = shared
        # `courses` compares by identity: all empty tuples are one object, so two empty libraries match from the start.
        self._made_of: tuple[tuple[Course, ...], tuple[Course, ...]] = ((), ())
        self._courses: tuple[Course, ...] = ()

    @property
    def last_search(self) -> LastTry:
        """The outcome of the last search of the shared index."""
        return self._shared.last_search

    def courses(self) -> tuple[Course, ...]:
        """Returns all courses, by title; the same object as long as they stay the same."""
        own, shared = self._own.courses(), self._shared.courses()
        # Each library returns the same object as long as its courses stay the same.
        if own is not self._made_of[0] or shared is not self._made_of[1]:
            hidden = _titles(own)
            beside = [each for each in shared if fold(each.title) not in hidden]
            self._courses = tuple(sorted([*own, *beside], key=_title))
            self._made_of = (own, shared)
        return self._courses

    def search(
        self,
        query: str,
        course: str | None = None,
        lesson: int | None = None,
        limit: int = RESULTS,
        *,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        """Finds the passages that match the query best, as `Library.search` does, in both indexes."""
        return self._in_both(
            lambda library: library.search(query, course, lesson, limit, known),
            course,
            limit,
        )

    def keyword_search(
        self,
        query: str,
        course: str | None = None,
        lesson: int | None = None,
        limit: int = RESULTS,
        *,
        known: Sequence[Passage] = (),
    ) -> list[Passage]:
        """Searches as `search` does, by words alone."""
        return self._in_both(
            lambda library: library.keyword_search(query, course, lesson, limit, known),
            course,
            limit,
        )

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> list[Passage]:
        """Returns the beginning or the end of a lesson."""
        return self._holding(course).lesson_part(course, lesson, part)

    def resolve_course(self, name: str) -> CourseMatch:
        """Finds the course that a name means: one with exactly this title, else the tenant's own courses first."""
        for course in self.courses():
            if fold(course.title) == fold(name):
                return CourseMatch(title=course.title, nearest=())
        own, shared = self._own.resolve_course(name), self._shared.resolve_course(name)
        if own.title is not None:
            return own
        nearest = dict.fromkeys((*own.nearest, *shared.nearest))
        return CourseMatch(title=shared.title, nearest=tuple(nearest))

    def resolve_lesson(self, name: int | str, course: str | None = None) -> LessonMatch:
        """Finds the lesson that a name means, in its course, or in the tenant's own courses first."""
        if course is not None:
            return self._holding(course).resolve_lesson(name, course)
        own = self._own.resolve_lesson(name)
        if own.number is not None:
            return own
        return self._shared.resolve_lesson(name)

    def outline(self, title: str) -> Course | None:
        """Returns the course with this title, however it is written, or None."""
        return self._own.outline(title) or self._shared.outline(title)

    def holds_itself(self, course: str) -> bool:
        """Returns True for one of the tenant's own courses."""
        return any(each.title == course for each in self._own.courses())

    def describe(self) -> LibraryState:
        """Describes both libraries as one; the generation is that of the shared index."""
        own, shared = self._own.describe(), self._shared.describe()
        return LibraryState(
            generation=shared.generation,
            embedder=shared.embedder or own.embedder,
            documents=len(self.courses()),
            chunks=own.chunks + shared.chunks,
        )

    def refresh(self) -> bool:
        """Changes to a new generation of the tenant's own index if there is one; the service refreshes the other."""
        return self._own.refresh()

    def close(self) -> None:
        """Closes the tenant's own files."""
        self._own.close()

    def _holding(self, course: str) -> knowledge.Library:
        if self.holds_itself(course):
            return self._own
        return self._shared

    def _in_both(
        self,
        search: Callable[[knowledge.Library], list[Passage]],
        course: str | None,
        limit: int,
    ) -> list[Passage]:
        if course is not None:
            return search(self._holding(course))
        shared = search(self._shared)
        hidden = _titles(self._own.courses())
        if not hidden:
            return shared
        beside = [each for each in shared if fold(each.course or "") not in hidden]
        return merged(search(self._own), beside)[:limit]


def merged(own: Sequence[Passage], shared: Sequence[Passage]) -> list[Passage]:
    """Returns the best of each in turn, the tenant's own first: scores of two indexes cannot be compared."""
    in_turn = chain.from_iterable(zip_longest(own, shared))
    return [passage for passage in in_turn if passage is not None]


def _titles(courses: Sequence[Course]) -> set[str]:
    return {fold(course.title) for course in courses}


def _title(course: Course) -> str:
    return course.title
