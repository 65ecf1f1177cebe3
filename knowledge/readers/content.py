"""The result of a reader: a file's lines in order, and the fields that describe it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from antiphon.vocabulary.values import Value

LONGEST_TITLE = 300
"""A title with more characters is text, not a title."""


class UnreadableError(ValueError):
    """The bytes cannot be read in the format of their ending; the message is the reason, for the file's owner."""


class Line(NamedTuple):
    """One line of a file, or a place in it.

    Attributes:
        text: A blank line ends a paragraph; lines that follow one another are one paragraph, wrapped.
        level: 1 for a heading of the first level, 2 for one of the second …; 0 for text.
        is_code: True for a line of a program, which is never a heading.
        place: The place of this line and those after it, such as "page 3"; empty if unchanged.
        fragment: The fragment that leads there, to append after `#` to the document's address; empty if there is none.
        heading: The place's own title, such as that of a slide.
    """

    text: str
    level: int = 0
    is_code: bool = False
    place: str = ""
    fragment: str = ""
    heading: str = ""


BLANK = Line("")
_FENCE = "```"


class Content(Value, frozen=True, kw_only=True):
    """A file that has been read, before it is divided into lessons.

    Attributes:
        title: The title that the file states.
        other_title: A less certain one, for a file whose headings give no title either.
        losses: The parts of the file that could not be read, each in words for its owner, such as "page 14 could not be
            read".
    """

    lines: list[Line]
    title: str | None = None
    other_title: str | None = None
    link: str | None = None
    instructor: str | None = None
    losses: tuple[str, ...] = ()


def code_lines(code: str, language: str = "") -> list[Line]:
    """Returns a program as unchanged lines between fences, the first of which names its language."""
    lines = [Line(line, is_code=True) for line in code.strip("\n").split("\n")]
    opened = Line(f"{_FENCE}{language}", is_code=True)
    return [opened, *lines, Line(_FENCE, is_code=True)]


def content_of(
    lines: list[Line],
    values: Mapping[str, object],
    other_title: str | None = None,
    losses: Iterable[str] = (),
) -> Content:
    """Makes a file's content from its lines and from the fields that describe it, under the names that people use."""
    return Content(
        lines=[_as_text(line) for line in lines],
        title=_field(values, "title"),
        other_title=_field({"title": other_title}, "title"),
        link=_field(values, "link", "url", "canonical"),
        instructor=_field(values, "instructor", "teacher", "author"),
        losses=tuple(losses),
    )


def _as_text(line: Line) -> Line:
    """Turns a heading that is too long into text."""
    is_text = line.level > 0 and len(line.text) > LONGEST_TITLE
    return line._replace(level=0) if is_text else line


def _field(values: Mapping[str, object], *names: str) -> str | None:
    """Returns the first of the fields with a text, on one line."""
    for name in names:
        value = values.get(name)
        if isinstance(value, str) and value.strip():
            return " ".join(value.split())[:LONGEST_TITLE]
    return None


class Reader(Protocol):
    """Reads the files of one format."""

    def __call__(self, data: bytes) -> Content:
        """Reads a file's bytes.

        Raises:
            UnreadableError: They are broken, encrypted, or of another format.
        """
