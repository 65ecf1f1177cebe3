"""Reads Jupyter notebooks: the text of their cells, their code, and the beginning of its output."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    UnreadableError,
    code_lines,
    content_of,
)
from antiphon.knowledge.readers.front_matter import lines_of, split_front_matter
from antiphon.knowledge.readers.losses import Loss, Losses
from antiphon.knowledge.readers.markdown import markdown_lines
from antiphon.knowledge.readers.plain_text import clean, decode

MOST_OUTPUT_LINES = 200
"""Most of a cell's output: the rest is rows of data and progress, which nobody reads to the end."""
_LONGEST_OUTPUT_LINE = 3000
_OUTPUT = "output"
_ANSI = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
# Python's name for an object without text: "<Figure size 640x480 with 1 Axes>".
_OBJECT = re.compile(r"[\[(\s]{0,9}<[^<>]{1,500}>[\])\s,]{0,9}")
_MAGIC = re.compile(
    r"\s{0,99}%%(bash|sh|sql|html|javascript|js|latex|perl|ruby|R|julia|writefile)\b"
)


def read(data: bytes) -> Content:
    """Reads a notebook of format 3 or 4; its places are cells, counted from 1."""
    try:
        notebook = json.loads(decode(data))
    except ValueError as error:
        raise UnreadableError(f"it is not a notebook: {error}") from error
    cells = _cells(notebook)
    if cells is None:
        raise UnreadableError("it is not a notebook: it holds no list of cells")
    reading = _Notebook(_mapping(notebook.get("metadata")))
    lines = [
        line
        for number, cell in enumerate(cells, start=1)
        for line in reading.cell(number, cell)
    ]
    return content_of(
        lines, reading.values, _text(reading.values.get("name")), reading.losses.words
    )


def _cells(notebook: Any) -> list[Any] | None:
    """Returns the cells of format 4, or of the sheets of format 3; None if it has neither."""
    if not isinstance(notebook, dict):
        return None
    cells = notebook.get("cells")
    if isinstance(cells, list):
        return cells
    sheets = notebook.get("worksheets")
    if not isinstance(sheets, list):
        return None
    found: list[Any] = []
    for sheet in sheets:
        if isinstance(sheet, dict) and isinstance(sheet.get("cells"), list):
            found += sheet["cells"]
    return found


