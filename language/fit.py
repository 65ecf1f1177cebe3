"""How well chosen excerpts fit a question: the features of which language/certainty.py makes a likelihood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from antiphon.language.candidates import Passage, Sentence
from antiphon.language.evidence import (
    Likeness,
    Measures,
    TermShares,
    evidence_of,
    is_light,
    unknown_share,
)
from antiphon.language.runs import Run
from antiphon.language.words import terms

LEADS = 6
"""The likest sentence is compared with the sixth: one passage says the same in a few sentences, not in six."""
NAMED = 2
"""As many of the heaviest shared words are what is spoken of; the others say what is asked of it."""


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
        beyond: The likeness of the best excerpt to the question without the two heaviest words that they share: "On
            which port does RabbitMQ listen?" is like all that speaks of RabbitMQ.
    """

    likeness: float | None = None
    share: float = 0.0
    evidence: float = 0.0
    chance: float = 0.0
    lead: float = 0.0
    unknown: float = 0.0
    is_question: bool = False
    terms: int = 0
    beyond: float = 0.0


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
    named = _heaviest(held_by_best, shares)
    return Fit(
        likeness=max(cosines, default=None),
        share=shares.share(held_by_best),
        evidence=evidence_of(question, shares, held, picked, together),
        chance=sum([run.chance for run in chosen]),
        lead=_lead(compared),
        unknown=unknown_share(shares, held, measures.weigh),
        terms=len(shares.of_term),
        beyond=_likeness_without(named, question, of_best, measures.likeness),
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


def _heaviest(held: frozenset[str], shares: TermShares) -> frozenset[str]:
    """Returns the shared words that say what is spoken of; sorting is stable, so of two alike the question's first."""
    telling = [term for term in shares.of_term if term in held and not is_light(term)]
    telling.sort(key=lambda term: -shares.of_term[term])
    return frozenset(telling[:NAMED])


def _likeness_without(
    named: frozenset[str],
    question: str,
    sentences: Sequence[Sentence],
    likeness: Likeness | None,
) -> float:
    asked = _without(named, question)
    # As one text: sentence by sentence tells no more.
    said = _without(named, " ".join([sentence.text for sentence in sentences]))
    if likeness is None or not asked or not said:
        return 0.0
    return likeness(asked, [said])[0]


def _without(named: frozenset[str], text: str) -> str:
    kept = [word for word in text.split() if named.isdisjoint(terms(word))]
    return " ".join(kept)
