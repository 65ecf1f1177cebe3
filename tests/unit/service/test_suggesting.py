"""Questions to begin with, made from what the lessons define."""

from __future__ import annotations

from collections.abc import Mapping

from antiphon.composition import CourseIndex
from antiphon.knowledge import Lesson
from antiphon.service import Course, suggestions
from antiphon.vocabulary.values import Passage, StoredText


class Shelves:
    """Courses whose lessons each hold one text."""

    def __init__(self, texts: Mapping[str, Mapping[int, str]]) -> None:
        self._texts = texts

    def courses(self) -> tuple[Course, ...]:
        found = []
        for title, lessons in self._texts.items():
            listed = tuple(
                Lesson(number=number, title=f"About {number}") for number in lessons
            )
            found.append(
                Course(
                    title=title, link=None, instructor=None, lessons=listed, chunks=1
                )
            )
        return tuple(found)

    def search(
        self, query: str, course: str | None, lesson: int | None, limit: int
    ) -> list[Passage]:
        text = self._texts[course or ""].get(lesson or 0, "")
        starts = [0]
        while (after := text.find(". ", starts[-1])) >= 0:
            starts.append(after + 2)
        passage = Passage(
            id="p", source="s", text=StoredText(text), starts=tuple(starts)
        )
        return [passage][:limit]


def made(texts: Mapping[str, Mapping[int, str]], most: int = 4) -> list[str]:
    """The questions that are suggested."""
    library: CourseIndex = Shelves(texts)  # type: ignore[assignment]  # no more of it is used
    return [each.question for each in suggestions(library, most)]


def test_a_phrase_that_names_nothing_is_passed_over() -> None:
    text = "The first of them is a rule. An index is a list of places."

    assert made({"Search": {1: text}}) == ["What is an index?"]


def test_a_lesson_that_defines_nothing_is_asked_for_by_its_title() -> None:
    assert made({"Search": {1: "Many words."}}) == ["What is taught on “About 1”?"]


def test_without_courses_there_are_none() -> None:
    assert made({}) == []
