"""Chooses the sentences that best answer a question, by its words alone; pure, bounded, and fast.

Sentences are ranked as for a briefing (`ranking.py`), by the signals that extraction has: the order of the passages,
their titles, neighbours, and the form of what is asked for. They are then taken greedily, each by its score times what
it adds to those already taken, as in maximal marginal relevance (Carbonell and Goldstein, "The Use of MMR,
Diversity-Based Reranking for Reordering Documents and Producing Summaries", SIGIR 1998,
https://doi.org/10.1145/290941.291025).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from antiphon.language.evidence import TermShares, Weigh, evidence_of, question_shares
from antiphon.language.ranking import Forms, PassageSignals, sentence_scores
from antiphon.language.words import terms

MAX_SENTENCES = 2000

_KNOWN_SHARE = 0.35
"""As much of a term still counts that an earlier sentence holds already."""
_LEAST_GAIN = 0.22
"""A further sentence must bring this share of what the first one brought."""
_DANGLING = re.compile(
    r"(?:It|Its|This|That|These|Those|They|Their|Them|He|She|His|Her|Such|Both|Here|There|Then|Thus|Hence|Therefore|"
    r"However|But|So|Yet|And|Or|Instead|Otherwise|Also|For example|For instance|The (?:latter|former|same|two|three))\b"
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


class _Candidate(NamedTuple):
    """A sentence that may be chosen.

    Attributes:
        held: The question's terms that it holds.
        covering: These, with those of the title that it stands under.
        score: Its rank among all candidates (`sentence_scores`).
    """

    passage: int
    number: int
    held: frozenset[str]
    covering: frozenset[str]
    score: float


class _Chosen(NamedTuple):
    sentence: _Candidate
    gain: float


class _Line(NamedTuple):
    """A sentence as the ranker wants it."""

    number: int
    terms: frozenset[str]


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
        titles: What each passage stands under; its terms count for every sentence below it.
    """
    shares = question_shares(question, weigh)
    forms = Forms(question, shares)
    # A passage without a title of its own stands under nothing.
    titled = [frozenset[str]()] * len(passages)
    for at, title in enumerate(titles[: len(passages)]):
        titled[at] = shares.held(terms(title))
    candidates: list[_Candidate] = []
    seen: set[str] = set()
    for at, sentences in enumerate(passages):
        for candidate in _candidates(shares, forms, at, sentences, titled[at]):
            text = sentences[candidate.number].strip()
            # Chunks overlap, so that one sentence may stand in two passages.
            if text not in seen:
                seen.add(text)
                candidates.append(candidate)
    # Choosing looks at every candidate once a pick, so a store of any size may not bring in more than so many.
    candidates = candidates[:MAX_SENTENCES]
    chosen = _choose(candidates, shares, limit)
    evidence = _evidence(question, shares, candidates, chosen, titled)
    return Extraction(_runs(chosen, passages), evidence)


def _candidates(
    shares: TermShares,
    forms: Forms,
    passage: int,
    sentences: Sequence[str],
    of_title: frozenset[str],
) -> list[_Candidate]:
    """Returns the sentences of one passage that hold something of the question.

    Args:
        passage: Its place among the passages, from 0 for the best.
        of_title: What its title holds of the question.
    """
    lines: list[_Line] = []
    of_form: dict[int, float] = {}
    for number, text in enumerate(sentences[:MAX_SENTENCES]):
        stems = terms(text)
        held = shares.held(stems)
        lines.append(_Line(number, held))
        if held:
            of_form[number] = forms.score(text.strip(), stems)
    signals = PassageSignals(rank=passage, labels=of_title, forms=of_form)
    found: list[_Candidate] = []
    for line, score in zip(lines, sentence_scores(shares, lines, signals), strict=True):
        if line.terms:
            covering = line.terms | of_title
            found.append(_Candidate(passage, line.number, line.terms, covering, score))
    return found


def _choose(
    candidates: Sequence[_Candidate], shares: TermShares, limit: int
) -> list[_Chosen]:
    """Takes the sentence that gains most, up to `limit` times: what is covered already counts less."""
    left = list(candidates)
    chosen: list[_Chosen] = []
    covered: frozenset[str] = frozenset()

    def gain(sentence: _Candidate) -> float:
        known = shares.share(sentence.covering & covered)
        adds = shares.share(sentence.covering) - (1 - _KNOWN_SHARE) * known
        return sentence.score * adds

    # Each choice changes what the others still add, so the best is looked for anew; `limit` is small.
    while left and len(chosen) < limit:
        best = max(left, key=gain)
        gained = gain(best)
        # A sentence that adds little would only make the answer longer.
        if chosen and gained < _LEAST_GAIN * chosen[0].gain:
            break
        left.remove(best)
        chosen.append(_Chosen(best, gained))
        covered |= best.covering
    return chosen


def _evidence(
    question: str,
    shares: TermShares,
    candidates: Sequence[_Candidate],
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
    for sentence, gain in chosen:
        of_passage = scores.setdefault(sentence.passage, {})
        of_passage[sentence.number] = gain
        for needed in _needed_beside(passages[sentence.passage], sentence.number):
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
