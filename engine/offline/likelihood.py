"""How likely it is that what is shown answers a question, and that anything in the courses does; pure.

Two logistic models over the same few features of the question and of what is shown: one tells what is found, the other
what is refused. They were fitted on samples/open.jsonl, blind-z.jsonl and sealed.jsonl, where their features were
chosen by tenfold cross-validation, and measured on the recorded sets, on which nothing of them was fitted
(docs/measurements.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, log1p, sqrt
from typing import NamedTuple

from antiphon.engine.offline.windows import COMPARED_CHARS, Looked, Window
from antiphon.language.evidence import (
    Likeness,
    Measures,
    is_light,
    names_in,
    question_shares,
    telling_words,
    unknown_share,
)
from antiphon.language.words import stem, terms

FOUND = 0.74
"""What is as likely right at least is labelled as found: nine of ten are, and half of all answers are labelled so."""
REFUSED = 0.5
"""What is less likely answered by the courses than not is called the closest there is."""
ASKED_CHARS = 400
SAID_CHARS = 220
"""As much of a question and of a window is read as one text; what is said further down tells little more."""
_LEAST_APART = 1e-6
"""What is less apart from the words that are shared differs from them by rounding alone."""
_LEADS = 6
"""The likest sentence is compared with the sixth: one passage says the same in a few sentences, not in six."""
_PROPERTY = re.compile(
    r"\b(?:which|what|whose|how many|how much)\s+((?:[\w-]+\s*){1,2})", re.I
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


class Fit(NamedTuple):
    """How well what is shown fits the question.

    Attributes:
        beyond: How like the question a sentence of the best window is beyond the words that both hold, at most: all of
            its likeness if nothing else is asked, 0 if no word is shared, None if meanings are not compared.
        share: The weighted share of the question's terms that the best window and its title hold.
        terms: How many terms the question has.
        names: How many names in capital letters it has: what names a thing need not say what is asked of it.
        lead: How much liker the likest sentence of all is to the question than the sixth.
        unknown: The share of the question's terms that occur nowhere in the courses.
        interaction: How far question and window draw one another away from their mean, read as one text.
        lacks: What is asked of a thing, such as "which port", is no word of what is shown.
    """

    beyond: float | None = None
    share: float = 0.0
    terms: int = 0
    names: int = 0
    lead: float = 0.0
    unknown: float = 0.0
    interaction: float = 0.0
    lacks: bool = False

    @property
    def right(self) -> float:
        """How likely what is shown answers the question, 0 to 1; by words alone nothing is right often enough."""
        if self.beyond is None:
            return 0.0
        score = -4.06 + 4.41 * self.beyond + 3.63 * self.share
        score += 0.87 * log1p(self.terms) + 3.7 * self.lead + 1.32 * self.unknown
        score += 2.56 * self.interaction - 0.45 * self.names - 0.3 * self.lacks
        return _chance(score)

    @property
    def answerable(self) -> float:
        """How likely the courses answer the question at all, 0 to 1."""
        length = log1p(self.terms)
        if self.beyond is None:
            score = -4.01 + 4.48 * self.share + 1.87 * length
            score += 1.1 * self.unknown - 0.68 * self.names - 0.44 * self.lacks
        else:
            score = -2.81 + 4.44 * self.beyond + 3.29 * self.share + 1.16 * length
            score += 1.64 * self.lead + 2.01 * self.unknown - 0.52 * self.names
            score += 5.15 * self.interaction - 0.76 * self.lacks
        return _chance(score)


def _chance(score: float) -> float:
    return 1 / (1 + exp(-score))


def fit_of(question: str, looked: Looked, measures: Measures) -> Fit:
    """Measures how well the best window fits the question."""
    if not looked.windows:
        return Fit()
    best = looked.windows[0]
    shares = question_shares(question, measures.weigh)
    held = [
        shares.held(terms(f"{source.label} {''.join(source.blocks)}"))
        for source in looked.sources
    ]
    fit = Fit(
        share=shares.share(shares.held(terms(best.labelled))),
        terms=len(shares.of_term),
        names=len(names_in(question)),
        unknown=unknown_share(shares, held, measures.weigh),
        lacks=lacks_property(question, looked.windows),
    )
    if measures.likeness is None:
        return fit
    likest = sorted([alike for row in looked.likeness for alike in row], reverse=True)
    row = looked.likeness[looked.sources.index(best.source)]
    return fit._replace(
        beyond=_beyond(question, best, row[best.first : best.end], measures.likeness),
        lead=likest[0] - likest[:_LEADS][-1],
        interaction=_interaction(question, best, measures.likeness),
    )


def lacks_property(question: str, shown: Sequence[Window]) -> bool:
    """Returns True if what is asked of a thing, such as "which port", is no word of what is shown."""
    asked = _PROPERTY.search(question)
    if asked is None:
        return False
    text = " ".join([window.labelled for window in shown])
    if "year" in asked[1].lower().split():
        return _YEAR.search(text) is None
    wanted = [term for term in terms(asked[1]) if not is_light(term)]
    return not set(wanted[:1]) <= set(terms(text))


def _beyond(
    question: str, window: Window, likeness: Sequence[float], measure: Likeness
) -> float:
    """Returns the most that a sentence of a window has in common with the question beyond the words that both hold.

    Whatever is said of a thing is like what is asked of it, because both name the thing. A partial correlation leaves
    that out of their likeness.
    """
    held = frozenset(terms(window.labelled))
    shared = [word for word in telling_words(question) if stem(word) in held]
    if not shared:
        return 0.0
    blocks = window.source.blocks[window.first : window.end]
    said = [block[:COMPARED_CHARS] for block in blocks]
    asked, *named = measure(" ".join(shared), [question, *said])
    if 1 - asked**2 < _LEAST_APART:
        # Nothing but these words is asked.
        return max(likeness)
    beyond: list[float] = []
    for alike, name in zip(likeness, named, strict=True):
        apart = max((1 - asked**2) * (1 - name**2), _LEAST_APART)
        beyond.append((alike - asked * name) / sqrt(apart))
    return max(beyond)


def _interaction(question: str, window: Window, likeness: Likeness) -> float:
    """Returns how much less like the question both are as one text than if neither part took notice of the other.

    The vector of a text is the mean of the vectors of its tokens, and each token is read in the light of all others.
    Were the parts of a text indifferent to one another, its vector would be the mean of theirs, each by its length.
    """
    asked, said = question.strip()[:ASKED_CHARS], window.text.strip()[:SAID_CHARS]
    apart, together = likeness(asked, [said, f"{asked} {said}"])
    ours, theirs = len(asked), len(said)
    length = sqrt(ours**2 + theirs**2 + 2 * ours * theirs * apart)
    mean = (ours + theirs * apart) / length if length else 0.0
    return mean - together
