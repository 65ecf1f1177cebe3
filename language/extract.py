"""Chooses the sentences that best answer a question, by its words alone; pure, bounded, and fast.

A sentence scores the rarity-weighted share of the question's terms that it holds, helped by its neighbours, its
passage and the kind of thing asked for (a year, a number, a name). Sentences are then taken greedily, each for what
it adds to those already taken, as in maximal marginal relevance (Carbonell and Goldstein, "The Use of MMR,
Diversity-Based Reranking for Reordering Documents and Producing Summaries", SIGIR 1998,
https://doi.org/10.1145/290941.291025).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import fsum
from typing import NamedTuple

from antiphon.language.evidence import TermShares, Weigh, evidence_of, question_shares
from antiphon.language.words import terms

MAX_SENTENCES = 2000

_FIRST_FOUND = 0.2
"""The score for standing in the best passage; half as much in the second, and so on."""
_KNOWN_SHARE = 0.35
"""As much of a term still counts that an earlier sentence holds already."""
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
    (
        re.compile(
            r"\b(?:how (?:many|much|long|large|big|often|far)|values?|number|size|percent\w*)\b",
            re.I,
        ),
        _NUMBER,
    ),
    (re.compile(r"\b(?:who|whose|whom)\b", re.I), _NAME),
)


class Pick(NamedTuple):
    """Neighbouring sentences `first` to `end` (exclusive) of one passage, and the score of the best of them."""

    passage: int
    first: int
    end: int
    score: float


class Extraction(NamedTuple):
    """The chosen sentences, in reading order, and how much of the question they speak to.

    Attributes:
        evidence: 0 to 1: the weighted share of the question's terms that the passages hold together.
    """

    picks: tuple[Pick, ...]
    evidence: float


class _Sentence(NamedTuple):
    """A sentence that may be chosen: what it holds of the question, and its score but for that."""

    passage: int
    number: int
    held: frozenset[str]
    prior: float


class _Chosen(NamedTuple):
    sentence: _Sentence
    gain: float


class _Asked(NamedTuple):
    """The question as candidates are scored against it.

    Attributes:
        pairs: Terms that stand side by side in it.
        shapes: The kinds of things that answer it: a year, a number, a name.
    """

    shares: TermShares
    pairs: frozenset[tuple[str, str]]
    shapes: tuple[re.Pattern[str], ...]


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
    shares = question_shares(question, weigh)
    shapes: list[re.Pattern[str]] = []
    for asks_for, shape in _ASKED_FOR:
        if asks_for.search(question):
            shapes.append(shape)
    asked = _Asked(shares, frozenset(pairwise(shares.of_term)), tuple(shapes))
    # A passage without a title of its own stands under nothing.
    titled = [frozenset[str]()] * len(passages)
    for at, title in enumerate(titles[: len(passages)]):
        titled[at] = shares.held(terms(title))
    candidates: list[_Sentence] = []
    seen: set[str] = set()
    for at, sentences in enumerate(passages):
        candidates += _candidates(asked, at, sentences, titled[at], seen)
    # Choosing looks at every candidate once a pick, so a store of any size may not bring in more than so many.
    candidates = candidates[:MAX_SENTENCES]
    chosen = _choose(candidates, shares, limit)
    evidence = _evidence(question, shares, candidates, chosen, titled)
    return Extraction(_runs(chosen, passages), evidence)


def _candidates(
    asked: _Asked,
    passage: int,
    sentences: Sequence[str],
    of_title: frozenset[str],
    seen: set[str],
) -> list[_Sentence]:
    """Returns the sentences of one passage that hold something of the question, save those seen in a better one.

    Args:
        passage: Its place among the passages, from 0 for the best.
        of_title: What its title holds of the question.
        seen: The texts of the candidates so far, to which these are added.
    """
    shares = asked.shares
    # The terms of each sentence, and what they hold of the question.
    rows = list(map(terms, sentences[:MAX_SENTENCES]))
    held = list(map(shares.held, rows))
    of_passage = 0.2 * shares.share(frozenset[str]().union(*held)) + _FIRST_FOUND / (
        1 + passage
    )
    found: list[_Sentence] = []
    for at, row in enumerate(rows):
        text = sentences[at].strip()
        # Chunks overlap, so that one sentence may stand in two passages.
        if not held[at] or text in seen:
            continue
        seen.add(text)
        near = frozenset[str]().union(
            *held[max(at - 1, 0) : at], *held[at + 1 : at + 2]
        )
        prior = of_passage + 0.15 * shares.share(near - held[at])
        prior += 0.3 * shares.share(of_title - held[at])
        prior += _form_score(asked, text, row)
        found.append(_Sentence(passage, at, held[at], prior))
    return found


def _form_score(asked: _Asked, text: str, row: Sequence[str]) -> float:
    """Scores a sentence's form: words side by side as asked, the kind of thing asked for, a good length."""
    pairs = 0
    for pair in pairwise(row):
        if pair in asked.pairs:
            pairs += 1
    shapes = 0
    for shape in asked.shapes:
        if shape.search(text):
            shapes += 1
    score = 0.15 * pairs + 0.12 * shapes
    # A fragment or a question says little, and a long sentence says much that was not asked.
    if len(row) < 4 or text.endswith("?"):
        return score - 0.1
    return score - 0.002 * max(len(row) - 25, 0)


