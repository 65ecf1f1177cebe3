"""Estimates how likely the shown windows answer a question, and how likely the courses do at all; pure.

Two logistic models use the same few features of the question and the windows: one decides what counts as found, the
other what is refused. They were fitted on samples/open.jsonl, blind-z.jsonl and sealed.jsonl, with features chosen by
tenfold cross-validation, and measured on the recorded sets, which played no part in the fitting (docs/measurements.md).
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
"""Answers at least this likely are labelled as found: half of all are, and nine in ten of these are right."""
REFUSED = 0.5
"""Below this probability that the courses answer at all, the answer is labelled as only the closest there is."""
ASKED_CHARS = 400
SAID_CHARS = 220
"""Characters of a window that are read with the question as one text; the rest adds little."""
_LEAST_APART = 1e-6
"""A smaller distance from the shared words is only rounding."""
_LEADS = 6
"""Compares the likest sentence with the sixth, because one passage may repeat itself in a few sentences, not in six."""
_PROPERTY = re.compile(
    r"\b(?:which|what|whose|how many|how much)\s+((?:[\w-]+\s*){1,2})", re.I
)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")


class Fit(NamedTuple):
    """How well the shown windows fit the question.

    Attributes:
        beyond: The highest likeness of a sentence in the best window to the question apart from the words that they
            share: the whole likeness if the question has no other words, 0 if they share none, None if meanings are not
            compared.
        share: The weighted share of the question's terms that occur in the best window and its title.
        terms: The number of terms in the question.
        names: The number of names in capital letters in it: a text with a thing's name need not have the answer.
        lead: The likeness of the likest sentence of all minus that of the sixth.
        unknown: The share of the question's terms that do not occur in the courses.
        interaction: How far the vector of question and window, read as one text, is from the mean of the two.
        lacks: The windows do not contain the property that the question asks for, such as "which port".
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
        """How likely the windows answer the question, 0 to 1; by words alone nothing is right often enough."""
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
    """Returns True if the windows do not contain the property that the question asks for, such as "which port"."""
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
    """Returns the highest likeness of a sentence in a window to the question apart from the words that both share.

    All sentences about a thing are like all questions about it, because both name the thing. A partial correlation
    removes that part of their likeness.
    """
    held = frozenset(terms(window.labelled))
    shared = [word for word in telling_words(question) if stem(word) in held]
    if not shared:
        return 0.0
    blocks = window.source.blocks[window.first : window.end]
    said = [block[:COMPARED_CHARS] for block in blocks]
    asked, *named = measure(" ".join(shared), [question, *said])
    if 1 - asked**2 < _LEAST_APART:
        # The question consists of these words.
        return max(likeness)
    beyond: list[float] = []
    # The partial correlation of question and sentence, given the shared words.
    for alike, name in zip(likeness, named, strict=True):
        apart = max((1 - asked**2) * (1 - name**2), _LEAST_APART)
        beyond.append((alike - asked * name) / sqrt(apart))
    return max(beyond)


def _interaction(question: str, window: Window, likeness: Likeness) -> float:
    """Returns how much less like the question both are as one text than if neither part influenced the other.

    The vector of a text is the mean of its tokens' vectors, and each token's vector depends on all other tokens. If the
    parts of a text did not influence each other, its vector would be the mean of theirs, weighted by length.
    """
    asked, said = question.strip()[:ASKED_CHARS], window.text.strip()[:SAID_CHARS]
    apart, together = likeness(asked, [said, f"{asked} {said}"])
    ours, theirs = len(asked), len(said)
    # The length of the weighted sum of two unit vectors whose cosine is `apart`.
    length = sqrt(ours**2 + theirs**2 + 2 * ours * theirs * apart)
    mean = (ours + theirs * apart) / length if length else 0.0
    return mean - together
