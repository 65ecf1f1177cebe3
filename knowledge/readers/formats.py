"""The formats that can be read: their endings, their limits, and the reader of each, imported when it is needed."""

from __future__ import annotations

import importlib
from typing import cast

from antiphon.knowledge.readers.content import Content, Reader, UnreadableError
from antiphon.vocabulary.errors import how_to_install
from antiphon.vocabulary.values import Value

_TEXT_BYTES = 50_000_000
# Pictures make up most of these, and are not read.
_OFFICE_BYTES = 200_000_000


class Format(Value, frozen=True, kw_only=True):
    """One format of documents.

    Attributes:
        reader: Module of this folder and function that read it.
        places: What a citation of it names.
        is_lesson: A file of it may be one lesson of a course that is a folder.
    """

    name: str
    suffixes: tuple[str, ...]
    reader: tuple[str, str]
    places: str
    largest_bytes: int = _TEXT_BYTES
    is_lesson: bool = False


FORMATS = (
    Format(
        name="course script or plain text",
        suffixes=(".txt",),
        reader=("plain_text", "read"),
        places="lesson",
    ),
    Format(
        name="Markdown",
        suffixes=(".md", ".markdown", ".mdx", ".qmd", ".rmd"),
        reader=("markdown", "read"),
        places="heading",
        is_lesson=True,
    ),
    Format(
        name="web page",
        suffixes=(".html", ".htm"),
        reader=("web_page", "read"),
        places="heading",
    ),
    Format(
        name="PDF",
        suffixes=(".pdf",),
        reader=("pdf", "read"),
        places="page",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="Word",
        suffixes=(".docx",),
        reader=("word", "read"),
        places="heading",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="slides",
        suffixes=(".pptx",),
        reader=("slides", "read"),
        places="slide",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="WebVTT transcript",
        suffixes=(".vtt",),
        reader=("cues", "read_vtt"),
        places="time",
        is_lesson=True,
    ),
    Format(
        name="SRT transcript",
        suffixes=(".srt",),
        reader=("cues", "read_srt"),
        places="time",
        is_lesson=True,
    ),
    Format(
        name="Jupyter notebook",
        suffixes=(".ipynb",),
        reader=("notebook", "read"),
        places="heading or cell",
        is_lesson=True,
    ),
)
SUFFIXES = tuple([suffix for each in FORMATS for suffix in each.suffixes])


def format_of(path: str) -> Format | None:
    """Returns the format that a file's ending names, or None."""
    lower = path.lower()
    for each in FORMATS:
        if lower.endswith(each.suffixes):
            return each
    return None


def read_content(form: Format, data: bytes) -> Content:
    """Reads a file's bytes by the reader of its format.

    Raises:
        UnreadableError: They cannot be read, or the packages that read them are not installed.
    """
    module, function = form.reader
    try:
        loaded = importlib.import_module(f"antiphon.knowledge.readers.{module}")
    except ModuleNotFoundError as error:
        raise UnreadableError(
            f"{form.name} is read by the package {error.name}, which is not installed: {how_to_install('documents')}"
        ) from error
    return cast(Reader, getattr(loaded, function))(data)
