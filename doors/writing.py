"""Writes an answer for chat clients: Markdown, with a link behind each cited sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.api.answer_html import Mark, with_marks
from antiphon.doors.showing import Json, citation_of
from antiphon.service import Outcome
from antiphon.vocabulary.outside import without_controls
from antiphon.vocabulary.values import Usage

MOST_NOTES = 5
NOTE = "> Note: "
# The address excludes `[`, so that a mark never runs into the next one and no text is scanned twice.
_MARK = re.compile(r" ?\[\[\d{1,4}\]\]\([^)\s\[]{1,4000}\)")


class Written(NamedTuple):
    """An answer in the form that clients get.

    Attributes:
        links: For each number in the text, the position of its first mark, and its target.
        citations: Each cited span, and the words that it rests on.
        usage: The usage of its calls, including those that summarised.
    """

    query_id: str
    text: str
    links: Sequence[Json] = ()
    citations: Sequence[Json] = ()
    usage: Usage = Usage()


def written(outcome: Outcome, base_url: str) -> Written:
    """Writes an answer, with a link to the cited words behind each cited span, and its doubts at the end."""
    response = outcome.response
    citations = [
        citation_of(each, response.answer, base_url) for each in response.citations
    ]

    # Open WebUI reads a number as an index into the links, so each cited address has exactly one number and one link.
    numbers: dict[str, int] = {}

    def mark_of(mark: Mark) -> str:
        url = citations[mark.citation]["url"]
        if url is None:
            return ""
        return f" [[{numbers.setdefault(url, len(numbers) + 1)}]]({url})"

    text = ""
    links: list[Json] = []
    pieces = with_marks(response.answer, response.citations, response.sources, mark_of)
    for piece, mark in pieces:
        if mark is None:
            # Clients must not load a picture because a document names it.
            text += without_controls(piece).replace("![", r"!\[")
            continue
        # This mark's number is new; the indices leave out the space before the mark.
        if len(links) < len(numbers):
            place = {"start_index": len(text) + 1, "end_index": len(text) + len(piece)}
            cited = citations[mark.citation]
            links.append(place | {"url": cited["url"], "title": cited["source"]})
        text += piece
    notes = [f"{NOTE}{' '.join(doubt.detail.split())}" for doubt in response.indicators]
    if notes:
        text = "\n\n".join([text, "\n>\n".join(notes[:MOST_NOTES])])
    used = response.usage + response.summary_usage
    return Written(outcome.query_id, text, links, citations, used)


def without_marks(text: str) -> str:
    """Returns an answer of ours that a client sends back, without its links and notes."""
    before, _, _ = _MARK.sub("", text).partition(f"\n\n{NOTE}")
    return before
