"""Renders an answer as HTML that is safe to show: Markdown, with citations as numbered marks, and all else as text.

An answer is hostile text. Markdown is read without HTML, links and images, so that nothing in it leads anywhere or is
fetched; then nh3 lets through only the few elements that are left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

import nh3
from markdown_it import MarkdownIt

from antiphon.api.formulas import (
    MATH_ATTRIBUTES,
    MATH_ELEMENTS,
    PLACES,
    formulas_in,
    read_formulas,
)
from antiphon.service import Outcome
from antiphon.vocabulary.outside import without_controls
from antiphon.vocabulary.values import Citation

MOST_CHARS = 200_000
"""A longer answer appears as plain text: no model writes so much, and reading it as Markdown takes seconds."""
MOST_NESTING = 100
"""The deepest nesting of lists and quotations; the reader leaves out anything deeper."""

ATTRIBUTES = {"sup": {"data-citation"}, "ol": {"start"}} | MATH_ATTRIBUTES
ELEMENTS = {
    "p", "br", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li", "hr", "sup",
    "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td",
} | MATH_ELEMENTS  # fmt: skip
"""All elements that an answer's HTML may hold; the pages check it once more (web/safe_html.js)."""

_OPEN, _CLOSE = "⸨", "⸩"
# Markdown treats them as punctuation, next to which ** still opens and closes as it would without them.


class Mark(NamedTuple):
    """A citation's mark and its place: before the character `at`."""

    at: int
    citation: int
    number: int


def html_of(outcome: Outcome, *, wanted: bool) -> str | None:
    """Returns the answer as HTML, or None if the caller wants none."""
    if not wanted:
        return None
    response = outcome.response
    return answer_html(response.answer, response.citations, response.sources)


def answer_html(
    answer: str, citations: Sequence[Citation], sources: Sequence[str]
) -> str:
    """Renders an answer; behind each cited span is `<sup data-citation="I">N</sup>`.

    I is the citation's place in `citations`, from 0, and N the number of its source in `sources`, from 1.
    """
    opening = _unused(answer)
    place = partial(_place, opening)
    pieces = list(with_marks(answer, citations, sources, place))
    marked = "".join(text for text, _ in pieces)
    rendered = _rendered(without_controls(marked), opening)
    for _, mark in pieces:
        if mark is None:
            continue
        element = f'<sup data-citation="{mark.citation}">{mark.number}</sup>'
        rendered = rendered.replace(_place(opening, mark), element)
    return cleaned(rendered)


def formulas_of(text: str) -> dict[str, str]:
    """Returns the formulas in a text that can be drawn, as MathML, by their source."""
    found = formulas_in(_markdown().parse(without_controls(text)))
    return {written: cleaned(drawn) for written, drawn in found.items()}


def cleaned(html: str) -> str:
    """Returns the HTML with only those elements and attributes that an answer may hold."""
    return nh3.clean(
        html, tags=ELEMENTS, attributes=ATTRIBUTES, url_schemes=set(), link_rel=None
    )


def _rendered(marked: str, opening: str) -> str:
    if len(marked) > MOST_CHARS:
        return f"<p>{nh3.clean_text(marked)}</p>"
    places = re.compile(rf"{opening}\d+{_CLOSE}")
    rendered: str = _markdown().render(marked, {PLACES: places})
    return rendered


@cache
def _markdown() -> MarkdownIt:
    return new_reader()


def new_reader() -> MarkdownIt:
    """Returns a reader of Markdown that knows tables, strikethrough and formulas, and no HTML, links or images."""
    reader = MarkdownIt(
        "commonmark", {"html": False, "breaks": True, "maxNesting": MOST_NESTING}
    )
    reader.enable(["table", "strikethrough"])
    read_formulas(reader)
    return reader.disable(
        ["link", "image", "autolink", "reference", "html_inline", "html_block"]
    )


def _marks(
    answer: str, citations: Sequence[Citation], sources: Sequence[str]
) -> list[Mark]:
    """Returns the marks in the order of the text; equal numbers at the same place give one mark."""
    marks: dict[tuple[int, int], Mark] = {}
    for index, citation in enumerate(citations):
        if citation.source not in sources:
            continue
        number = sources.index(citation.source) + 1
        end = min(max(citation.end, 0), len(answer))
        # A mark belongs right after its words: not on the next line, nor outside the cell of a table.
        at = len(answer[:end].rstrip(" \t\n|"))
        marks.setdefault((at, number), Mark(at, index, number))
    return sorted(marks.values())


def with_marks(
    answer: str,
    citations: Sequence[Citation],
    sources: Sequence[str],
    written: Callable[[Mark], str],
) -> Iterator[tuple[str, Mark | None]]:
    """Yields an answer in pieces: its own text and, after each cited span, its mark as `written` writes it."""
    done = 0
    for mark in _marks(answer, citations, sources):
        yield answer[done : mark.at], None
        # A line without letters, such as the end of a code block, would mean something else with a mark after it.
        if not any(map(str.isalnum, answer[: mark.at].rpartition("\n")[2])):
            yield "\n\n", None
        yield written(mark), mark
        done = mark.at
    yield answer[done:], None


def _place(opening: str, mark: Mark) -> str:
    return f"{opening}{mark.citation}{_CLOSE}"


def _unused(answer: str) -> str:
    """Returns a beginning of marks that the answer does not contain, so that nothing in it is taken for a mark."""
    opening = _OPEN
    while opening in answer:
        opening += "x"
    return opening
