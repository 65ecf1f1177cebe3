"""The catalogue as a file: its format, its errors, and the part that can be read without vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from antiphon.knowledge.embedders import embedder_called
from antiphon.knowledge.generations import CATALOGUE, Generations, advice
from antiphon.knowledge.values import Course, Lesson
from antiphon.vocabulary.errors import KnowledgeError
from antiphon.vocabulary.values import Value

# Raised when the tables change; an index of another format is rebuilt.
FORMAT = "3"

# Bytes of a catalogue to map into memory, which saves a system call a page; mapped pages count as memory in use.
_MAPPED_BYTES = 32_000_000

_META = "SELECT name, value FROM meta"
_EMBEDDER = "SELECT value FROM meta WHERE name = 'embedder'"
COURSES = """
SELECT documents.number, documents.title, documents.link, documents.instructor, documents.language, documents.losses,
    (SELECT count(*) FROM chunks JOIN sections ON sections.number = chunks.section
     WHERE sections.document = documents.number)
FROM documents ORDER BY documents.folded
"""
LESSONS = "SELECT document, lesson, title, link FROM sections WHERE lesson IS NOT NULL ORDER BY number"


class Overview(Value, frozen=True, kw_only=True):
    """The courses in the index in use, and its embedder.

    Attributes:
        embedder: A name for `load_embedder`, or None if this version has no such embedder.
    """

    embedder: str | None
    courses: tuple[Course, ...]


def overview(data_dir: Path) -> Overview | None:
    """Reads the overview of the data folder's index, without embedder and vector index; None if nothing is indexed.

    Raises:
        KnowledgeError: The data folder or the catalogue cannot be read.
    """
    path = catalogue_in_use(data_dir)
    if path is None:
        return None
    with catalogue_errors(path), closing(open_read_only(path)) as sql:
        embedder = sql.execute(_EMBEDDER).fetchone()
        courses = courses_of(sql.execute(COURSES), sql.execute(LESSONS))
    name = None if embedder is None else embedder_called(str(embedder[0]))
    return Overview(embedder=name, courses=courses)


def known_paths(data_dir: Path) -> tuple[str, ...]:
    """Returns the files of the indexed documents in the data folder. Raises as `overview` does."""
    path = catalogue_in_use(data_dir)
    if path is None:
        return ()
    with catalogue_errors(path), closing(open_read_only(path)) as sql:
        rows = sql.execute("SELECT path FROM documents").fetchall()
    return tuple(row[0] for row in rows)


def document_paths(data_dir: Path) -> dict[str, str]:
    """Returns the file of each indexed course by the course's title. Raises as `overview` does."""
    path = catalogue_in_use(data_dir)
    if path is None:
        return {}
    with catalogue_errors(path), closing(open_read_only(path)) as sql:
        return dict(sql.execute("SELECT title, path FROM documents").fetchall())


def catalogue_in_use(data_dir: Path) -> Path | None:
    """Returns the catalogue in use, or None if nothing was indexed yet."""
    generations = Generations(data_dir)
    number = generations.current()
    if not number:
        return None
    return generations.folder(number) / CATALOGUE


@contextmanager
def catalogue_errors(path: Path) -> Iterator[None]:
    """Wraps SQLite's errors about the catalogue at `path`, once, in our words."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise KnowledgeError(
            f"the catalogue {path} cannot be used ({error}); {advice(error)}"
        ) from error


def open_read_only(path: Path) -> sqlite3.Connection:
    """Opens a finished catalogue, for any thread."""
    sql = _opened(path)
    sql.execute(f"PRAGMA mmap_size = {_MAPPED_BYTES}")
    return sql


def read_meta(path: Path) -> dict[str, Any]:
    """Returns the metadata of a finished catalogue.

    It uses an unmapped connection of its own, because it reads the moments: megabytes that nobody reads again.
    """
    with closing(_opened(path)) as sql:
        return dict(sql.execute(_META).fetchall())


def _opened(path: Path) -> sqlite3.Connection:
    # Nobody writes to a finished catalogue, so this takes no lock, and works in a read-only folder.
    uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
    return sqlite3.connect(uri, uri=True, check_same_thread=False)


def courses_of(
    course_rows: Iterable[Any], lesson_rows: Iterable[Any]
) -> tuple[Course, ...]:
    """Makes outlines from the rows of `COURSES` and `LESSONS`, in the order of the courses."""
    lessons: dict[int, list[Lesson]] = {}
    for document, number, title, link in lesson_rows:
        lesson = Lesson(number=number, title=title, link=link)
        lessons.setdefault(document, []).append(lesson)
    courses: list[Course] = []
    for document, title, link, instructor, language, losses, chunks in course_rows:
        course = Course(
            title=title,
            link=link,
            instructor=instructor,
            lessons=tuple(lessons.get(document, ())),
            chunks=chunks,
            language=language,
            losses=tuple(json.loads(losses)),
        )
        courses.append(course)
    return tuple(courses)
