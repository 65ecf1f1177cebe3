"""Resolves a course's name: its title, a part of it, a misspelling, its teacher, or another wording.

Titles of lessons are ranked by the same rules (knowledge/lessons.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from rapidfuzz import fuzz

from antiphon.knowledge.values import CourseMatch
from antiphon.knowledge.vectors import Vector
from antiphon.language.words import fold, stem, terms, words
from antiphon.vocabulary.values import Value

# Two words this alike (0 to 100) count as one word, misspelt.
_SAME_WORD = 80.0
_SURELY_SAME = 85.0
_LONG_WORD = 6
# Thresholds between the least alike true names and the most alike false ones, measured in
# tests/integration/test_knowledge_course_names.py: by letters, by meaning, and the lead that the best one needs.
MIN_BY_LETTERS = 0.84
_MIN_BY_MEANING = 0.56
_MIN_LEAD = 0.06
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9}){0,3}")
NEAREST = 3
"""Most titles to suggest if the name means none clearly."""
_MOST_WORDS = 16
"""Most words of a name to compare: a hostile one has hundreds, and each would be compared with every title's words."""
# The share of the name in the title decides; the share of the title in the name breaks ties between "Logs" and "Logs in
# Practice".
_NAME_SHARE = 0.9
_TITLE_SHARE = 0.1


class CourseTitles:
    """The titles of one generation, prepared for comparing with a name.

    Args:
        vectors: The vector of each title.
        instructors: The instructor of each course, if known.
    """

    def __init__(
        self,
        vectors: Mapping[str, Vector],
        instructors: Mapping[str, str] | None = None,
    ) -> None:
        self._titles = tuple(sorted(vectors))
        self._vectors = np.array(
            [vectors[title] for title in self._titles], dtype=np.float32
        )
        self._folded: dict[str, str] = {}
        self._words: dict[str, tuple[str, ...]] = {}
        for title in self._titles:
            self._folded[fold(title)] = title
            self._words[title] = distinctive_words(title)
        self._instructors = {
            title: frozenset(words(instructor))
            for title, instructor in (instructors or {}).items()
        }

    def resolve(
        self, name: str, embed: Callable[[str], Sequence[float]]
    ) -> CourseMatch:
        """Finds the course that `name` means; the embedder is used only if the letters do not decide."""
        exact = self._folded.get(fold(" ".join(name.split())))
        if exact is not None:
            return CourseMatch(title=exact, nearest=(exact,))
        if not self._titles or not name.strip():
            return CourseMatch(title=None, nearest=self._titles[:NEAREST])
        by_letters = rank_by_letters(name, self._words)
        meant = _with_numbers_of(name, by_letters)
        found = clear_best(meant, MIN_BY_LETTERS) or self._only_course_of(name)
        # If several titles hold the whole name, meaning makes none of them likelier.
        holding = [each for each in meant if each.score >= MIN_BY_LETTERS]
        if found is not None or not meant or len(holding) > 1:
            return _match(found, by_letters)
        by_meaning = self._rank_by_meaning(embed(name))
        meant = _with_numbers_of(name, by_meaning)
        return _match(clear_best(meant, _MIN_BY_MEANING), by_meaning)

    def _only_course_of(self, name: str) -> str | None:
        """Returns the course of the instructor with this name, in whole or in part, if there is exactly one."""
        asked = frozenset(distinctive_words(name))
        if not asked:
            return None
        found = [title for title, held in self._instructors.items() if asked <= held]
        return found[0] if len(found) == 1 else None

    def _rank_by_meaning(self, vector: Sequence[float]) -> list[Scored]:
        return rank_by_meaning(vector, self._titles, self._vectors)


def _with_numbers_of(name: str, ranked: Sequence[Scored]) -> list[Scored]:
    """Returns the titles that have all numbers of a name: "18.05" is not 18.06, and 2021 is no other year."""
    wanted = _NUMBER.findall(name)
    found: list[Scored] = []
    for scored in ranked:
        held = _NUMBER.findall(scored.title)
        # "v2" names version 2.0.
        if all(
            any(f"{each}.".startswith(f"{number}.") for each in held)
            for number in wanted
        ):
            found.append(scored)
    return found


class Scored(Value, frozen=True, kw_only=True):
    """A title and its likeness to a name."""

    title: str
    score: float


def rank_by_letters(name: str, titles: Mapping[str, Sequence[str]]) -> list[Scored]:
    """Ranks titles, given with their distinctive words, by the share of the name in them."""
    name_words = tuple(dict.fromkeys(distinctive_words(name)))[:_MOST_WORDS]
    return _best_first(
        (title, _likeness(name_words, title_words))
        for title, title_words in titles.items()
    )


def rank_by_meaning(
    vector: Sequence[float], titles: Sequence[str], vectors: Vector
) -> list[Scored]:
    """Ranks titles by the cosine of their vectors, rows in the same order, with a name's vector."""
    cosines = vectors @ np.asarray(vector, dtype=np.float32)
    return _best_first(zip(titles, cosines.tolist(), strict=True))


def _best_first(scores: Iterable[tuple[str, float]]) -> list[Scored]:
    ranked = sorted(scores, key=lambda each: (-each[1], each[0]))
    return [Scored(title=title, score=score) for title, score in ranked]


def clear_best(ranked: Sequence[Scored], threshold: float) -> str | None:
    """Returns the best title, if it reaches the threshold and is clearly ahead of the second."""
    if not ranked:
        return None
    best = ranked[0]
    if best.score < threshold:
        return None
    if len(ranked) > 1 and best.score - ranked[1].score < _MIN_LEAD:
        return None
    return best.title


def _likeness(name: Sequence[str], title: Sequence[str]) -> float:
    """Returns the share of the name in the title, 0 to 1, with a small weight for that of the title in the name."""
    if not name or not title:
        return 0.0
    return _NAME_SHARE * _share_found(name, title) + _TITLE_SHARE * _share_found(
        title, name
    )


def _share_found(wanted: Sequence[str], offered: Sequence[str]) -> float:
    """Returns the share of the wanted words in the offered ones, 0 to 1: the mean likeness of each to its nearest."""
    total = 0.0
    for word in wanted:
        total += max(_word_likeness(word, other) for other in offered)
    return total / len(wanted)


# Cached, because titles share words, and most pairs have been compared before.
@lru_cache(maxsize=20_000)
def _word_likeness(word: str, other: str) -> float:
    if stem(word) == stem(other):
        return 1.0
    ratio = fuzz.ratio(word, other)
    if ratio < _SAME_WORD:
        return 0.0
    likeness = ratio / 100
    # Misspellings of long words mostly begin right: "retreival" means retrieval, "research" does not mean search.
    if word[0] == other[0] and ratio >= _SURELY_SAME and len(word) >= _LONG_WORD:
        return (1 + likeness) / 2
    return likeness


def distinctive_words(text: str) -> tuple[str, ...]:
    """Returns the words that distinguish titles; all words if none does."""
    every = words(text)
    # A stop word has no terms.
    return tuple([word for word in every if terms(word)] or every)


def _match(title: str | None, ranked: Sequence[Scored]) -> CourseMatch:
    nearest = [scored.title for scored in ranked]
    # A course found by its instructor may be far from the name by letters.
    if title is not None:
        nearest.remove(title)
        nearest.insert(0, title)
    return CourseMatch(title=title, nearest=tuple(nearest[:NEAREST]))
