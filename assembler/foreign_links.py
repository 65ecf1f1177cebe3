"""Removes addresses from an answer that none of its sources mentions: a browser that follows one may leak data.

A document or a tool may order the model to show a picture from an address with private text in it. Addresses in a
source, in the question or in the conversation stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from antiphon.assembler.answer_state import AnswerState
from antiphon.language.links import FoundLink, comparable, leads_to_one_of, links_in
from antiphon.vocabulary.values import Citation, Passage

REMOVED = "(link removed)"
"""Replaces an address."""


class WithoutLinks(NamedTuple):
    """An answer without foreign addresses, its citations moved accordingly, and the number of addresses removed."""

    text: str
    citations: tuple[Citation, ...]
    removed: int


def without_foreign_links(
    text: str, citations: Sequence[Citation], state: AnswerState
) -> WithoutLinks:
    """Returns the answer with every foreign address replaced."""
    # Most answers hold no address: then the findings need not be searched for known ones.
    found = links_in(text)
    if not found:
        return WithoutLinks(text, tuple(citations), 0)
    known = set(_known_links(state))
    foreign = [link for link in found if not leads_to_one_of(link.address, known)]
    if not foreign:
        return WithoutLinks(text, tuple(citations), 0)
    pieces: list[str] = []
    done = 0
    for link in foreign:
        pieces += (text[done : link.start], REMOVED)
        done = link.end
    pieces.append(text[done:])
    moved: list[Citation] = []
    for citation in citations:
        start, end = _moved(citation.start, foreign), _moved(citation.end, foreign)
        moved.append(replace(citation, start=start, end=end))
    return WithoutLinks("".join(pieces), tuple(moved), len(foreign))


def _moved(at: int, foreign: Sequence[FoundLink]) -> int:
    """Returns the new offset of a place in the text once the addresses before it are replaced."""
    shift = 0
    for link in foreign:
        if at <= link.start:
            break
        # A place inside an address moves to the end of its replacement.
        if at < link.end:
            return link.start + shift + len(REMOVED)
        shift += len(REMOVED) - (link.end - link.start)
    return at + shift


def _known_links(state: AnswerState) -> Iterator[str]:
    for text in _texts(state):
        for link in links_in(text):
            yield comparable(link.address)
    for fact in state.facts:
        for address in _links_of(fact.passage):
            yield comparable(address)


def _texts(state: AnswerState) -> Iterator[str]:
    yield state.question
    for exchange in state.history:
        yield exchange.question
        yield exchange.answer
    for fact in state.facts:
        passage = fact.passage
        yield from (passage.source, passage.title or "", passage.text.text)


def _links_of(passage: Passage) -> Iterable[str]:
    links = [place.link for place in passage.places]
    return [link for link in (passage.link, *links) if link]
