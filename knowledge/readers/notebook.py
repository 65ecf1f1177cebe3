"""Jupyter notebooks: the text of their cells and their code, without what it printed."""

from __future__ import annotations

import json
from typing import Any

from antiphon.knowledge.readers.content import (
    BLANK,
    Content,
    Line,
    UnreadableError,
    code_lines,
    content_of,
)
from antiphon.knowledge.readers.losses import Losses
from antiphon.knowledge.readers.markdown import markdown_lines
from antiphon.knowledge.readers.plain_text import clean, decode


def read(data: bytes) -> Content:
    """Reads a notebook of format 3 or 4; a place is its cell, counted from 1."""
    try:
        notebook = json.loads(decode(data))
    except ValueError as error:
        raise UnreadableError(f"it is not a notebook: {error}") from error
    cells = _cells(notebook)
    if cells is None:
        raise UnreadableError("it is not a notebook: it holds no list of cells")
    lines: list[Line] = []
    for number, cell in enumerate(cells, start=1):
        text = _source(cell)
        if text.strip():
            lines.append(Line("", place=f"cell {number}"))
            lines += _cell_lines(cell, text)
            lines.append(BLANK)
    found = notebook.get("metadata")
    metadata = found if isinstance(found, dict) else {}
    return content_of(lines, metadata)


def _cells(notebook: Any) -> list[Any] | None:
    """Returns the cells of format 4, or of the sheets of format 3; None where it has neither."""
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


def _source(cell: Any) -> str:
    if not isinstance(cell, dict):
        return ""
    # Format 3 calls the source of a code cell its input.
    source = cell.get("source", cell.get("input", ""))
    parts = source if isinstance(source, list) else [source]
    return clean("".join(map(str, parts)))


def _cell_lines(cell: dict[str, Any], text: str) -> list[Line]:
    kind = cell.get("cell_type")
    if kind == "markdown":
        return markdown_lines(text, Losses())
    if kind == "heading":
        return [Line(" ".join(text.split()), level=1)]
    if kind == "code":
        return code_lines(text)
    return [Line(line) for line in text.split("\n")]
