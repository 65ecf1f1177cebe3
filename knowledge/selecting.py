"""Chooses passages from scored sentences: whole sentences, adjacent ones joined, within a budget of characters.

The best sentence opens a passage, and so does the next best in another place; one beside a passage extends it. A
passage lowers the weight of the question's terms that it holds, so that the next one should hold the others. Otherwise
a question about two things would get five passages about the one with the rarer name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from antiphon.knowledge.scoring import SentenceScores, Tuning
from antiphon.knowledge.stretches import SentenceRow
from antiphon.knowledge.vectors import Flags, Vector

# Most sentences between a passage and a sentence that joins it, so that a thought is not torn.
_GAP = 2
LONGEST_PASSAGE = 900
"""Characters beyond which a passage does not grow; a single longer sentence is still a passage."""


class Span(msgspec.Struct):
    """Sentences `first` to `last`, both included, of the row; `best` is the one that opened the passage."""

    first: int
    last: int
    best: int
    score: float


class Offer(NamedTuple):
    """A sentence that may be chosen next: its score, its cost in characters, and the passage that it joins, if any."""

    score: float
    sentence: int
    cost: int
    span: Span | None = None


class Selection:
    """The choice of passages."""

    def __init__(
        self,
        row: SentenceRow,
        scores: SentenceScores,
        banned: Flags,
        characters: int,
        limit: int,
        tuning: Tuning,
    ) -> None:
        self._scores = scores
        self._limit = limit
        self._tuning = tuning
        self._left = characters
        self._costs = row.ends - row.starts
        # Lists, because they are faster than arrays for single look-ups; `_open` is numpy's view of the same bytes.
        self._starts: list[int] = row.starts.tolist()
        self._ends: list[int] = row.ends.tolist()
        self._is_open = bytearray((row.stretch >= 0) & ~banned)
        self._open = np.frombuffer(self._is_open, dtype=np.bool_)
        self._weights = np.ones(len(scores.by_term), dtype=np.float32)
        self._most = np.maximum(scores.by_term.max(axis=1, initial=0.0), 1e-9)
        # Sentences that open a passage compete by their new content, those that extend one by their whole content.
        self._fresh = self._score()
        self._plain: list[float] = self._fresh.tolist()
        self.spans: list[Span] = []

    def run(self) -> list[Span]:
        """Chooses until the budget is used up; chooses the first sentence no matter how long it is."""
        while True:
            offer = self._best_offer()
            if offer is None:
                return self.spans
            self._left -= offer.cost
            if offer.span is None:
                self._start(offer)
            else:
                self._extend(offer.span, offer.sentence)

    def _score(self) -> Vector:
        # By einsum instead of BLAS, as in knowledge/vectors.py.
        by_term = np.einsum("i,ij->j", self._weights, self._scores.by_term)
        by_words = by_term + self._scores.absent
        total: Vector = self._scores.meaning + self._tuning.words * by_words
        return total

    def _best_offer(self) -> Offer | None:
        """Returns the best offer within the budget, the first of equal ones; None if there is none."""
        joining = self._joining()
        offers = [offer for offer in joining.values() if offer.cost <= self._left]
        if len(self.spans) < self._limit:
            offers += self._opening(list(joining))
        if not offers:
            return None
        return max(offers, key=lambda offer: (offer.score, -offer.sentence))

    def _opening(self, joining: Sequence[int]) -> list[Offer]:
        """Returns the best sentence to open a passage, of those that join none."""
        fits = self._open.copy()
        fits[joining] = False
        if self.spans:
            fits &= self._costs <= self._left
        best = int(np.argmax(np.where(fits, self._fresh, -np.inf)))
        if not fits[best]:
            return []
        return [Offer(float(self._fresh[best]), best, int(self._costs[best]))]

    def _joining(self) -> dict[int, Offer]:
        """Returns the sentences beside the passages that may join one; if two passages are near, with the later one."""
        offers: dict[int, Offer] = {}
        for span in self.spans:
            length = self._length(span.first, span.last)
            for sentence in self._around(span):
                first, last = min(span.first, sentence), max(span.last, sentence)
                grown = self._length(first, last)
                if grown <= LONGEST_PASSAGE:
                    score = self._plain[sentence]
                    offers[sentence] = Offer(score, sentence, grown - length, span)
        return offers

    def _around(self, span: Span) -> Iterator[int]:
        """Yields the sentences on either side that may join, up to the first that may not."""
        for sentence in range(span.last + 1, span.last + _GAP + 2):
            if not self._is_open[sentence]:
                break
            yield sentence
        # Stops at the first sentence of the row, because Python takes negative indexes from the end.
        for sentence in range(span.first - 1, max(span.first - _GAP - 2, -1), -1):
            if not self._is_open[sentence]:
                break
            yield sentence

    def _length(self, first: int, last: int) -> int:
        return self._ends[last] - self._starts[first]

    def _start(self, offer: Offer) -> None:
        sentence = offer.sentence
        self.spans.append(
            Span(first=sentence, last=sentence, best=sentence, score=offer.score)
        )
        self._open[sentence] = False
        share = self._scores.by_term[:, sentence] / self._most
        self._weights = self._weights * (1.0 - self._tuning.saturation * share)
        self._fresh = self._score()

    def _extend(self, span: Span, sentence: int) -> None:
        span.first = min(span.first, sentence)
        span.last = max(span.last, sentence)
        self._open[span.first : span.last + 1] = False
        self._join(span)

    def _join(self, span: Span) -> None:
        """Merges another passage that the extended one touches, if both together are not too long."""
        for other in self.spans:
            touches = other.last + 1 == span.first or span.last + 1 == other.first
            if not touches:
                continue
            first, last = min(span.first, other.first), max(span.last, other.last)
            if self._length(first, last) > LONGEST_PASSAGE:
                continue
            span.first, span.last = first, last
            if other.score > span.score:
                span.best, span.score = other.best, other.score
            self.spans.remove(other)
            return
