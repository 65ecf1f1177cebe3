"""Chooses the excerpts that share most with a question, only by words: for answers that no reasoner wrote; pure.

A partial answer is a decision, which must replay from its trace, so this uses neither an index nor an embedder. It
ranks sentences as for a briefing (`ranking.py`), by the order of the passages, their titles, neighbours and the
expected form of the answer, turns the scores into probabilities, and chooses runs of sentences by these (`runs.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import NamedTuple

from antiphon.language.candidates import Passage, read_passages
from antiphon.language.evidence import TermShares, question_shares
from antiphon.language.ranking import PassageSignals, sentence_scores
from antiphon.language.runs import choose_runs

MOST_EXCERPTS = 3
RANK_WEIGHT = 0.1
"""For being in the passage that was found first: less than in a briefing, because the sentence itself says more."""
SHARPNESS = 10.0
"""The factor from scores to log-odds: weights fitted to choosing one sentence among those of a question are ten times
the weights of `ranking.py`."""


class Excerpt(NamedTuple):
    """Neighbouring sentences `first` to `end` (exclusive) of one passage."""

    passage: int
    first: int
    end: int


def extract(
    question: str, passages: Sequence[Sequence[str]], titles: Sequence[str] = ()
) -> tuple[Excerpt, ...]:
    """Chooses a few excerpts, the best first; none if no passage shares a term with the question.

    Args:
        passages: The sentences of each passage, the best passage first.
        titles: The title of each passage; its terms count for every sentence under it.
    """
    shares = question_shares(question)
    read = read_passages(question, shares, passages, titles)
    if not any(sentence.terms for passage in read for sentence in passage.sentences):
        return ()
    chances = _chances(read, _scores(shares, read))
    runs = choose_runs(read, chances, MOST_EXCERPTS)
    return tuple([Excerpt(run.passage, run.first, run.end) for run in runs])


def _scores(shares: TermShares, read: Sequence[Passage]) -> list[list[float]]:
    """Returns the score of each sentence, passage by passage."""
    scores: list[list[float]] = []
    for rank, passage in enumerate(read):
        signals = PassageSignals(
            rank=rank,
            rank_weight=RANK_WEIGHT,
            labels=passage.of_title,
            forms={sentence.number: sentence.added for sentence in passage.sentences},
        )
        scores.append(sentence_scores(shares, passage.sentences, signals))
    return scores


def _chances(
    read: Sequence[Passage], scores: Sequence[Sequence[float]]
) -> list[list[float]]:
    """Returns each sentence's probability of being the answer, 1 in total; a repeated sentence counts once."""
    highest = max(max(row, default=0.0) for row in scores)
    total = 0.0
    weights: list[list[float]] = []
    for passage, row in zip(read, scores, strict=True):
        of_passage: list[float] = []
        for sentence, score in zip(passage.sentences, row, strict=True):
            counts = sentence.terms and not sentence.is_repeated
            weight = exp(SHARPNESS * (score - highest)) if counts else 0.0
            of_passage.append(weight)
            total += weight
        weights.append(of_passage)
    return [[weight / total for weight in row] for row in weights]
