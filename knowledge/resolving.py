"""Resolution of a course's name: the title itself, a part of it, a misspelling, or another way to put it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from rapidfuzz import fuzz

from antiphon.knowledge.values import CourseMatch
from antiphon.knowledge.vectors import Vector
from antiphon.language.words import fold, stem, terms, words
from antiphon.vocabulary.values import Value

# Two words this alike (0 to 100) are one word, misspelt.
_SAME_WORD = 80.0
# Thresholds between the least alike true names and the most alike false ones, measured in
# tests/integration/test_knowledge_course_names.py: by letters, by meaning, and how far the best must lead.
_MIN_BY_LETTERS = 0.84
_MIN_BY_MEANING = 0.56
_MIN_LEAD = 0.06
_NEAREST = 3
# How much of the name the title holds decides; how much of the title the name covers breaks ties between
# "Logs" and "Logs in Practice".
_NAME_SHARE = 0.9
_TITLE_SHARE = 0.1


class CourseTitles:
    """The titles of one generation, ready to be compared with a name."""

    def __init__(self, vectors: Mapping[str, Vector]) -> None:
        self._titles = tuple(sorted(vectors))
        self._vectors = np.array(
            [vectors[title] for title in self._titles], dtype=np.float32
        )
        self._folded: dict[str, str] = {}
        self._words: dict[str, tuple[str, ...]] = {}
        for title in self._titles:
            self._folded[fold(title)] = title
            self._words[title] = _distinctive_words(title)

    def resolve(
        self, name: str, embed: Callable[[str], Sequence[float]]
    ) -> CourseMatch:
        """Finds the course that `name` means; the embedder is asked only where the letters do not decide."""
        exact = self._folded.get(fold(" ".join(name.split())))
        if exact is not None:
            return CourseMatch(title=exact, nearest=(exact,))
        if not self._titles or not name.strip():
            return CourseMatch(title=None, nearest=self._titles[:_NEAREST])
        by_letters = self._rank_by_letters(name)
        found = _clear_best(by_letters, _MIN_BY_LETTERS)
        if found is not None:
            return _match(found, by_letters)
        by_meaning = self._rank_by_meaning(embed(name))
        return _match(_clear_best(by_meaning, _MIN_BY_MEANING), by_meaning)

    def _rank_by_letters(self, name: str) -> list[_Scored]:
        name_words = _distinctive_words(name)
        scored = []
        for title, title_words in self._words.items():
            scored.append(
                _Scored(title=title, score=_likeness(name_words, title_words))
            )
        return _best_first(scored)

    def _rank_by_meaning(self, vector: Sequence[float]) -> list[_Scored]:
        cosines = self._vectors @ np.asarray(vector, dtype=np.float32)
        scored = []
        for title, cosine in zip(self._titles, cosines.tolist(), strict=True):
            scored.append(_Scored(title=title, score=cosine))
        return _best_first(scored)


class _Scored(Value, frozen=True, kw_only=True):
    """A title and its likeness to a name."""

    title: str
    score: float


def _best_first(scored: list[_Scored]) -> list[_Scored]:
    return sorted(scored, key=lambda each: (-each.score, each.title))


def _clear_best(ranked: Sequence[_Scored], threshold: float) -> str | None:
    """Returns the best, if it is good enough and clearly ahead of the second."""
    best = ranked[0]
    if best.score < threshold:
        return None
    if len(ranked) > 1 and best.score - ranked[1].score < _MIN_LEAD:
        return None
    return best.title


def _likeness(name: Sequence[str], title: Sequence[str]) -> float:
    """Returns how much of the name stands in the title, 0 to 1, with a little for how much of the title it covers."""
    if not name or not title:
        return 0.0
    return _NAME_SHARE * _share_found(name, title) + _TITLE_SHARE * _share_found(
        title, name
    )


def _share_found(wanted: Sequence[str], offered: Sequence[str]) -> float:
    """Returns how much of the wanted words is offered, 0 to 1: of each the likeness of its nearest."""
    total = 0.0
    for word in wanted:
        total += max(_word_likeness(word, other) for other in offered)
    return total / len(wanted)


def _word_likeness(word: str, other: str) -> float:
    if stem(word) == stem(other):
        return 1.0
    ratio = fuzz.ratio(word, other)
    if ratio < _SAME_WORD:
        return 0.0
    return ratio / 100


def _distinctive_words(text: str) -> tuple[str, ...]:
    """Returns the words that set titles apart; all of them where none does."""
    every = words(text)
    distinctive = []
    for word in every:
        # A stop word has no terms.
        if terms(word):
            distinctive.append(word)
    if not distinctive:
        return tuple(every)
    return tuple(distinctive)


def _match(title: str | None, ranked: Sequence[_Scored]) -> CourseMatch:
    return CourseMatch(
        title=title, nearest=tuple(scored.title for scored in ranked[:_NEAREST])
    )
