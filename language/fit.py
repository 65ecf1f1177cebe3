"""How well chosen excerpts fit a question: the features of which language/certainty.py makes a likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from antiphon.language.candidates import Passage, Sentence
from antiphon.language.evidence import (
    Likeness,
    Measures,
    TermShares,
    evidence_of,
    unknown_share,
)
from antiphon.language.runs import Run

LEADS = 6
"""The likest sentence is compared with the sixth: one passage says the same in a few sentences, not in six."""
ASKED_CHARS = 400
SAID_CHARS = 220
"""As much of a question and of an excerpt is read as one text: what is said further down tells little more and costs an
embedder as much again."""


class Fit(NamedTuple):
    """How well what was chosen fits the question.

    Attributes:
        likeness: The greatest likeness of a chosen sentence to the question; None where nobody could tell.
        share: The weighted share of the question's terms that the best excerpt and its title hold.
        evidence: The same of all passages together, less what tells against it (`evidence_of`).
        chance: The chances of all excerpts together.
        lead: How much liker the likest sentence of all is to the question than the sixth.
        unknown: The share of the question's terms that stand nowhere in the courses.
        is_question: The sentence of the best excerpt that should carry the answer asks itself.
        terms: How many terms the question has.
        interaction: How far the best excerpt draws the question towards itself where both are read as one text
            (`_interaction`), mostly -0.3 to 0: an answer does so more than what merely speaks of the same thing.
    """

    likeness: float | None = None
    share: float = 0.0
    evidence: float = 0.0
    chance: float = 0.0
    lead: float = 0.0
    unknown: float = 0.0
    is_question: bool = False
    terms: int = 0
    interaction: float = 0.0


def fit_of(
    question: str,
    shares: TermShares,
    read: Sequence[Passage],
    compared: dict[str, float],
    chosen: Sequence[Run],
    measures: Measures,
) -> Fit:
    """Measures how well the chosen runs fit the question.

    Args:
        compared: The likeness of the sentences that were compared, by their text.
        chosen: The best first; at least one.
    """
    held = [_held(passage) for passage in read]
    shown: list[Sentence] = []
    for run in chosen:
        shown += _sentences_of(read, run)
    cosines = [compared[each.text] for each in shown if each.text in compared]
    together = max(len(each.terms) for each in shown)
    best = chosen[0]
    of_best = _sentences_of(read, best)
    held_by_best = _held(Passage(list(of_best), read[best.passage].of_title))
    picked = [held[number] for number in dict.fromkeys([run.passage for run in chosen])]
    return Fit(
        likeness=max(cosines, default=None),
        share=shares.share(held_by_best),
        evidence=evidence_of(question, shares, held, picked, together),
        chance=sum([run.chance for run in chosen]),
        lead=_lead(compared),
        unknown=unknown_share(shares, held, measures.weigh),
        terms=len(shares.of_term),
        interaction=_interaction(question, of_best, measures.likeness),
    )


def _held(passage: Passage) -> frozenset[str]:
    """Returns what a passage holds of the question, its title included."""
    return passage.of_title.union(*[each.terms for each in passage.sentences])


def _sentences_of(read: Sequence[Passage], run: Run) -> Sequence[Sentence]:
    """Returns the sentences of a run."""
    return read[run.passage].sentences[run.first : run.end]


def _lead(compared: dict[str, float]) -> float:
    if not compared:
        return 0.0
    likest = sorted(compared.values(), reverse=True)[:LEADS]
    return likest[0] - likest[-1]


def _interaction(
    question: str, sentences: Sequence[Sentence], likeness: Likeness | None
) -> float:
    """Returns how much less like the question both are as one text than if neither part took notice of the other.

    The vector of a text is the mean of the vectors of its tokens, and each token is read in the light of all others.
    Were the parts of a text indifferent to one another, its vector would be the mean of theirs, each by its length.
    What only names the same thing leaves the text with its question, above that mean; an answer draws it away.
    """
    asked = question.strip()[:ASKED_CHARS]
    said = " ".join([sentence.text for sentence in sentences])[:SAID_CHARS]
    if likeness is None or not asked or not said:
        return 0.0
    apart, together = likeness(asked, [said, f"{asked} {said}"])
    return _likeness_of_mean(len(asked), len(said), apart) - together


def _likeness_of_mean(asked_chars: int, said_chars: int, cosine: float) -> float:
    """Returns the cosine between the first of two unit vectors and their mean, each weighted by its characters."""
    length = sqrt(
        asked_chars**2 + said_chars**2 + 2 * asked_chars * said_chars * cosine
    )
    if not length:
        return 0.0
    return (asked_chars + said_chars * cosine) / length
