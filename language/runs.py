"""Chooses runs of neighbouring sentences by their probabilities of being the answer; pure.

The value of a run is the sum of its sentences' probabilities, less the cost of its length to a reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from antiphon.language.candidates import Passage, Sentence

MOST_IN_A_RUN = 5
LONGEST_RUN_CHARS = 600
COST_PER_CHAR = 0.0002
"""The cost of a character of a run, in probability: five hundred of them must bring a tenth."""
FREE_CHARS = 250
"""So many characters after the likeliest sentence are free: speakers name a thing first, and then explain it in short
sentences."""
_COST_OF_POINTING_BACK = 0.04
_FURTHER = 0.06
"""The least probability of a further excerpt, as a share of the first one's."""
_POINTS_BACK = re.compile(
    r"\W*(?:(?:and|but|so|or|because|also)\b\W*)?(?:It|Its|This|That|These|Those|They|Their|Them|He|She|His|Her|Such|"
    r"Both|There|Thus|Hence|Therefore|However|Instead|Otherwise|For example|For instance|"
    r"The (?:latter|former|same|two|three))\b",
    re.IGNORECASE,
)


class Run(NamedTuple):
    passage: int
    first: int
    end: int
    chance: float
    value: float


def choose_runs(
    read: Sequence[Passage],
    chances: Sequence[Sequence[float]],
    limit: int,
) -> list[Run]:
    """Chooses the most valuable run, and further likely ones that do not touch those chosen.

    Args:
        limit: Most runs.
    """
    chosen: list[Run] = []
    for run in sorted(_runs(read, chances), key=lambda run: -run.value):
        if len(chosen) >= limit or (
            chosen and run.chance < _FURTHER * chosen[0].chance
        ):
            break
        if run.chance and not any(_touches(run, other) for other in chosen):
            chosen.append(run)
    return chosen


def _touches(run: Run, other: Run) -> bool:
    return (
        run.passage == other.passage
        and run.first <= other.end
        and other.first <= run.end
    )


def _runs(read: Sequence[Passage], chances: Sequence[Sequence[float]]) -> Iterator[Run]:
    """Yields every run of two or more sentences that is not too long; a single one only if there is no other way."""
    for number, passage in enumerate(read):
        sentences = passage.sentences
        for first in range(len(sentences)):
            yield from _runs_from(number, sentences, chances[number], first)


def _runs_from(
    passage: int,
    sentences: Sequence[Sentence],
    chances: Sequence[float],
    first: int,
) -> Iterator[Run]:
    chance = 0.0
    chars = behind = 0
    highest = -1.0
    points_back = first and _POINTS_BACK.match(sentences[first].text)
    cost = _COST_OF_POINTING_BACK if points_back else 0.0
    for at in range(first, min(first + MOST_IN_A_RUN, len(sentences))):
        chance += chances[at]
        chars += sentences[at].chars
        behind += sentences[at].chars
        if chances[at] > highest:
            highest = chances[at]
            behind = 0
        if at > first and chars > LONGEST_RUN_CHARS:
            return
        if at == first and not _stands_alone(sentences, first):
            continue
        length = chars - min(behind, FREE_CHARS)
        yield Run(
            passage, first, at + 1, chance, chance - COST_PER_CHAR * length - cost
        )


def _stands_alone(sentences: Sequence[Sentence], number: int) -> bool:
    """Returns True for a sentence that would make too long a run with any neighbour, or that has none."""
    beside = [*sentences[max(0, number - 1) : number], *sentences[number + 1 :][:1]]
    if not beside:
        return True
    shortest = min(sentence.chars for sentence in beside)
    return sentences[number].chars + shortest > LONGEST_RUN_CHARS
