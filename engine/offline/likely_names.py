"""Finds the course that a name may mean where no title holds its words: "contenedores", "db", "LLM tools"; pure.

A word that English does not know is compared by its letters, for the words of a trade are alike in many languages;
other words by meaning. The nearest title counts only where it is near, and clearly ahead of all others.
"""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz.distance import JaroWinkler

from antiphon.language.commonness import is_common
from antiphon.language.evidence import Likeness
from antiphon.language.words import stem, terms, words

READ_CHARS = 200
MOST_TITLES = 300
"""Of more courses too many are near to any name, and comparing all takes time."""
_MOST_WORDS = 8
_LEAST_BY_LETTERS = 0.84
_LEAST_BY_MEANING = 0.38
_LEAST_LEAD = 0.15
"""With these, of 40 names of twenty courses 21 are found, and of 28 names of none of them two are taken for one."""
_FEWEST_LETTERS = 4
_SAME_BEGINNING = 2
_FEWEST_OF_COMPOUND = 5
_MOST_OF_ENDING = 2


def likely_title(
    name: str, titles: Sequence[str], likeness: Likeness | None
) -> int | None:
    """Returns the place of the title that a name may mean; None where none is near, or several are."""
    if not 0 < len(titles) <= MOST_TITLES:
        return None
    name = name[:READ_CHARS]
    found = _clearly_first(_by_letters(name, titles), _LEAST_BY_LETTERS)
    if found is not None or likeness is None:
        return found
    return _clearly_first(likeness(name, titles), _LEAST_BY_MEANING)


def _clearly_first(scores: Sequence[float], least: float) -> int | None:
    best = max(scores)
    if best < least or sum(score > best - _LEAST_LEAD for score in scores) > 1:
        return None
    return list(scores).index(best)


def _by_letters(name: str, titles: Sequence[str]) -> list[float]:
    """Returns for each title how alike the words of a name are to its words, on average."""
    asked = _telling(name)[:_MOST_WORDS]
    if not asked:
        return [0.0] * len(titles)
    scores: list[float] = []
    for title in titles:
        offered = _telling(title)
        total = 0.0
        for word in asked:
            total += max([_alike(word, other) for other in offered], default=0.0)
        scores.append(total / len(asked))
    return scores


def _telling(text: str) -> list[str]:
    return [word for word in words(text) if terms(word)]


def _alike(word: str, other: str) -> float:
    if stem(word) == stem(other):
        return 1.0
    # What is an English word of its own is no cognate: "cooking" is not "coordinating".
    if min(len(word), len(other)) < _FEWEST_LETTERS or is_common(stem(word)):
        return 0.0
    if _ends_with(word, other):
        return 1.0
    if word[:_SAME_BEGINNING] != other[:_SAME_BEGINNING]:
        return 0.0
    return float(JaroWinkler.similarity(word, other))


def _ends_with(word: str, other: str) -> bool:
    """Returns True for a compound of German or Dutch whose last part is the other word: "Sprachmodelle", "models"."""
    part = stem(other)
    at = word.rfind(part)
    if len(part) < _FEWEST_OF_COMPOUND or at < _FEWEST_LETTERS:
        return False
    return len(word) - at - len(part) <= _MOST_OF_ENDING
