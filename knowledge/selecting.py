"""Passages out of scored sentences: whole sentences, adjacent ones joined, within a budget of characters.

The best sentence opens a passage, and so does the next that lies elsewhere; one beside a passage makes it longer. A
passage takes some of their weight from the question's terms that it holds: the next should hold the others. Without
that a question about two things brings five passages about the one whose name is rarer.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from antiphon.knowledge.scoring import SentenceScores, Tuning
from antiphon.knowledge.stretches import SentenceRow
from antiphon.knowledge.vectors import Flags, Numbers, Vector

# Sentences left out between a passage and a sentence that still join, so that a thought is not torn.
_GAP = 2
LONGEST_PASSAGE = 900
"""Characters beyond which a passage does not grow; a longer sentence is one all the same."""


class Span(msgspec.Struct):
    """Sentences `first` to `last`, both included, of the row; `best` is the one that opened the passage."""

    first: int
    last: int
    best: int
    score: float


class Selection:
    """Passages being chosen."""

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
        # Looked up one by one, which lists do faster than arrays.
        self._starts: list[int] = row.starts.tolist()
        self._ends: list[int] = row.ends.tolist()
        self._weights = np.ones(len(scores.by_term), dtype=np.float32)
        self._most = np.maximum(scores.by_term.max(axis=1, initial=0.0), 1e-9)
        self._open = (row.stretch >= 0) & ~banned
        # Those that open a passage compete by what is new in them, those that make one longer by all that they say.
        self._plain = self._score()
        self._fresh = self._plain
        self.spans: list[Span] = []

    def run(self) -> list[Span]:
        """Chooses until the budget is used up; the first sentence is chosen however long it is."""
        while True:
            costs, scores, owners = self._offers()
            fits = self._open & (costs <= self._left) & np.isfinite(scores)
            if not self.spans:
                fits = self._open
            if not fits.any():
                return self.spans
            best = int(np.argmax(np.where(fits, scores, -np.inf)))
            self._left -= int(costs[best])
            owner = int(owners[best])
            if owner < 0:
                self._start(best, float(scores[best]))
            else:
                self._extend(self.spans[owner], best)

    def _score(self) -> Vector:
        # By einsum and not BLAS, as in knowledge/scoring.py.
        by_term = np.einsum("i,ij->j", self._weights, self._scores.by_term)
        by_words = by_term + self._scores.absent
        total: Vector = self._scores.meaning + self._tuning.words * by_words
        return total

    def _offers(self) -> tuple[Numbers, Vector, Numbers]:
        """Returns what each sentence would cost in characters, its score, and the passage that it would join."""
        costs = self._costs.copy()
        scores = self._fresh.copy()
        owners = np.full(len(scores), -1)
        if len(self.spans) >= self._limit:
            scores[:] = -np.inf
        for number, span in enumerate(self.spans):
            for sentence in self._around(span):
                first, last = min(span.first, sentence), max(span.last, sentence)
                length = self._length(first, last)
                if length <= LONGEST_PASSAGE:
                    costs[sentence] = length - self._length(span.first, span.last)
                    scores[sentence] = self._plain[sentence]
                    owners[sentence] = number
        return costs, scores, owners

    def _around(self, span: Span) -> Iterator[int]:
        """Yields the sentences on either side that could still be joined, up to the first that could not."""
        for step in range(1, _GAP + 2):
            if not self._open[span.last + step]:
                break
            yield span.last + step
        for step in range(1, _GAP + 2):
            # The row has no sentence before the first, and numpy counts on from its end.
            if span.first < step or not self._open[span.first - step]:
                break
            yield span.first - step

    def _length(self, first: int, last: int) -> int:
        return self._ends[last] - self._starts[first]

    def _start(self, sentence: int, score: float) -> None:
        self.spans.append(
            Span(first=sentence, last=sentence, best=sentence, score=score)
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
        """Takes in another passage that the grown one touches, where both together are not too long."""
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
