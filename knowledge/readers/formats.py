"""The readable formats: their endings, their limits, and the reader of each, imported on demand."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from typing import cast

from antiphon.knowledge.readers.content import Content, Reader, UnreadableError
from antiphon.vocabulary.errors import ConfigurationError, how_to_install
from antiphon.vocabulary.imports import import_named, split_names
from antiphon.vocabulary.values import Value

_TEXT_BYTES = 50_000_000
# Most bytes of these files are pictures, which are not read.
_OFFICE_BYTES = 200_000_000


class Format(Value, frozen=True, kw_only=True):
    """One format of documents.

    Attributes:
        suffixes: Endings of file names, in lower case and with their dot.
        reader: The module and the function that read it; the name of one of our modules begins with a dot.
        places: The kind of place in a citation of it.
        is_lesson: True if a file may be one lesson of a course that is a folder.
    """

    name: str
    suffixes: tuple[str, ...]
    reader: tuple[str, str]
    places: str
    largest_bytes: int = _TEXT_BYTES
    is_lesson: bool = False


_OWN = (
    Format(
        name="course script or plain text",
        suffixes=(".txt",),
        reader=(".plain_text", "read"),
        places="lesson",
    ),
    Format(
        name="Markdown",
        suffixes=(".md", ".markdown", ".mdx", ".qmd", ".rmd"),
        reader=(".markdown", "read"),
        places="heading",
        is_lesson=True,
    ),
    Format(
        name="web page",
        suffixes=(".html", ".htm", ".xhtml", ".mht", ".mhtml"),
        reader=(".web_page", "read"),
        places="heading",
    ),
    Format(
        name="PDF",
        suffixes=(".pdf",),
        reader=(".pdf", "read"),
        places="page",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="Word",
        suffixes=(".docx", ".docm"),
        reader=(".word", "read"),
        places="heading",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="slides",
        suffixes=(".pptx", ".pptm", ".ppsx"),
        reader=(".slides", "read"),
        places="slide",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="OpenDocument text",
        suffixes=(".odt",),
        reader=(".open_document", "read_text"),
        places="heading",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="OpenDocument slides",
        suffixes=(".odp",),
        reader=(".open_document", "read_slides"),
        places="slide",
        largest_bytes=_OFFICE_BYTES,
    ),
    Format(
        name="WebVTT transcript",
        suffixes=(".vtt",),
        reader=(".cues", "read_vtt"),
        places="time",
        is_lesson=True,
    ),
    Format(
        name="SRT transcript",
        suffixes=(".srt",),
        reader=(".cues", "read_srt"),
        places="time",
        is_lesson=True,
    ),
    Format(
        name="Jupyter notebook",
        suffixes=(".ipynb",),
        reader=(".notebook", "read"),
        places="heading or cell",
        is_lesson=True,
    ),
    Format(
        name="EPUB book",
        suffixes=(".epub",),
        reader=(".epub", "read"),
        places="heading",
        largest_bytes=_OFFICE_BYTES,
    ),
)
_added: list[Format] = []


def formats() -> tuple[Format, ...]:
    """Returns the readable formats; added ones come first, and so take precedence over ours."""
    return (*_added, *_OWN)


def suffixes() -> tuple[str, ...]:
    """Returns the endings of all formats."""
    return tuple(
        dict.fromkeys(suffix for each in formats() for suffix in each.suffixes)
    )


def added_formats() -> tuple[Format, ...]:
    """Returns the added formats, for the reading process."""
    return tuple(_added)


def add_formats(more: Iterable[Format]) -> None:
    """Adds formats for this process, like `mimetypes.add_type` for types."""
    for each in more:
        if each not in _added:
            _added.append(each)


def use_readers(names: str) -> None:
    """Adds the formats of a user's own readers, named as `package.module:FORMAT` and separated by commas.

    Raises:
        ConfigurationError: A module or name is missing, or is no `Format`.
    """
    for name in split_names(names):
        found = import_named(name, thing="Reader", form="package.module:FORMAT")
        if not isinstance(found, Format):
            raise ConfigurationError(
                f"Reader {name} is {type(found).__name__}; wanted a Format (docs/documents.md)."
            )
        add_formats([found])


def format_of(path: str) -> Format | None:
    """Returns the format that a file's ending names, or None."""
    lower = path.lower()
    for each in formats():
        if lower.endswith(each.suffixes):
            return each
    return None


def read_content(form: Format, data: bytes) -> Content:
    """Reads a file's bytes by the reader of its format.

    Raises:
        UnreadableError: They cannot be read, or the packages for it are not installed.
    """
    module, function = form.reader
    try:
        loaded = importlib.import_module(module, package=__package__)
    except ModuleNotFoundError as error:
        raise UnreadableError(
            f"{form.name} is read by the package {error.name}, which is not installed: {how_to_install('documents')}"
        ) from error
    return cast(Reader, getattr(loaded, function))(data)
