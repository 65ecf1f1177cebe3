"""Weighs the words of a question, and its share that sentences and passages cover; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import fsum, log
from typing import NamedTuple

from antiphon.language.words import stem, terms, words

Weigh = Callable[[str], float]
"""Returns the weight of a stemmed term: its rarity in the courses times its rarity in English, 0 or more."""
Likeness = Callable[[str, Sequence[str]], Sequence[float]]
"""Returns the likeness in meaning of each text to a question: the cosine, -1 to 1. Blocks: call it from a thread."""


class Measures(NamedTuple):
    """The measures of texts against a question; None if a measure is not available.

    Attributes:
        weigh: Returns the weight of a stemmed term in the courses; None: all weigh the same.
        likeness: Returns the likeness of texts to a question in meaning; None: only the words count.
    """

    weigh: Weigh | None = None
    likeness: Likeness | None = None


WORDS_ALONE = Measures()

MAX_TERMS = 32

_NO_WORD = "\u0000"
LEAST_WEIGHT = 0.05
"""The weight of a term that occurs everywhere, which still means a little."""
_LIGHT_WEIGHT = 0.3
_LIGHT_WORDS = """
    according answer article ask become began begin begun bring brought call came cause choose chose chosen come
    compare comparison concern describe differ difference different done exactly find first found gave given goes
    going good got gotten happen help idea insist keep kept kind knew know known large larger like long look made
    main make many matter mean meant much name need normally number part people point promise put question reason
    related resemble said saw seen set several showed shown something sort start subject take taken talk thing
    thought told took topic value want way went whole work would wrong year
"""
_LIGHT = frozenset(map(stem, _LIGHT_WORDS.split()))
"""Words that belong to the wording of a question rather than to its subject."""
_NAMED = re.compile(r"(?<=[\w,;] )[A-Z][\w-]*|\b\w+[A-Z]\w*")
"""A name within a question: capital letters anywhere but at the beginning of a sentence."""


def is_light(term: str) -> bool:
    """Returns True for a stem that belongs to the wording of a question or an answer rather than to its subject."""
    return term in _LIGHT


class TermShares:
    """Each term's share of a question.

    Briefings weigh terms by their rarity among the facts found, extraction by their rarity in the courses.

    Attributes:
        of_term: The shares, which add up to 1 if there is any term.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        total = sum(weights.values()) or 1.0
        self.of_term = {term: weight / total for term, weight in weights.items()}
        self._terms = frozenset(weights)
        self._of_set: dict[frozenset[str], float] = {}

    def held(self, found: Collection[str]) -> frozenset[str]:
        """Returns the question's terms among those found."""
        return self._terms.intersection(found)

    def share(self, found: frozenset[str]) -> float:
        """Returns the share of the question that the terms found cover, no matter in which order they come.

        Many sentences hold the same few terms of a question, so each sum is cached.
        """
        held = found & self._terms
        share = self._of_set.get(held)
        if share is None:
            # fsum is exact, so the order of a set does not matter: a trace must replay to the same scores.
            share = fsum([self.of_term[term] for term in held])
            self._of_set[held] = share
        return share


def question_shares(question: str, weigh: Weigh | None = None) -> TermShares:
    """Weighs the terms of a question; words that only belong to its wording weigh less than those of its subject.

    Args:
        weigh: Returns the weight of a term; None: all weigh the same.
    """
    weights: dict[str, float] = {}
    # Bounded, because a question may be a whole pasted page.
    for term in terms(question):
        if term in weights or len(weights) >= MAX_TERMS:
            continue
        weight = 1.0 if weigh is None else max(weigh(term), LEAST_WEIGHT)
        if term in _LIGHT or term.isdigit():
            weight *= _LIGHT_WEIGHT
        weights[term] = weight
    return TermShares(weights)


def is_unknown(term: str, weigh: Weigh) -> bool:
    """Returns True for a stemmed term that occurs nowhere in the courses, which makes it as rare as any can be."""
    return weigh(term) >= weigh(_NO_WORD)


def unknown_share(
    shares: TermShares, passages: Iterable[frozenset[str]], weigh: Weigh | None
) -> float:
    """Returns the share of a question whose words occur nowhere in the courses.

    Args:
        passages: The question's terms in each passage found, which need not come from the courses.
        weigh: Returns the weight of a term in the courses; None: their words are not known.
    """
    if weigh is None:
        return 0.0
    held = frozenset[str]().union(*passages)
    return fsum(
        share
        for term, share in shares.of_term.items()
        if term not in held and not is_light(term) and is_unknown(term, weigh)
    )


def rarity_among(
    wanted: Collection[str], rows: Iterable[Collection[str]]
) -> dict[str, float]:
    """Returns the rarity of each wanted term among rows of terms; a term in no row is rarest; empty without rows."""
    counts: dict[str, int] = {}
    total = 0
    # Not a Counter, whose update costs more than the few terms of most rows.
    for row in rows:
        for term in row:
            counts[term] = counts.get(term, 0) + 1
        total += 1
    if not total:
        return {}
    # Sorted, because the total of the weights depends on their order, and sets have none.
    return {
        term: log(1 + total / max(1, counts.get(term, 0))) for term in sorted(wanted)
    }


def names_in(question: str) -> list[frozenset[str]]:
    """Returns the terms of each name in the question."""
    names: list[frozenset[str]] = []
    for written in _NAMED.findall(question):
        if name := frozenset(terms(written)):
            names.append(name)
    return names


def telling_words(
    question: str, weigh: Weigh | None = None, most: int = MAX_TERMS
) -> list[str]:
    """Returns the words (not stems) of the question's subject, in its order, up to `most` of the greatest weight."""
    found: dict[str, str] = {}
    for word in words(question):
        stems = terms(word)
        if stems and stems[0] not in _LIGHT:
            found.setdefault(stems[0], word)
    ranked = list(found)
    if weigh is not None:
        ranked.sort(key=weigh, reverse=True)
    chosen = frozenset(ranked[:most])
    # Chosen by weight, but returned in the question's order.
    return [word for term, word in found.items() if term in chosen]
