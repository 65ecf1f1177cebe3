"""Chooses what is shown of the passages that a search brought: one to three windows of whole sentences; pure.

The search has ranked the passages, and the first window is of its first one. Here only the sentence of a passage that
is likest the question is found, and as much around it as a reader takes in at a glance.
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
"""Passages that are side by side are shown as one: a longer one holds several that the search has found."""
MOST_TABLE_CHARS = 300
"""A longer table is shown by the one row that is wanted, and not with twenty more."""
NEAR = 0.7
"""A further window is shown if it is this much as like the question as the likest."""
MORE_WEIGHT = 0.3
"""For the share of the question that a further window holds and those before it do not."""
WORDS_WEIGHT = 0.3
"""For the share of the question that a sentence holds word by word: what is called `set_ef` is not what is like it."""
LITERAL_WEIGHT = 0.3
"""For holding what the question writes in signs, such as "$?" or "&&", which neither words nor meaning tell."""
MOST_COMPARED = 400
COMPARED_CHARS = 1_000
"""As many sentences are compared by meaning, and as much of each: a briefing has far less."""
_LITERAL = re.compile(r"(?<!\S)[^\w\s]*[$&|<>=@#%^~*\\/`+]+[^\w\s]*(?!\S)")


class Window(NamedTuple):
    """Neighbouring sentences `first` to `end` (exclusive) of one passage.

    Attributes:
        key: The sentence that most likely answers.
        worth: How like the question that sentence is, by meaning and by words.
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
        """Its text, and the words that it is under."""
        return f"{self.source.label} {self.text}"


class Looked(NamedTuple):
    """What was found in some passages for a question.

    Attributes:
        likeness: How like the question each sentence is, passage by passage: by words if meanings are not known.
        windows: What is to be shown.
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
    """Finds the windows: the first in any case, further ones if they come near the likest.

    Args:
        sources: The best first; each has sentences.
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
    """Adds the likest of the further windows, and those before others that hold more of the question."""
    while further and len(shown) < most:
        held = _held(shares, shown)
        gains: list[float] = []
        for window in further:
            more = shares.share(_held(shares, [window]) - held)
            gains.append(window.worth + MORE_WEIGHT * more)
        shown.append(further.pop(gains.index(max(gains))))
    return shown


def _held(shares: TermShares, shown: Sequence[Window]) -> frozenset[str]:
    """Returns the terms of the question that windows hold."""
    return shares.held(terms(" ".join([window.labelled for window in shown])))


def _windows_of(source: Source, worths: Sequence[float]) -> list[Window]:
    """Returns the windows of one passage, none of which touch, the likest first: one for each that was joined in it."""
    found: list[Window] = []
    most = ceil(sum(map(len, source.blocks)) / PASSAGE_CHARS)
    free = set(range(len(worths)))
    alone = rows_of_long_tables(source.blocks, MOST_TABLE_CHARS)
    while free and len(found) < most:
        key = max(sorted(free), key=worths.__getitem__)
        first, end = key, key + 1
        if key not in alone:
            first, end = _around(source.blocks, key, free - alone)
        found.append(Window(source, first, end, key, worths[key]))
        free.difference_update(range(first, end))
    return found


def _around(blocks: Sequence[str], key: int, free: AbstractSet[int]) -> tuple[int, int]:
    """Returns the free sentences around one, two behind it for each before it, while they are few enough to read."""
    first, end = key, key + 1
    room = MOST_CHARS - len(blocks[key])
    while True:
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
    """Returns what each sentence of a passage is worth, by its likeness, the words that it holds, and signs."""
    worths: list[float] = []
    for text, alike in zip(source.blocks, likeness, strict=True):
        # A line without a word, such as the end of a piece of code, tells nothing.
        worth = alike if words(text) else 0.0
        worth += WORDS_WEIGHT * shares.share(shares.held(terms(text)))
        worth += LITERAL_WEIGHT * any(literal in text for literal in literals)
        worths.append(worth)
    return worths


def _likeness(
    question: str, sources: Sequence[Source], shares: TermShares, measures: Measures
) -> list[float]:
    """Returns how like the question each sentence is: by meaning, or by the words that they share."""
    texts = [block for source in sources for block in source.blocks]
    if not texts:
        return []
    if measures.likeness is None:
        return [shares.share(shares.held(terms(text))) for text in texts]
    compared = [text[:COMPARED_CHARS] for text in texts[:MOST_COMPARED]]
    cosines = list(measures.likeness(question, compared))
    return cosines + [0.0] * (len(texts) - len(compared))


def _in_rows(values: list[float], sources: Sequence[Source]) -> list[list[float]]:
    """Returns values that follow one another as a row for each passage."""
    rows: list[list[float]] = []
    for source in sources:
        rows.append(values[: len(source.blocks)])
        del values[: len(source.blocks)]
    return rows


def _literals(question: str, sources: Sequence[Source]) -> list[str]:
    """Returns what the question writes in signs, without its closing mark if the texts write it so."""
    text = "".join([block for source in sources for block in source.blocks])
    literals: list[str] = []
    for literal in _LITERAL.findall(question):
        if literal not in text:
            literal = literal.rstrip("?!.,")
        if len(literal) > 1:
            literals.append(literal)
    return literals
