"""A course's table of contents, read from the output of the outline tool."""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.engine.offline.task import LessonLine, Source

_LESSON = re.compile(r"Lesson (\d+): (.+)")
_INSTRUCTOR = "Instructor: "
_LINK = "Link: "
_COUNT = "Lessons: "


class Fact(NamedTuple):
    """A line that states one fact: the number of its block, and the fact."""

    block: int
    text: str


class Outline:
    """An outline, and the facts in its lines.

    Attributes:
        lessons: The lessons in order.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.course = source.course
        self.lessons: list[LessonLine] = []
        for at, block in enumerate(source.blocks):
            if found := _LESSON.match(block):
                title = found[2].strip()
                self.lessons.append(LessonLine(source, at, int(found[1]), title))

    @property
    def teacher(self) -> Fact | None:
        return self._fact(_INSTRUCTOR)

    @property
    def counted(self) -> str:
        """The number of lessons in words."""
        if not self.lessons:
            return "no lessons"
        if len(self.lessons) == 1:
            return "one lesson"
        return f"{len(self.lessons)} lessons"

    @property
    def numbered(self) -> str:
        """The number of lessons, with the numbers of the first and the last."""
        if len(self.lessons) < 2:
            return self.counted
        first, last = self.lessons[0].number, self.lessons[-1].number
        return f"{self.counted} (lesson {first} to lesson {last})"

    @property
    def lesson_blocks(self) -> tuple[int, int]:
        """The first block that names a lesson, and the end of the last; all blocks if there are no lessons."""
        if not self.lessons:
            return (0, len(self.source.blocks))
        return (self.lessons[0].block, self.lessons[-1].block + 1)

    @property
    def counting_blocks(self) -> tuple[int, int]:
        """The blocks that show the number of lessons: the lessons, and the line that counts them."""
        first, end = self.lesson_blocks
        count = self._fact(_COUNT)
        if count is not None and self.lessons:
            first = min(first, count.block)
        return (first, end)

    def link(self, lesson: int | None = None) -> Fact | None:
        """Returns the link of the course, or of one of its lessons."""
        if lesson is None:
            return self._fact(_LINK)
        return self._fact(f"Link of lesson {lesson}: ")

    def lesson(self, number: int | None) -> LessonLine | None:
        """Returns the lesson of this number."""
        return self.source.lesson_line(number)

    def _fact(self, label: str) -> Fact | None:
        for at, block in enumerate(self.source.blocks):
            if block.startswith(label):
                return Fact(at, block.removeprefix(label).strip())
        return None
