"""How telling the words of a question are, and how strongly some passages speak to it; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from math import fsum

from antiphon.language.words import stem, terms, words

Weigh = Callable[[str], float]
"""How telling a stemmed term is: its inverse document frequency, 0 or more."""

MAX_TERMS = 32

_LIGHT_WEIGHT = 0.3
_NAME_MISSING = 0.65
"""How much of the evidence goes when no passage holds any of the names in the question."""
_ONE_WORD_ONLY = 0.65
"""What is left of the evidence when no sentence shares more than one word with a longer question."""
_LIGHT_WORDS = """
    according answer article ask become began begin begun bring brought call came cause choose chose chosen come
    compare comparison concern describe differ difference different done exactly find first found gave given goes
    going good got gotten happen help idea insist keep kept kind knew know known large larger like long look made
    main make many matter mean meant much name need normally number part people point promise put question reason
    related said saw seen set several showed shown something sort start subject take taken talk thing thought told
    took topic value want way went whole work would wrong year
"""
_LIGHT = frozenset(stem(word) for word in _LIGHT_WORDS.split())
"""Words in which a question is put, rather than what it is about."""
_NAMED = re.compile(r"(?<=[\w,;] )[A-Z][\w-]*|\b\w+[A-Z]\w*")
"""A name within a question: capital letters elsewhere than at the beginning of a sentence."""


def question_weights(question: str, weigh: Weigh | None = None) -> dict[str, float]:
    """The question's terms and the share of the question that each stands for; the shares add up to 1.

    Args:
        weigh: How telling a term is; None means that all are alike.
    """
    raw: dict[str, float] = {}
    for term in terms(question):
        if term not in raw and len(raw) < MAX_TERMS:
            weight = max(weigh(term), 0.05) if weigh is not None else 1.0
            raw[term] = weight * (_LIGHT_WEIGHT if term in _LIGHT or term.isdigit() else 1.0)
    total = sum(raw.values())
    return {term: weight / total for term, weight in raw.items()}


def share(held: Iterable[str], weights: dict[str, float]) -> float:
    """The share of the question that the terms `held` stand for, whatever their order."""
    return fsum(weights[term] for term in held)


def evidence_of(
    question: str,
    weights: dict[str, float],
    passages: Sequence[frozenset[str]],
    picked: Sequence[frozenset[str]],
    together: int,
) -> float:
    """0 to 1: how much of the question the passages speak to.

    Half what the best passage holds alone, half what the picked ones hold together, less what tells against it:
    a question that nothing answers shares a word here and there with many passages, and its names with none.

    Args:
        passages: What each passage holds of the question.
        picked: The same of those that were picked.
        together: The most terms that one picked sentence holds.
    """
    union = frozenset[str]().union(*picked)
    evidence = 0.5 * max((share(held, weights) for held in passages), default=0.0) + 0.5 * share(union, weights)
    names = [name for found in _NAMED.findall(question) if (name := frozenset(terms(found)))]
    missing = sum(1 for name in names if not name & union)
    if missing:
        evidence *= 1 - _NAME_MISSING * missing / len(names)
    if together == 1 and sum(1 for term in weights if term not in _LIGHT) > 1:
        evidence *= _ONE_WORD_ONLY
    return min(evidence, 1.0)


def telling_words(question: str, weigh: Weigh | None = None, most: int = MAX_TERMS) -> list[str]:
    """The words (not stems) that say what the question is about, in its order: the `most` telling ones."""
    found: dict[str, str] = {}
    for word in words(question):
        term = next(iter(terms(word)), None)
        if term is not None and term not in _LIGHT:
            found.setdefault(term, word)
    ranked = sorted(found, key=weigh, reverse=True) if weigh is not None else list(found)
    chosen = frozenset(ranked[:most])
    return [word for term, word in found.items() if term in chosen]
