"""Searches by several phrasings of one need, and fuses the results into one.

They are fused by reciprocal rank, because searches of a tenant's courses use two indexes whose scores cannot be
compared (G. V. Cormack, C. L. A. Clarke, S. Büttcher: "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009, https://plg.uwaterloo.ca/~gvcormac/cormacksigir09-rrf.pdf).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import msgspec

from antiphon.dispatcher.places import Place
from antiphon.vocabulary.values import Passage

RANK_CONSTANT = 60
"""Damps the weight of the first ranks relative to later ones; the value is the paper's."""
_SCORE_DIGITS = 4


class Search(Protocol):
    """One of the library's searches; it blocks."""

    def __call__(
        self,
        query: str,
        course: str | None,
        lesson: int | None,
        *,
        known: Sequence[Passage] = (),
    ) -> list[Passage]: ...


def search_phrasings(
    search: Search, phrasings: Sequence[str], place: Place, known: Sequence[Passage]
) -> list[Passage]:
    """Searches by each phrasing and, if there are several, by all of them joined; fuses the results; blocks.

    Args:
        known: Passages that earlier rounds found, which the result leaves out.
    """
    queries = list(phrasings)
    # A passage that answers often holds words of several phrasings, and a search for all of them ranks it highest.
    if len(phrasings) > 1:
        queries.insert(0, ". ".join(phrasings))
    found = [
        search(query, place.course, place.lesson, known=known) for query in queries
    ]
    return fuse(found)


class _Ranked(NamedTuple):
    """A passage, its rank in one search (from 0), and its worth over all searches."""

    passage: Passage
    rank: int
    worth: float


def fuse(found: Sequence[Sequence[Passage]]) -> list[Passage]:
    """Fuses the results of several searches, each best first, into one no longer than the longest of them.

    Searches choose passages sentence by sentence, so two of them seldom find the same passage, but often parts of the
    same text. A passage therefore collects the ranks of all passages that overlap it, and of those that share text only
    the best is kept. Its score is its worth as a share of the best one's, times the best score in any search, so that
    it is in the range of a single search's scores. The result of one search alone is returned unchanged.
    """
    if len(found) == 1:
        return list(found[0])
    ranked: list[_Ranked] = []
    for passages in found:
        for rank, passage in enumerate(passages):
            ranked.append(_Ranked(passage, rank, _worth(passage, found)))
    # Equal worth: the better rank decides, then (the sort is stable) the earlier search.
    ranked.sort(key=lambda each: (-each.worth, each.rank))
    top = max([each.passage.score for each in ranked], default=0.0)
    fused = []
    for each in _fitting(ranked, found):
        share = each.worth / ranked[0].worth
        score = round(share * max(top, 0.0), _SCORE_DIGITS)
        fused.append(msgspec.structs.replace(each.passage, score=score))
    return fused


def _worth(passage: Passage, found: Sequence[Sequence[Passage]]) -> float:
    """Adds up the reciprocal ranks of a passage's text in the searches."""
    worth = 0.0
    for passages in found:
        for rank, other in enumerate(passages, start=1):
            if share_text(passage, other):
                worth += 1 / (RANK_CONSTANT + rank)
                break
    return worth


def _fitting(
    ranked: Sequence[_Ranked], found: Sequence[Sequence[Passage]]
) -> list[_Ranked]:
    """Returns the best that share no text, within the most passages and most characters of any one result."""
    most = max(map(len, found), default=0)
    left = max(map(_size, found), default=0)
    chosen: list[_Ranked] = []
    for each in ranked:
        size = _size([each.passage])
        repeats = any(share_text(each.passage, other.passage) for other in chosen)
        if len(chosen) < most and size <= left and not repeats:
            chosen.append(each)
            left -= size
    return chosen


def _size(passages: Sequence[Passage]) -> int:
    return sum(len(passage.text.text) for passage in passages)


def share_text(one: Passage, other: Passage) -> bool:
    """Returns True if two passages are the same, or overlap in the text of one lesson."""
    if one.id == other.id:
        return True
    if one.start is None or other.start is None or _place(one) != _place(other):
        return False
    one_end = one.start + len(one.text.text)
    other_end = other.start + len(other.text.text)
    return one.start < other_end and other.start < one_end


def _place(passage: Passage) -> tuple[str | None, int | None, str | None]:
    return passage.course, passage.lesson, passage.title
