"""Slides (.pptx): the text of each slide, then what the speaker says to it."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import pptx
from pptx.slide import Slide

from antiphon.knowledge.readers.archives import check_office_file
from antiphon.knowledge.readers.content import BLANK, Content, Line, content_of
from antiphon.knowledge.readers.plain_text import clean, one_line

MOST_SLIDES = 2_000
_DEEPEST_GROUP = 20


def read(data: bytes) -> Content:
    """Reads a presentation; a place is its slide, under the slide's title."""
    check_office_file("a presentation", data, "ppt/presentation.xml")
    presentation = pptx.Presentation(io.BytesIO(data))
    lines: list[Line] = []
    for number, slide in enumerate(presentation.slides, start=1):
        if number > MOST_SLIDES:
            break
        lines += _slide(number, slide)
    first_title = next((line.heading for line in lines if line.place), "")
    title = first_title or clean(presentation.core_properties.title).strip()
    return content_of(lines, {}, title or None)


def _slide(number: int, slide: Slide) -> Iterator[Line]:
    title_shape = slide.shapes.title
    title = "" if title_shape is None else one_line(title_shape.text_frame.text)
    yield BLANK
    yield Line("", place=f"slide {number}", heading=title)
    # Only a title that opens a lesson is read as a line; any other stands over its slide.
    if title.lower().startswith("lesson"):
        yield Line(title)
    others = [shape for shape in slide.shapes if shape != title_shape]
    yield from _shapes(others, depth=0)
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        if notes is not None:
            yield BLANK
            for paragraph in clean(notes.text).split("\n"):
                yield Line(paragraph)
                yield BLANK


def _shapes(shapes: Iterable[Any], depth: int) -> Iterator[Line]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _DEEPEST_GROUP:
            yield from _shapes(shape.shapes, depth + 1)
        elif getattr(shape, "has_table", False):
            yield from _table(shape.table)
        elif shape.has_text_frame:
            yield BLANK
            for paragraph in shape.text_frame.paragraphs:
                words = one_line(paragraph.text)
                if words:
                    yield Line(f"- {words}")


def _table(table: Any) -> Iterator[Line]:
    yield BLANK
    for row in table.rows:
        cells = [one_line(cell.text) for cell in row.cells]
        yield Line(f"| {' | '.join(cells)} |")
