"""Chooses the parts of the found passages to show: one to three windows of whole sentences; pure.

The search has ranked the passages, and the first window comes from its first one. Here it only remains to find the
sentence of a passage most like the question, and as much around it as a reader takes in at a glance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import ceil
from typing import NamedTuple

from antiphon.engine.offline.layout import rows_of_long_tables
from antiphon.engine.offline.task import Source
from antiphon.language.evidence import Measures, TermShares, question_shares
from antiphon.language.words import terms, words

MOST_WINDOWS = 3
MOST_CHARS = 600
PASSAGE_CHARS = 900
"""Adjacent passages come joined as one, so a passage longer than this holds several that the search found."""
MOST_TABLE_CHARS = 300
"""Of a longer table only the best row is shown, not with twenty more."""
NEAR = 0.7
"""The least likeness of a further window, relative to the likest."""
MORE_WEIGHT = 0.3
"""Weight of the share of the question that a further window adds to those before it."""
WORDS_WEIGHT = 0.3
"""Weight of the share of the question that a sentence contains literally: `set_ef` is not something merely like it."""
LITERAL_WEIGHT = 0.3
"""Weight of containing the question's signs, such as "$?" or "&&", which count neither as words nor as meaning."""
MOST_COMPARED = 400
COMPARED_CHARS = 1_000
"""Limits on the number of sentences compared by meaning, and on their lengths: a briefing has far less."""
_LITERAL = re.compile(r"(?<!\S)[^\w\s]*[$&|<>=@#%^~*\\/`+]+[^\w\s]*(?!\S)")


class Window(NamedTuple):
    """Neighbouring sentences `first` to `end` (exclusive) of one passage.

    Attributes:
        key: The sentence that most likely answers.
        worth: The likeness of that sentence to the question, by meaning and by words.
    """

    source: Source
    first: int
    end: int
    key: int
    worth: float

    @property
    def text(self) -> str:
        return "".join(self.source.blocks[self.first : self.end])

    @property
    def labelled(self) -> str:
        """Its text, with the words of its headings."""
        return f"{self.source.label} {self.text}"


class Looked(NamedTuple):
    """The result of searching some passages for a question's answer.

    Attributes:
        likeness: The likeness of each sentence to the question, by passage; by words if meanings are not known.
        windows: The windows to show.
    """

    sources: Sequence[Source]
    likeness: Sequence[Sequence[float]]
    windows: Sequence[Window]


def look(
    question: str,
    sources: Sequence[Source],
    measures: Measures,
    most: int = MOST_WINDOWS,
    near: float = NEAR,
) -> Looked:
    """Finds the windows: always the first, and further ones if they come near the likest.

    Args:
        sources: The passages, best first; each has sentences.
    """
    shares = question_shares(question, measures.weigh)
    likeness = _in_rows(_likeness(question, sources, shares, measures), sources)
    literals = _literals(question, sources)
    found: list[Window] = []
    for source, row in zip(sources[:most], likeness, strict=False):
        found += _windows_of(source, _worths(source, row, shares, literals))
    best = max([window.worth for window in found], default=0.0)
    further = [window for window in found[1:] if window.worth >= near * best]
    return Looked(sources, likeness, _chosen(found[:1], further, shares, most))


def _chosen(
    shown: list[Window], further: list[Window], shares: TermShares, most: int
) -> list[Window]:
    """Adds the best of the further windows, by likeness and by what they add to the question's covered terms."""
    while further and len(shown) < most:
        held = _held(shares, shown)
        gains: list[float] = []
        for window in further:
            more = shares.share(_held(shares, [window]) - held)
            gains.append(window.worth + MORE_WEIGHT * more)
        shown.append(further.pop(gains.index(max(gains))))
    return shown


def _held(shares: TermShares, shown: Sequence[Window]) -> frozenset[str]:
    """Returns the terms of the question that occur in the windows."""
    return shares.held(terms(" ".join([window.labelled for window in shown])))


def _windows_of(source: Source, worths: Sequence[float]) -> list[Window]:
    """Returns disjoint windows of one passage, likest first: as many as passages were joined in it."""
    found: list[Window] = []
    most = ceil(sum(map(len, source.blocks)) / PASSAGE_CHARS)
    free = set(range(len(worths)))
    alone = rows_of_long_tables(source.blocks, MOST_TABLE_CHARS)
    while free and len(found) < most:
        # Sorted, so that of equally good sentences the first one wins.
        key = max(sorted(free), key=worths.__getitem__)
        first, end = key, key + 1
        if key not in alone:
            first, end = _around(source.blocks, key, free - alone)
        found.append(Window(source, first, end, key, worths[key]))
        free.difference_update(range(first, end))
    return found


def _around(blocks: Sequence[str], key: int, free: AbstractSet[int]) -> tuple[int, int]:
    """Returns the free sentences around one, two after it for each before it, within a readable length."""
    first, end = key, key + 1
    room = MOST_CHARS - len(blocks[key])
    while True:
        # A side without a free sentence gets a length that never fits.
        behind = len(blocks[end]) if end in free else room + 1
        before = len(blocks[first - 1]) if first - 1 in free else room + 1
        if min(behind, before) > room:
            return first, end
        has_few_behind = end - key - 1 <= 2 * (key - first)
        if behind <= room and (has_few_behind or before > room):
            end += 1
            room -= behind
        else:
            first -= 1
            room -= before


def _worths(
    source: Source,
    likeness: Sequence[float],
    shares: TermShares,
    literals: Sequence[str],
) -> list[float]:
    """Returns the worth of each sentence of a passage, by likeness, shared words, and signs."""
    worths: list[float] = []
    for text, alike in zip(source.blocks, likeness, strict=True):
        # A line without words, such as the end of some code, has no meaning to compare.
        worth = alike if words(text) else 0.0
        worth += WORDS_WEIGHT * shares.share(shares.held(terms(text)))
        worth += LITERAL_WEIGHT * any(literal in text for literal in literals)
        worths.append(worth)
    return worths


def _likeness(
    question: str, sources: Sequence[Source], shares: TermShares, measures: Measures
) -> list[float]:
    """Returns the likeness of each sentence to the question, by meaning or by shared words."""
    texts = [block for source in sources for block in source.blocks]
    if not texts:
        return []
    if measures.likeness is None:
        return [shares.share(shares.held(terms(text))) for text in texts]
    compared = [text[:COMPARED_CHARS] for text in texts[:MOST_COMPARED]]
    cosines = list(measures.likeness(question, compared))
    return cosines + [0.0] * (len(texts) - len(compared))


def _in_rows(values: list[float], sources: Sequence[Source]) -> list[list[float]]:
    """Splits a flat list of values into one row per passage."""
    rows: list[list[float]] = []
    for source in sources:
        rows.append(values[: len(source.blocks)])
        del values[: len(source.blocks)]
    return rows


def _literals(question: str, sources: Sequence[Source]) -> list[str]:
    """Returns the signs in the question, without a closing mark unless the texts contain them with it."""
    text = "".join([block for source in sources for block in source.blocks])
    literals: list[str] = []
    for literal in _LITERAL.findall(question):
        if literal not in text:
            literal = literal.rstrip("?!.,")
        if len(literal) > 1:
            literals.append(literal)
    return literals
