"""Finds passages that say nearly what an earlier one says, in time linear in their text.

Two texts are compared by their runs of four words (shingles; Broder, "On the resemblance and containment of
documents", 1997, https://doi.org/10.1109/SEQUEN.1997.666900): who shares four fifths of them repeats the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

from antiphon.language.words import words
from antiphon.vocabulary.values import Fact

RUN = 4
LEAST_SHARED = 0.8
FEWEST_WORDS = 8
"""Shorter texts are alike too easily."""

Shingle = tuple[str, ...]


@lru_cache(maxsize=128)  # the same passages are found by one question after another
def shingles(text: str) -> frozenset[Shingle]:
    """The runs of words of `text`; none where it is too short to be judged."""
    found = words(text)
    if len(found) < FEWEST_WORDS:
        return frozenset()
    return frozenset(tuple(found[at : at + RUN]) for at in range(len(found) - RUN + 1))


class Likeness:
    """The texts seen so far: each run of words with the first fact that holds it."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._first: dict[Shingle, str] = {}
        for fact in facts:
            self.add(fact.id, shingles(fact.passage.text.text))

    def add(self, fact_id: str, runs: frozenset[Shingle]) -> None:
        for run in runs:
            self._first.setdefault(run, fact_id)

    def like(self, runs: frozenset[Shingle]) -> str | None:
        """The fact that holds nearly all of `runs`."""
        votes = Counter(self._first[run] for run in runs if run in self._first)
        best = max(votes, key=lambda id_: (votes[id_], -int(id_[1:])), default=None)
        return best if best is not None and votes[best] >= LEAST_SHARED * len(runs) else None