def _choose(
    candidates: Sequence[_Sentence], shares: TermShares, limit: int
) -> list[_Chosen]:
    """Takes the sentence that gains most, up to `limit` times: what is covered already counts less."""
    left = list(candidates)
    chosen: list[_Chosen] = []
    covered: set[str] = set()

    def gain(sentence: _Sentence) -> float:
        parts: list[float] = []
        for term in sentence.held:
            share = shares.of_term[term]
            if term in covered:
                share *= _KNOWN_SHARE
            parts.append(share)
        # Exact, because a set has no order: a trace must replay to the same choice.
        own = fsum(parts)
        return own + sentence.prior * (0.5 + own)

    # Each choice changes what the others still add, so the best is looked for anew; `limit` is small.
    while left and len(chosen) < limit:
        best = max(left, key=gain)
        gained = gain(best)
        # A sentence that adds little would only make the answer longer.
        if chosen and gained < _LEAST_GAIN * chosen[0].gain:
            break
        left.remove(best)
        chosen.append(_Chosen(best, gained))
        covered |= best.held
    return chosen


def _evidence(
    question: str,
    shares: TermShares,
    candidates: Sequence[_Sentence],
    chosen: Sequence[_Chosen],
    titled: Sequence[frozenset[str]],
) -> float:
    held: dict[int, frozenset[str]] = {}
    for sentence in candidates:
        known = held.get(sentence.passage, titled[sentence.passage])
        held[sentence.passage] = known | sentence.held
    picked: dict[int, frozenset[str]] = {}
    together = 0
    for sentence, _ in chosen:
        picked[sentence.passage] = held[sentence.passage]
        together = max(together, len(sentence.held))
    return evidence_of(
        question, shares, list(held.values()), list(picked.values()), together
    )


def _runs(
    chosen: Sequence[_Chosen], passages: Sequence[Sequence[str]]
) -> tuple[Pick, ...]:
    """Returns the chosen sentences as runs: passages by the best in them, sentences in the order of the text."""
    scores: dict[int, dict[int, float]] = {}
    for (passage, number, _, _), gain in chosen:
        of_passage = scores.setdefault(passage, {})
        of_passage[number] = gain
        for needed in _needed_beside(passages[passage], number):
            of_passage.setdefault(needed, gain / 2)
    runs: list[Pick] = []
    for passage in sorted(scores, key=lambda passage: -max(scores[passage].values())):
        runs += _joined(passage, scores[passage])
    return tuple(runs)


def _needed_beside(sentences: Sequence[str], number: int) -> list[int]:
    """Returns the sentences without which sentence `number` cannot be understood.

    Two at most before it, where it begins with a word that points back; the next, where it ends with a colon.
    """
    needed: list[int] = []
    first = number
    # Bounded, because every sentence of a passage may point back to the one before it.
    while first > 0 and len(needed) < 2 and _DANGLING.match(sentences[first].lstrip()):
        first -= 1
        needed.append(first)
    if sentences[number].rstrip().endswith(":"):
        needed.append(min(number + 1, len(sentences) - 1))
    return needed


def _joined(passage: int, scores: Mapping[int, float]) -> list[Pick]:
    """Joins neighbours into runs; a gap of one sentence is filled, so that the text reads on."""
    picks: list[Pick] = []
    for number in sorted(scores):
        if picks and number - picks[-1].end <= 1:
            last = picks[-1]
            picks[-1] = last._replace(
                end=number + 1, score=max(last.score, scores[number])
            )
        else:
            picks.append(Pick(passage, number, number + 1, scores[number]))
    return picks
