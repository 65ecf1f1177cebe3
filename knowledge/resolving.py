"""Which course a name means: the title itself, a part of it, a misspelling, or another way to say it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from rapidfuzz import fuzz

from antiphon.knowledge.course import CourseMatch
from antiphon.knowledge.vectors import Vector
from antiphon.language.words import fold, stem, terms, words
from antiphon.vocabulary.values import Value

_SAME_WORD = 80.0
"""Two words this alike (0 to 100) are one word, misspelt."""
_FUZZY = 0.84
_MEANING = 0.56
_LEAD = 0.06
"""Thresholds between the least alike true names and the most alike false ones, measured in
tests/integration/test_knowledge_course_names.py: by letters, by meaning, and how far the best must lead."""
_NEAREST = 3


class CourseTitles:
    """The titles of one generation, ready to be compared with a name."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._titles = tuple(sorted(vectors))
        self._folded = {fold(title): title for title in self._titles}
        self._words = {title: _telling(title) for title in self._titles}
        self._vectors = np.array([vectors[title] for title in self._titles], dtype=np.float32)

    def resolve(self, name: str, embed: Callable[[str], Sequence[float]]) -> CourseMatch:
        """The course that `name` means; the embedder is asked only where the letters do not tell."""
        exact = self._folded.get(fold(" ".join(name.split())))
        if exact is not None:
            return CourseMatch(title=exact, nearest=(exact,))
        if not self._titles or not name.strip():
            return CourseMatch(title=None, nearest=self._titles[:_NEAREST])
        by_letters = rank({title: likeness(_telling(name), own) for title, own in self._words.items()})
        found = pick(by_letters, _FUZZY)
        if found is not None:
            return _match(found, by_letters)
        cosines = (self._vectors @ np.asarray(embed(name), dtype=np.float32)).tolist()
        by_meaning = rank(dict(zip(self._titles, cosines, strict=True)))
        return _match(pick(by_meaning, _MEANING), by_meaning)


class Scored(Value, frozen=True, kw_only=True):
    """A title and how well it meets a name."""

    title: str
    score: float


def rank(scores: Mapping[str, float]) -> list[Scored]:
    """Best first."""
    ordered = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    return [Scored(title=title, score=score) for title, score in ordered]


def pick(ranked: Sequence[Scored], threshold: float) -> str | None:
    """The best, where it is good enough and clearly ahead of the second."""
    if ranked[0].score < threshold:
        return None
    alone = len(ranked) == 1 or ranked[0].score - ranked[1].score >= _LEAD
    return ranked[0].title if alone else None


def likeness(name: Sequence[str], title: Sequence[str]) -> float:
    """How much of the name stands in the title, 0 to 1, with a little for how much of the title it covers."""
    if not name or not title:
        return 0.0
    found = sum(max(_same(word, other) for other in title) for word in name) / len(name)
    covered = sum(max(_same(word, other) for other in name) for word in title) / len(title)
    return 0.9 * found + 0.1 * covered


def _same(word: str, other: str) -> float:
    if stem(word) == stem(other):
        return 1.0
    ratio = fuzz.ratio(word, other)
    return ratio / 100 if ratio >= _SAME_WORD else 0.0


def _telling(text: str) -> tuple[str, ...]:
    """The words that tell one title from another; all of them where none does."""
    every = words(text)
    return tuple(word for word in every if terms(word)) or tuple(every)


def _match(title: str | None, ranked: Sequence[Scored]) -> CourseMatch:
    return CourseMatch(title=title, nearest=tuple(one.title for one in ranked[:_NEAREST]))