class _Notebook:
    """Converts a notebook to lines.

    Attributes:
        values: The fields that describe it, from its metadata or front matter.
    """

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        self.losses = Losses()
        self.values: dict[str, object] = {**metadata, **_author(metadata)}
        kernel = _mapping(metadata.get("kernelspec"))
        described = _mapping(metadata.get("language_info"))
        self._language = _text(described.get("name")) or _text(kernel.get("language"))

    def cell(self, number: int, cell: Any) -> Iterator[Line]:
        cell = _mapping(cell)
        hidden = _hidden_parts(cell)
        if "cell" in hidden:
            return
        # Format 3 calls the source of a code cell its input.
        text = clean(_text(cell.get("source", cell.get("input"))))
        lines = [] if "input" in hidden else self._lines(number, cell, text)
        if "output" not in hidden:
            lines += self._outputs(cell.get("outputs"))
        if lines:
            yield Line("", place=f"cell {number}")
            yield from lines
            yield BLANK

    def _lines(self, number: int, cell: Mapping[str, Any], text: str) -> list[Line]:
        if not text.strip():
            return []
        kind = cell.get("cell_type")
        if number == 1 and kind != "code":
            matter = split_front_matter(text)
            self.values.update(matter.values)
            return [*lines_of(matter.values), *self._written(kind, cell, matter.rest)]
        return self._written(kind, cell, text)

    def _written(self, kind: Any, cell: Mapping[str, Any], text: str) -> list[Line]:
        if kind == "markdown":
            return markdown_lines(text, self.losses)
        if kind == "heading":
            given = cell.get("level")
            level = given if isinstance(given, int) and 1 <= given <= 6 else 1
            return [Line(" ".join(text.split()), level=level)]
        if kind == "code":
            return code_lines(text, self._language_of(cell, text))
        return [Line(line) for line in text.split("\n")]

    def _language_of(self, cell: Mapping[str, Any], text: str) -> str:
        magic = _MAGIC.match(text)
        if magic is not None:
            return "" if magic[1] == "writefile" else magic[1].lower()
        editor = _mapping(_mapping(cell.get("metadata")).get("vscode"))
        named = (
            _text(editor.get("languageId"))
            or _text(cell.get("language"))
            or self._language
        )
        return re.sub(r"[^\w+#-]|^ipython3?$", "", named)[:30] or self._language[:30]

    def _outputs(self, outputs: Any) -> list[Line]:
        """Returns the output of a cell, as one block after its code."""
        printed: list[str] = []
        lines: list[Line] = []
        for output in outputs if isinstance(outputs, list) else []:
            output = _mapping(output)
            # Format 3 has the data of format 4 beside the other fields.
            shown = _mapping(output.get("data")) or output
            text = _printed(output, shown)
            if _has_picture(shown):
                self.losses.add(Loss.OUTPUT_PICTURE)
            elif "text/markdown" in shown:
                markdown = clean(_text(shown["text/markdown"]))
                lines += markdown_lines(markdown, self.losses)
            elif text.strip():
                printed.append(text.strip("\n"))
            elif "text/html" in shown:
                lines += self._page(_text(shown["text/html"]))
        return [*self._block("\n".join(printed)), *lines]

    def _page(self, page: str) -> list[Line]:
        """Returns the text of HTML output, which may be only scripts and comments."""
        try:
            web_page = importlib.import_module("antiphon.knowledge.readers.web_page")
            root = web_page.parse_page(page.encode())
        except ModuleNotFoundError:
            # Reading notebooks must work without the extra `documents`.
            self.losses.add(Loss.PAGE)
            return []
        except UnreadableError:
            return []
        return list(web_page.page_lines(root, self.losses))

    def _block(self, text: str) -> list[Line]:
        if not text:
            return []
        lines = text.split("\n")
        if len(lines) > MOST_OUTPUT_LINES:
            self.losses.add(Loss.OUTPUT)
        kept = [line[:_LONGEST_OUTPUT_LINE] for line in lines[:MOST_OUTPUT_LINES]]
        return [BLANK, *code_lines("\n".join(kept), _OUTPUT)]


def _has_picture(shown: Mapping[str, Any]) -> bool:
    names = ("png", "jpeg", "svg")
    return any(name.startswith("image/") or name in names for name in shown)


def _printed(output: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    """Returns the text of an output; nothing of warnings, and only the message of an error."""
    if output.get("name", output.get("stream")) == "stderr":
        return ""
    if output.get("output_type") in ("error", "pyerr"):
        return f"{_text(output.get('ename'))}: {clean(_text(output.get('evalue')))}"
    text = _text(shown.get("text/plain", shown.get("text")))
    lines = _ANSI.sub("", text).replace("\r\n", "\n").split("\n")
    # The next line of progress overwrites the last.
    text = clean("\n".join([line.rstrip("\r").rpartition("\r")[2] for line in lines]))
    return "" if _OBJECT.fullmatch(text) else text


def _hidden_parts(cell: Mapping[str, Any]) -> set[str]:
    """Returns the parts of a cell that its author hides in a book: "cell", "input", "output"."""
    tags = _mapping(cell.get("metadata")).get("tags")
    found = set()
    for tag in tags if isinstance(tags, list) else []:
        kind, _, part = str(tag).replace("_", "-").partition("-")
        if kind == "remove":
            found.add(part)
    return found


def _author(metadata: Mapping[str, Any]) -> dict[str, object]:
    authors = metadata.get("authors")
    if isinstance(authors, list) and authors:
        return {"author": _mapping(authors[0]).get("name", authors[0])}
    return {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    """Returns a text, which may be a list of its lines."""
    listed = value if isinstance(value, list) else [value]
    parts = [part for part in listed if isinstance(part, str)]
    # In format 2, and in notebooks of some programs, the lines of a list have no line breaks.
    has_ends = any(part.endswith("\n") for part in parts[:-1])
    return ("" if has_ends else "\n").join(parts)
