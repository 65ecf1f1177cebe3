"""Search by several phrasings of one need, and one result out of what each of them finds.

They are fused by reciprocal rank, for the searches of a tenant's courses go over two indexes, whose scores cannot be
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
"""Damps what the first ranks count beside the later ones; the value of the paper."""
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
    """Searches by each phrasing, and if there are several by all of them at once, and fuses what is found; blocks.

    Args:
        known: Passages that earlier rounds found, which are not brought again.
    """
    queries = list(phrasings)
    # A passage that answers often holds words of several phrasings, and stands out most if all are asked together.
    if len(phrasings) > 1:
        queries.insert(0, ". ".join(phrasings))
    found = [
        search(query, place.course, place.lesson, known=known) for query in queries
    ]
    return fuse(found)


class _Ranked(NamedTuple):
    """A passage at its rank in one search, from 0, with what it is worth in all of them."""

    passage: Passage
    rank: int
    worth: float


def fuse(found: Sequence[Sequence[Passage]]) -> list[Passage]:
    """Fuses the results of several searches, each best first, into one that is no longer than the longest of them.

    Searches choose their passages sentence by sentence, so what two of them find is seldom the very same passage, and
    often parts of the same text: a passage counts for what any search ranks there, and of passages that share text only
    the best one is kept. Its score is its worth as a share of the best one's, times the best score in any search, so
    that it is of the size that scores of a single search have. One search alone is left as it is.
    """
    if len(found) == 1:
        return list(found[0])
    ranked: list[_Ranked] = []
    for passages in found:
        for rank, passage in enumerate(passages):
            ranked.append(_Ranked(passage, rank, _worth(passage, found)))
    # If the worth is equal the better rank decides, and then the earlier search.
    ranked.sort(key=lambda each: (-each.worth, each.rank))
    top = max([each.passage.score for each in ranked], default=0.0)
    fused = []
    for each in _fitting(ranked, found):
        share = each.worth / ranked[0].worth
        score = round(share * max(top, 0.0), _SCORE_DIGITS)
        fused.append(msgspec.structs.replace(each.passage, score=score))
    return fused


def _worth(passage: Passage, found: Sequence[Sequence[Passage]]) -> float:
    """Adds up the reciprocal ranks that the text of a passage has in the searches."""
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
    """Returns the best that share no text, as many passages and characters as the longest of the results has."""
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
