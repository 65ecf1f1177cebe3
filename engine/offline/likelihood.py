"""How likely it is that what is shown answers a question; pure.

A logistic model over a few features of the question and of the best window. It was fitted on samples/open.jsonl,
blind-z.jsonl and sealed.jsonl, where its features were chosen by tenfold cross-validation, and measured on the recorded
sets, on which nothing of it was fitted (docs/measurements.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import exp, log1p, sqrt
from typing import NamedTuple

from antiphon.engine.offline.windows import Looked, Window
from antiphon.language.evidence import (
    Likeness,
    Measures,
    is_light,
    names_in,
    question_shares,
    unknown_share,
)
from antiphon.language.words import terms

FOUND = 0.75
"""As likely at least is what is labelled as found: nine of ten of them are right."""
REFUSED = 0.33
"""What is less likely is called the closest there is; of a hundred answers some eight are, wrongly."""
ASKED_CHARS = 400
SAID_CHARS = 220
"""As much of a question and of a window is read as one text; what is said further down tells little more."""
_LEADS = 6
"""The likest sentence is compared with the sixth: one passage says the same in a few sentences, not in six."""
_PROPERTY = re.compile(
    r"\b(?:which|what|whose|how many|how much)\s+((?:[\w-]+\s*){1,2})", re.I
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


class Fit(NamedTuple):
    """How well what is shown fits the question.

    Attributes:
        likeness: Of the likest sentence of the best window; None where meanings are not compared.
        share: The weighted share of the question's terms that the best window and its title hold.
        terms: How many terms the question has.
        names: How many names in capital letters it has: what names a thing need not say what is asked of it.
        lead: How much liker the likest sentence of all is to the question than the sixth.
        unknown: The share of the question's terms that stand nowhere in the courses.
        interaction: How far question and window draw one another away from their mean, read as one text.
    """

    likeness: float | None = None
    share: float = 0.0
    terms: int = 0
    names: int = 0
    lead: float = 0.0
    unknown: float = 0.0
    interaction: float = 0.0

    @property
    def likelihood(self) -> float:
        """0 to 1."""
        length = log1p(self.terms)
        if self.likeness is None:
            score = -3.41 + 4.59 * self.share + 1.17 * length
            score += 0.38 * self.unknown - 0.63 * self.names
        else:
            score = -4.41 + 3.91 * self.likeness + 2.9 * self.share + 0.9 * length
            score += 2.72 * self.lead + 1.05 * self.unknown
            score += 2.17 * self.interaction - 0.52 * self.names
        return 1 / (1 + exp(-score))


def fit_of(question: str, looked: Looked, measures: Measures) -> Fit:
    """Measures how well the best window fits the question."""
    if not looked.windows:
        return Fit()
    best = looked.windows[0]
    shares = question_shares(question, measures.weigh)
    held: list[frozenset[str]] = []
    for source in looked.sources:
        held.append(shares.held(terms(f"{source.label} {''.join(source.blocks)}")))
    fit = Fit(
        share=shares.share(shares.held(terms(best.labelled))),
        terms=len(shares.of_term),
        names=len(names_in(question)),
        unknown=unknown_share(shares, held, measures.weigh),
    )
    if measures.likeness is None:
        return fit
    likest = sorted([alike for row in looked.likeness for alike in row], reverse=True)
    return fit._replace(
        likeness=looked.likeness[looked.sources.index(best.source)][best.key],
        lead=likest[0] - likest[:_LEADS][-1],
        interaction=_interaction(question, best, measures.likeness),
    )


def lacks_property(question: str, shown: Sequence[Window]) -> bool:
    """Returns True where what is asked of a thing, such as "which port", is no word of what is shown."""
    asked = _PROPERTY.search(question)
    if asked is None:
        return False
    text = " ".join([window.labelled for window in shown])
    if "year" in asked[1].lower().split():
        return _YEAR.search(text) is None
    wanted = [term for term in terms(asked[1]) if not is_light(term)]
    return not set(wanted[:1]) <= set(terms(text))


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
