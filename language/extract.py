"""The sentences that best answer a question, chosen by its words alone; pure, bounded, and fast.

A sentence is worth the rarity-weighted share of the question's terms that it holds, helped by its neighbours, its
passage and the kind of thing asked for (a year, a number, a name). Sentences are then taken greedily, each for what
it adds to those already taken, as in maximal marginal relevance (Carbonell and Goldstein, "The Use of MMR,
Diversity-Based Reranking for Reordering Documents and Producing Summaries", SIGIR 1998,
https://doi.org/10.1145/290941.291025).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from antiphon.language.evidence import Weigh, evidence_of, question_weights, share
from antiphon.language.words import terms

MAX_SENTENCES = 2000

_FIRST_FOUND = 0.2
"""What it is worth to stand in the best passage; half as much in the second, and so on."""
_KNOWN_AGAIN = 0.35
"""What a term is still worth that an earlier sentence holds already."""
_LEAST_GAIN = 0.4
"""A further sentence must bring this share of what the first one brought."""
_DANGLING = re.compile(
    r"(?:It|Its|This|That|These|Those|They|Their|Them|He|She|His|Her|Such|Both|Here|There|Then|Thus|Hence|Therefore|"
    r"However|But|So|Yet|And|Or|Instead|Otherwise|Also|For example|For instance|The (?:latter|former|same|two|three))\b"
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"\b[A-Z]\w+(?:[- ][A-Z]\w+)+")
_ASKED_FOR = (
    (re.compile(r"\b(?:when|what year|which year)\b", re.I), _YEAR),
    (re.compile(r"\b(?:how (?:many|much|long|large|big|often|far)|values?|number|size|percent\w*)\b", re.I), _NUMBER),
    (re.compile(r"\b(?:who|whose|whom)\b", re.I), _NAME),
)


class Pick(NamedTuple):
    """Neighbouring sentences `first` to `end` (exclusive) of one passage, and what the best of them is worth."""

    passage: int
    first: int
    end: int
    worth: float


class Extraction(NamedTuple):
    """What was chosen, in reading order, and how much of the question it speaks to.

    Attributes:
        evidence: 0 to 1: the weighted share of the question's terms that the passages hold together.
    """

    picks: tuple[Pick, ...]
    evidence: float


class _Sentence(NamedTuple):
    passage: int
    number: int
    held: frozenset[str]
    prior: float


def extract(
    question: str,
    passages: Sequence[Sequence[str]],
    weigh: Weigh | None = None,
    *,
    limit: int = 4,
    titles: Sequence[str] = (),
) -> Extraction:
    """Picks at most `limit` sentences (and those that they cannot be read without).

    Args:
        passages: The sentences of each passage, the best passage first.
        weigh: How telling a term is; None means that all are alike.
        titles: What each passage stands under; its terms count for every sentence below it, but less.
    """
    weights = question_weights(question, weigh)
    candidates = _candidates(question, passages, titles, weights)
    taken = _greedy(candidates, weights, limit)
    evidence = _evidence(question, candidates, taken, titles, weights)
    return Extraction(_runs(taken, passages), evidence)


def _candidates(
    question: str, passages: Sequence[Sequence[str]], titles: Sequence[str], weights: dict[str, float]
) -> list[_Sentence]:
    pairs = frozenset(pairwise(weights))
    wanted = [shape for asked, shape in _ASKED_FOR if asked.search(question)]
    found: list[_Sentence] = []
    seen: set[str] = set()
    for number, sentences in enumerate(passages):
        titled = _held(titles[number], weights) if number < len(titles) else frozenset()
        row = [terms(sentence) for sentence in sentences[:MAX_SENTENCES]]
        held = [frozenset(word for word in line if word in weights) for line in row]
        together = share(frozenset[str]().union(*held), weights)
        for at, (sentence, line) in enumerate(zip(sentences, row, strict=False)):
            key = sentence.strip()
            if not held[at] or key in seen:
                continue
            seen.add(key)
            prior = 0.2 * together + _FIRST_FOUND / (1 + number) + 0.15 * _beside(held, at, weights)
            prior += 0.3 * share(titled - held[at], weights)
            prior += 0.15 * sum(1 for pair in pairwise(line) if pair in pairs)
            prior += 0.12 * sum(1 for shape in wanted if shape.search(key))
            prior -= 0.1 if len(line) < 4 or key.endswith("?") else 0.002 * max(len(line) - 25, 0)
            found.append(_Sentence(number, at, held[at], prior))
    return found[:MAX_SENTENCES]


def _held(text: str, weights: dict[str, float]) -> frozenset[str]:
    return frozenset(term for term in terms(text) if term in weights)


def _beside(held: list[frozenset[str]], at: int, weights: dict[str, float]) -> float:
    """What the neighbours hold of the question that the sentence itself does not."""
    near = (held[at - 1] if at else frozenset()) | (held[at + 1] if at + 1 < len(held) else frozenset())
    return share(near - held[at], weights)


def _greedy(candidates: list[_Sentence], weights: dict[str, float], limit: int) -> list[tuple[_Sentence, float]]:
    left = list(candidates)
    taken: list[tuple[_Sentence, float]] = []
    covered: set[str] = set()

    def gain(sentence: _Sentence) -> float:
        own = fsum(weights[term] * (_KNOWN_AGAIN if term in covered else 1.0) for term in sentence.held)
        return own + sentence.prior * (0.5 + own)

    while left and len(taken) < limit:
        best = max(left, key=gain)
        worth = gain(best)
        if taken and worth < _LEAST_GAIN * taken[0][1]:
            break
        left.remove(best)
        taken.append((best, worth))
        covered |= best.held
    return taken


def _evidence(
    question: str,
    candidates: list[_Sentence],
    taken: list[tuple[_Sentence, float]],
    titles: Sequence[str],
    weights: dict[str, float],
) -> float:
    passages: dict[int, frozenset[str]] = {}
    for sentence in candidates:
        known = passages.get(sentence.passage)
        if known is None:
            known = _held(titles[sentence.passage], weights) if sentence.passage < len(titles) else frozenset()
        passages[sentence.passage] = known | sentence.held
    picked = [passages[number] for number in {sentence.passage for sentence, _ in taken}]
    together = max((len(sentence.held) for sentence, _ in taken), default=0)
    return evidence_of(question, weights, list(passages.values()), picked, together)


def _runs(taken: list[tuple[_Sentence, float]], passages: Sequence[Sequence[str]]) -> tuple[Pick, ...]:
    """The chosen sentences as runs: passages by the best in them, sentences in the order of the text."""
    rows: dict[int, dict[int, float]] = {}
    for sentence, worth in taken:
        row = rows.setdefault(sentence.passage, {})
        row[sentence.number] = worth
        for before in _needed_before(passages[sentence.passage], sentence.number):
            row.setdefault(before, worth / 2)
        if passages[sentence.passage][sentence.number].rstrip().endswith(":"):
            row.setdefault(min(sentence.number + 1, len(passages[sentence.passage]) - 1), worth / 2)
    ordered = sorted(rows, key=lambda number: -max(rows[number].values()))
    return tuple(pick for number in ordered for pick in _joined(number, rows[number]))


def _needed_before(sentences: Sequence[str], number: int) -> list[int]:
    """The sentences (two at most) without which sentence `number` cannot be understood."""
    needed: list[int] = []
    while number > 0 and len(needed) < 2 and _DANGLING.match(sentences[number].lstrip()):
        number -= 1
        needed.append(number)
    return needed


def _joined(passage: int, row: dict[int, float]) -> list[Pick]:
    """Runs of neighbours; a gap of one sentence is filled, so that the text reads on."""
    picks: list[Pick] = []
    for number in sorted(row):
        last = picks[-1] if picks else None
        if last is not None and number - last.end <= 1:
            picks[-1] = last._replace(end=number + 1, worth=max(last.worth, row[number]))
        else:
            picks.append(Pick(passage, number, number + 1, row[number]))
    return picks
