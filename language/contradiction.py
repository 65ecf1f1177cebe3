"""Detects sentences that contradict each other on the same thing: another quantity or date, or the opposite; pure.

It misses a denial without a negator, by an opposite such as "refuses".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from antiphon.language.commonness import name_at_start
from antiphon.language.evidence import is_light, names_in
from antiphon.language.quantities import (
    Date,
    Quantity,
    dates_in,
    quantities_in,
    without,
)
from antiphon.language.words import terms

SAME_SUBJECT = 0.4
"""Two sentences that share at least this part of their telling terms are about the same thing …"""
MOST_OF_SHORTER = 0.75
"""… and those that share this part of the shorter one's, if they share at least `FEWEST_SHARED`."""
FEWEST_SHARED = 3
SAME_STATEMENT = 0.5
"""Of two sentences that share at least this part of their terms, one may be the opposite of the other."""
LEAST_HELD = 0.5
"""A sentence that holds at least this part of a claim's terms may be its opposite."""
LEAST_REVERSED = 0.67
"""The least share of one sentence's denied terms that the other must affirm."""

_NEGATOR = re.compile(
    r"\b(?:not|no|never|none|nor|neither|nobody|nothing|cannot)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_DENIES_NOTHING = re.compile(
    r"(?:\bnot|n['\u2019]t) (?:only|just|merely)\b|\bno (?:more|less|later|longer) than\b",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[.,;:!?()\u2013\u2014]"
    r"|\b(?:and|but|or|because|while|which|that|who|if|when|unless|until|although|though|so|than)\b",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """The parts of a sentence by which it can contradict another.

    Attributes:
        affirmed: Its terms, except the denied ones and those of quantities and dates.
        denied: The terms after a negator in the same clause.
        subject: Those of both that name its subject, without the counted things.
        names: Those of the subject that are names.
    """

    text: str
    quantities: tuple[Quantity, ...]
    dates: tuple[Date, ...]
    affirmed: frozenset[str]
    denied: frozenset[str]
    subject: frozenset[str]
    names: frozenset[str]

    @property
    def terms(self) -> frozenset[str]:
        """All its terms, except those of quantities and dates."""
        return self.affirmed | self.denied


@lru_cache(maxsize=4096)
def statement(text: str) -> Statement:
    """Reads a sentence; cached, because queries find the same passages again and again."""
    quantities, dates = quantities_in(text), dates_in(text)
    plain = text
    counted: set[str] = set()
    for date in dates:
        plain = without(plain, date)
    for quantity in quantities:
        noun = "" if quantity.is_measured else quantity.unit
        plain = without(plain, quantity, noun)
        counted.add(noun)
    affirmed: set[str] = set()
    denied: set[str] = set()
    for clause in _CLAUSE_END.split(_DENIES_NOTHING.sub(" ", plain)):
        before, *after = _NEGATOR.split(clause)
        affirmed.update(terms(before))
        for part in after:
            denied.update(terms(part))
    said = (affirmed | denied) - counted
    subject = frozenset([term for term in said if not is_light(term)])
    names = frozenset(terms(name_at_start(text))).union(*names_in(text))
    return Statement(
        text,
        quantities,
        dates,
        frozenset(affirmed - denied),
        frozenset(denied),
        subject,
        names & subject,
    )


def contradict(one: Statement, other: Statement) -> bool:
    """Returns True if two sentences on the same subject cannot both be right."""
    if not _on_same_subject(one, other):
        return False
    if _none_equal(one.quantities, other.quantities):
        return True
    if one.dates and other.dates and not _any_agrees(one.dates, other.dates):
        return True
    # A question neither affirms nor denies.
    if "?" in one.text or "?" in other.text:
        return False
    shared = len(one.terms & other.terms)
    if shared < max(FEWEST_SHARED, SAME_STATEMENT * len(one.terms | other.terms)):
        return False
    return bool(reversed_in(one, other))


def _on_same_subject(one: Statement, other: Statement) -> bool:
    fewer = min(len(one.subject), len(other.subject))
    # If each names something that the other does not, their subjects differ, no matter how alike they are.
    if fewer < 2 or (one.names - other.subject and other.names - one.subject):
        return False
    shared = len(one.subject & other.subject)
    if shared >= SAME_SUBJECT * len(one.subject | other.subject):
        return True
    return shared >= max(FEWEST_SHARED, MOST_OF_SHORTER * fewer)


def _none_equal(one: Sequence[Quantity], other: Sequence[Quantity]) -> bool:
    """Returns True if both count the same thing, and never with the same number."""
    counted = {quantity.unit for quantity in other if quantity.unit}
    alike = [quantity for quantity in one if quantity.unit in counted]
    equal = {quantity.unit for quantity in alike if quantity.is_among(other)}
    return any(quantity.unit not in equal for quantity in alike)


def _any_agrees(one: Sequence[Date], other: Sequence[Date]) -> bool:
    return any(date.is_among(other) for date in one)


def reversed_in(one: Statement, other: Statement) -> frozenset[str]:
    """Returns the terms that one of two sentences denies and the other affirms; none if both, or neither, deny any."""
    if bool(one.denied) == bool(other.denied):
        return frozenset()
    denied = one.denied or other.denied
    shared = denied & (one.affirmed | other.affirmed)
    if len(shared) < LEAST_REVERSED * len(denied):
        return frozenset()
    return shared


def denial(
    claim: Statement, cited: Sequence[Statement], beside: Sequence[Statement]
) -> str:
    """Returns the cited sentence that the claim contradicts; empty if there is none.

    Args:
        beside: All sentences of the same passages: a claim that agrees with one of them is no contradiction.
    """
    if len(claim.terms) < 2:
        return ""
    for source in cited:
        shared = reversed_in(claim, source)
        if (
            shared
            and _holds_most(source, claim)
            and not _says_the_same(claim, shared, beside)
        ):
            return source.text
    return ""


def _holds_most(source: Statement, claim: Statement) -> bool:
    return len(source.terms & claim.terms) >= LEAST_HELD * len(claim.terms)


def _says_the_same(
    claim: Statement, shared: frozenset[str], beside: Sequence[Statement]
) -> bool:
    for sentence in beside:
        own = sentence.denied if claim.denied else sentence.affirmed
        if own >= shared and _holds_most(sentence, claim):
            return True
    return False
