"""Finds where a sentence contradicts another on the same thing: another quantity or date, or the opposite; pure.

What is denied without a negator, by an opposite such as "refuses", is not seen.
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
"""Two sentences that share so much of their telling terms speak of the same thing …"""
MOST_OF_SHORTER = 0.75
"""… and those that share so much of the shorter one's, if they share `FEWEST_SHARED`."""
FEWEST_SHARED = 3
SAME_STATEMENT = 0.5
"""Of two sentences that share so much of their telling terms one may be the opposite of the other."""
LEAST_HELD = 0.5
"""A claim of which a sentence holds as much may be its opposite."""
LEAST_REVERSED = 0.67
"""The share of what one sentence denies that the other affirms."""

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
    """A sentence, read as far as it can contradict another.

    Attributes:
        affirmed: Its terms, but for those denied and those of quantities and dates.
        denied: Those that are in a clause after a negator.
        subject: Those of both that say what it is about; what is counted is no part of it.
        names: Those of them that are names.
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
        """All its terms, but for those of quantities and dates."""
        return self.affirmed | self.denied


@lru_cache(maxsize=4096)
def statement(text: str) -> Statement:
    """Reads a sentence; kept between queries, which find the same passages again and again."""
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
    """Returns True for two sentences on the same subject of which only one can be right."""
    if not _on_same_subject(one, other):
        return False
    if _none_equal(one.quantities, other.quantities):
        return True
    if one.dates and other.dates and not _any_agrees(one.dates, other.dates):
        return True
    # A question says neither the one nor the other.
    if "?" in one.text or "?" in other.text:
        return False
    shared = len(one.terms & other.terms)
    if shared < max(FEWEST_SHARED, SAME_STATEMENT * len(one.terms | other.terms)):
        return False
    return bool(reversed_in(one, other))


def _on_same_subject(one: Statement, other: Statement) -> bool:
    fewer = min(len(one.subject), len(other.subject))
    # Each is on something that the other does not name, however alike they are.
    if fewer < 2 or (one.names - other.subject and other.names - one.subject):
        return False
    shared = len(one.subject & other.subject)
    if shared >= SAME_SUBJECT * len(one.subject | other.subject):
        return True
    return shared >= max(FEWEST_SHARED, MOST_OF_SHORTER * fewer)


def _none_equal(one: Sequence[Quantity], other: Sequence[Quantity]) -> bool:
    """Returns True if both count the same thing, and in no case to the same number."""
    counted = {quantity.unit for quantity in other if quantity.unit}
    alike = [quantity for quantity in one if quantity.unit in counted]
    equal = {quantity.unit for quantity in alike if quantity.is_among(other)}
    return any(quantity.unit not in equal for quantity in alike)


def _any_agrees(one: Sequence[Date], other: Sequence[Date]) -> bool:
    return any(date.is_among(other) for date in one)


def reversed_in(one: Statement, other: Statement) -> frozenset[str]:
    """Returns the terms that one of two sentences denies and the other affirms; none if both deny something."""
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
    """Returns the cited sentence whose opposite the claim says; empty if there is none.

    Args:
        beside: All sentences of the same passages: what one of them says as the claim does is no contradiction.
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
