"""The indexed text of a lesson, from which passages are cut, and into which citations point."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from antiphon.knowledge.catalogue_file import (
    catalogue_errors,
    catalogue_in_use,
    open_read_only,
)
from antiphon.vocabulary.values import Value

_SECTION = """
SELECT documents.path, sections.title, sections.text FROM documents
JOIN sections ON sections.document = documents.number
WHERE documents.title = ? AND sections.lesson IS ? ORDER BY sections.number
"""


class LessonText(Value, frozen=True, kw_only=True):
    """A lesson's normalised text and its file; the title is empty outside lessons."""

    file: Path
    title: str
    text: str


def lesson_text(data_dir: Path, course: str, lesson: int | None) -> LessonText | None:
    """Returns a lesson's text; None if there is no such lesson.

    Args:
        course: The exact title.
        lesson: Its number; None: the text outside lessons.

    Raises:
        KnowledgeError: The catalogue cannot be read.
    """
    path = catalogue_in_use(data_dir)
    if path is None:
        return None
    with catalogue_errors(path), closing(open_read_only(path)) as sql:
        row = sql.execute(_SECTION, (course, lesson)).fetchone()
    if row is None:
        return None
    file, title, text = row
    return LessonText(file=Path(file), title=title, text=text)
