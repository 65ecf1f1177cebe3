"""Weighs the words of a question, and how strongly sentences and passages speak to it; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from math import fsum, log
from typing import NamedTuple

from antiphon.language.words import stem, terms, words

Weigh = Callable[[str], float]
"""Returns how telling a stemmed term is: its rarity in the courses by its rarity in English, 0 or more."""
Likeness = Callable[[str, Sequence[str]], Sequence[float]]
"""Returns how like each text is to a question by meaning: their cosine, -1 to 1. Blocks: call it from a thread."""


class Measures(NamedTuple):
    """How texts are measured against a question; what is None is not known.

    Attributes:
        weigh: How telling a stemmed term is in the courses; None means that all are alike.
        likeness: How like a text is to a question by meaning; None leaves the words alone to tell.
    """

    weigh: Weigh | None = None
    likeness: Likeness | None = None


WORDS_ALONE = Measures()

MAX_TERMS = 32

_NO_WORD = "\u0000"
LEAST_WEIGHT = 0.05
"""A term that occurs everywhere still tells a little."""
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
"""Words in which a question is put, rather than what it is about."""
_NAMED = re.compile(r"(?<=[\w,;] )[A-Z][\w-]*|\b\w+[A-Z]\w*")
"""A name within a question: capital letters elsewhere than at the beginning of a sentence."""


def is_light(term: str) -> bool:
    """Returns True for the stem of a word in which a question or an answer is put, rather than what it is about."""
    return term in _LIGHT


class TermShares:
    """The share of a question that each of its terms stands for; together they stand for all of it.

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
        """Returns the share of the question that the terms found stand for, whatever their order.

        Many sentences hold the same few terms of a question, so each set is added up once.
        """
        held = found & self._terms
        share = self._of_set.get(held)
        if share is None:
            # fsum is exact, so that the order of a set changes nothing: a trace must replay to the same scores.
            share = fsum([self.of_term[term] for term in held])
            self._of_set[held] = share
        return share


def question_shares(question: str, weigh: Weigh | None = None) -> TermShares:
    """Weighs the terms of a question; words in which it is merely put weigh less than what it is about.

    Args:
        weigh: How telling a term is; None means that all are alike.
    """
    weights: dict[str, float] = {}
    # Bounded, because a question may be a whole page that was pasted.
    for term in terms(question):
        if term in weights or len(weights) >= MAX_TERMS:
            continue
        weight = 1.0 if weigh is None else max(weigh(term), LEAST_WEIGHT)
        if term in _LIGHT or term.isdigit():
            weight *= _LIGHT_WEIGHT
        weights[term] = weight
    return TermShares(weights)


def is_unknown(term: str, weigh: Weigh) -> bool:
    """Returns True for a stemmed term that occurs nowhere in the courses: nothing is rarer."""
    return weigh(term) >= weigh(_NO_WORD)


def unknown_share(
    shares: TermShares, passages: Iterable[frozenset[str]], weigh: Weigh | None
) -> float:
    """Returns the share of a question whose words occur nowhere in the courses.

    Args:
        passages: What each passage holds of the question: what was found need not be from the courses.
        weigh: How telling a term is in the courses; None means that it is not known what they hold.
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
    """Returns how rare each wanted term is among rows of terms; one that no row holds is rarest; none without rows."""
    counts: dict[str, int] = {}
    total = 0
    # Not a Counter, whose update takes longer than the few terms of most rows.
    for row in rows:
        for term in row:
            counts[term] = counts.get(term, 0) + 1
        total += 1
    if not total:
        return {}
    rarity: dict[str, float] = {}
    # Sorted, because the total of the weights depends on their order, and sets have none.
    for term in sorted(wanted):
        rarity[term] = log(1 + total / max(1, counts.get(term, 0)))
    return rarity


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
    """Returns the words (not stems) that say what the question is about, in its order: the `most` telling ones."""
    found: dict[str, str] = {}
    for word in words(question):
        stems = terms(word)
        if stems and stems[0] not in _LIGHT:
            found.setdefault(stems[0], word)
    ranked = list(found)
    if weigh is not None:
        ranked.sort(key=weigh, reverse=True)
    chosen = frozenset(ranked[:most])
    # Ranked by weight, but given in the question's order.
    return [word for term, word in found.items() if term in chosen]
