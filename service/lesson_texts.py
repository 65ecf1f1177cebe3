"""A stretch of a lesson's text, for showing a citation in its context."""

from __future__ import annotations

import hashlib
from pathlib import Path

from antiphon.knowledge import lesson_text
from antiphon.vocabulary.errors import BadInputError, NotFoundError
from antiphon.vocabulary.values import Value

MOST_TEXT_CHARS = 20_000


class TextStretch(Value, frozen=True, kw_only=True):
    """A stretch of a lesson's text.

    Attributes:
        file: The name of the lesson's file.
        start: Offset of the stretch in the lesson's text, in characters.
        length: Characters of the whole text.
        sha256: Of the whole text in UTF-8.
    """

    course: str
    lesson: int | None
    title: str
    file: str
    start: int
    length: int
    sha256: str
    text: str


def text_stretch(
    data_dir: Path, course: str, lesson: int | None, start: int, length: int
) -> TextStretch:
    """Reads a stretch of a lesson's text from the current index; blocks.

    Raises:
        BadInputError: The stretch is too long, or empty.
        NotFoundError: There is no such lesson.
    """
    if start < 0 or not 0 < length <= MOST_TEXT_CHARS:
        raise BadInputError(
            f"{length} characters from {start} on: ask for 1 to {MOST_TEXT_CHARS:,}, from 0 on."
        )
    found = lesson_text(data_dir, course, lesson)
    if found is None:
        what = "text outside lessons" if lesson is None else f"lesson {lesson}"
        raise NotFoundError(f"There is no {what} in a course {course[:80]!r} now.")
    return TextStretch(
        course=course,
        lesson=lesson,
        title=found.title,
        file=found.file.name,
        start=min(start, len(found.text)),
        length=len(found.text),
        sha256=hashlib.sha256(found.text.encode()).hexdigest(),
        text=found.text[start : start + length],
    )
