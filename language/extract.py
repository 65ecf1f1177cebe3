"""Chooses the excerpts that share most with a question, by words alone: for answers that no reasoner wrote; pure.

A partial answer is a decision, which replays from its trace: so nothing is asked here of an index or an embedder.
Sentences are ranked as for a briefing (`ranking.py`), by the order of the passages, their titles, neighbours and the
form of what is wanted. Scores are then read as chances, and runs of sentences are chosen by them (`runs.py`).
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
"""For standing in the passage that was found first: less than in a briefing, for the sentence says more itself."""
SHARPNESS = 10.0
"""How much likelier a higher score makes a sentence: the scores' weights fitted as a choice of one sentence out of
those of a question come out at ten times those of `ranking.py`."""


class Excerpt(NamedTuple):
    """Neighbouring sentences `first` to `end` (exclusive) of one passage."""

    passage: int
    first: int
    end: int


def extract(
    question: str, passages: Sequence[Sequence[str]], titles: Sequence[str] = ()
) -> tuple[Excerpt, ...]:
    """Chooses a few excerpts, the best first; none if nothing is shared with the question.

    Args:
        passages: The sentences of each passage, the best passage first.
        titles: What each passage is under; its terms count for every sentence below it.
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
    """Returns how likely each sentence is to be the answer, all together 1; one that is repeated counts once."""
    highest = max(max(row, default=0.0) for row in scores)
    total = 0.0
    weights: list[list[float]] = []
    for passage, row in zip(read, scores, strict=True):
        of_passage: list[float] = []
        for sentence, score in zip(passage.sentences, row, strict=True):
            weight = 0.0
            if sentence.terms and not sentence.is_repeated:
                weight = exp(SHARPNESS * (score - highest))
            of_passage.append(weight)
            total += weight
        weights.append(of_passage)
    return [[weight / total for weight in row] for row in weights]
