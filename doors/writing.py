"""An answer as chat clients show it: Markdown, a link behind each cited sentence."""

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
# Nothing of a mark is read twice: an address holds no bracket that begins another.
_MARK = re.compile(r" ?\[\[\d{1,4}\]\]\([^)\s\[]{1,4000}\)")


class Written(NamedTuple):
    """An answer as it is sent.

    Attributes:
        links: For each number in the text where it stands first, and where it leads.
        citations: What each cited span rests on.
        usage: What its calls used, those that summarised among them.
    """

    query_id: str
    text: str
    links: Sequence[Json] = ()
    citations: Sequence[Json] = ()
    usage: Usage = Usage()


def written(outcome: Outcome, base_url: str) -> Written:
    """Writes an answer: behind each cited span a link to the words that it rests on, and its doubts last."""
    response = outcome.response
    citations = [
        citation_of(each, response.answer, base_url) for each in response.citations
    ]

    # Open WebUI takes the number for that of a link, so there is one link for each place that is cited.
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
            # No client is to load a picture that a document names.
            text += without_controls(piece).replace("![", r"!\[")
            continue
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
    """Returns an answer of ours, as a client sends it back, without its links and notes."""
    before, _, _ = _MARK.sub("", text).partition(f"\n\n{NOTE}")
    return before
