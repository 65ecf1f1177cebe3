"""A tenant's own courses over those of everybody: one's own come first, and hide shared ones of the same title."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from antiphon.access.layered_library import LayeredLibrary
from antiphon.knowledge import Course, CourseMatch, LessonMatch, Library, LibraryState
from antiphon.vocabulary.values import LessonPart, Passage, StoredText


class OneIndex:
    """A library in which each course has one passage, and each search brings all of them."""

    def __init__(
        self, whose: str, *titles: str, means: str | None = None, nearest: str = ""
    ) -> None:
        self.whose = whose
        self.held = tuple(map(course, titles))
        self.means = means
        self.nearest = nearest
        self.asked: list[tuple[object, ...]] = []

    def courses(self) -> tuple[Course, ...]:
        return self.held

    def search(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        limit: int,
        known: Sequence[Passage],
    ) -> list[Passage]:
        self.asked.append((query, course, lesson, limit, known))
        return [
            Passage(id=f"{self.whose} {each.title}", source="s", text=StoredText("x"), course=each.title)
            for each in self.held
            if course in (None, each.title)
        ]  # fmt: skip

    keyword_search = search

    def lesson_part(self, course: str, lesson: int, part: LessonPart) -> list[Passage]:
        return self.search(part, course, lesson, 1, ())

    def outline(self, title: str) -> Course | None:
        return next((each for each in self.held if each.title == title), None)

    def resolve_course(self, name: str) -> CourseMatch:
        return CourseMatch(title=self.means, nearest=(self.nearest, "both"))

    def resolve_lesson(self, name: int | str, course: str | None = None) -> LessonMatch:
        if self.means is None:
            return LessonMatch(number=None)
        return LessonMatch(number=1, course=f"{self.whose} {course}")

    def describe(self) -> LibraryState:
        number = 1 if self.whose == "own" else 20
        return LibraryState(
            generation=number, embedder=None, documents=9, chunks=number
        )


def course(title: str) -> Course:
    return Course(title=title, link=None, instructor=None, lessons=(), chunks=1)


def layered(own: OneIndex, shared: OneIndex) -> LayeredLibrary:
    return LayeredLibrary(cast(Library, own), cast(Library, shared))


OWN = ("Owls", "Ants")
SHARED = ("Foxes", "OWLS", "Bears", "Cats")


@pytest.mark.parametrize("by", ["search", "keyword_search"])
def test_a_search_brings_ones_own_and_the_shared_in_turn_and_nothing_twice(
    by: str,
) -> None:
    own, shared = OneIndex("own", *OWN), OneIndex("shared", *SHARED)
    known = (Passage(id="k", source="s", text=StoredText("k")),)

    found = getattr(layered(own, shared), by)("hunting", limit=4, known=known)

    assert [passage.id for passage in found] == [
        "own Owls",
        "shared Foxes",
        "own Ants",
        "shared Bears",
    ]
    assert own.asked == shared.asked == [("hunting", None, None, 4, known)]


@pytest.mark.parametrize("by", ["search", "keyword_search"])
@pytest.mark.parametrize(
    ("title", "found"), [("Owls", "own Owls"), ("Foxes", "shared Foxes")]
)
def test_a_course_is_searched_where_it_is_held(by: str, title: str, found: str) -> None:
    library = layered(OneIndex("own", *OWN), OneIndex("shared", *SHARED))

    [passage] = getattr(library, by)("hunting", title, 2)

    assert passage.id == found
    assert [each.id for each in library.lesson_part(title, 1, "beginning")] == [found]
    assert library.holds_itself(title) == (title == "Owls")


def test_without_courses_of_ones_own_a_search_brings_the_shared_ones() -> None:
    library = layered(OneIndex("own"), OneIndex("shared", *SHARED))

    assert len(library.search("hunting")) == len(SHARED)


def test_courses_are_listed_by_title_and_a_shared_one_is_hidden_by_ones_own() -> None:
    own = OneIndex("own", *OWN)
    library = layered(own, OneIndex("shared", *SHARED))

    listed = library.courses()
    again = library.courses()
    own.held = (*own.held, course("Dogs"))

    titles = [each.title for each in listed]
    assert titles == ["Ants", "Bears", "Cats", "Foxes", "Owls"]
    assert again is listed
    assert "Dogs" in [each.title for each in library.courses()]
    assert library.outline("Owls") is own.held[0]
    assert library.outline("Foxes") is not None
    assert library.outline("Wolves") is None


def test_a_name_means_what_is_called_exactly_so_then_ones_own_then_the_shared() -> None:
    both = layered(
        OneIndex("own", *OWN, means="Owls", nearest="o"),
        OneIndex("shared", *SHARED, means="Cats", nearest="s"),
    )
    theirs = layered(
        OneIndex("own", nearest="o"), OneIndex("shared", means="Cats", nearest="s")
    )

    assert both.resolve_course("foxes").title == "Foxes"
    assert both.resolve_course("birds").title == "Owls"
    assert theirs.resolve_course("pets") == CourseMatch(
        title="Cats", nearest=("o", "both", "s")
    )


def test_a_lesson_is_looked_for_in_its_course_or_in_ones_own_courses_first() -> None:
    own = OneIndex("own", *OWN, means="Owls")
    library = layered(own, OneIndex("shared", *SHARED, means="Cats"))

    assert library.resolve_lesson(1, "Foxes").course == "shared Foxes"
    assert library.resolve_lesson(1, "Owls").course == "own Owls"
    assert library.resolve_lesson("Hunting").course == "own None"
    own.means = None
    assert library.resolve_lesson("Hunting").course == "shared None"


def test_both_are_described_as_one_library() -> None:
    library = layered(OneIndex("own", *OWN), OneIndex("shared", *SHARED))

    assert library.describe() == LibraryState(
        generation=20, embedder=None, documents=5, chunks=21
    )
