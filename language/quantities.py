"""Reads the quantities and dates of a text in a form that does not depend on how they are written; pure.

"Seven days", "7 days", "168 hours" and "one week" are one quantity; "14 June 2023", "June 14th, 2023" and "2023-06-14"
one date. If no table knows the unit, the noun after the number is compared instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import isclose
from typing import NamedTuple

from antiphon.language.questions import NUMBER_WORDS
from antiphon.language.words import STOP_WORDS, stem

_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_SMALL: Mapping[str, int] = {
    **NUMBER_WORDS,
    **{word: number for number, word in enumerate(_TEENS.split(), start=13)},
    **{word: 10 * number for number, word in enumerate(_TENS.split(), start=2)},
    "dozen": 12,
}
_SCALES: Mapping[str, int] = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
}
_FACTORS: Mapping[str, Mapping[str, float]] = {
    "second": {
        "ms millisecond": 0.001,
        "sec second": 1,
        "min minute": 60,
        "hr hour": 3_600,
        "day": 86_400,
        "week": 604_800,
    },
    # Neither a month nor a year has a fixed number of days.
    "month": {"month": 1, "year yr": 12, "decade": 120, "century": 1_200},
    "byte": {
        "byte": 1,
        "kb kilobyte": 1e3,
        "mb megabyte": 1e6,
        "gb gigabyte": 1e9,
        "tb terabyte": 1e12,
    },
    "metre": {
        "mm millimetre millimeter": 0.001,
        "cm centimetre centimeter": 0.01,
        "metre meter": 1,
        "km kilometre kilometer": 1_000,
    },
    "gram": {"mg milligram": 0.001, "gram": 1, "kg kilogram": 1_000},
    "percent": {"% percent": 1},
    "dollar": {"$ dollar usd": 1},
    "euro": {"€ euro eur": 1},
}
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_MONTH_NUMBERS = {month: at for at, month in enumerate(_MONTHS.split(), start=1)}


def _units() -> dict[str, tuple[str, float]]:
    """Returns the base unit of each name of a unit, and the factor to it."""
    known: dict[str, tuple[str, float]] = {}
    for base, factors in _FACTORS.items():
        for names, factor in factors.items():
            for name in names.split():
                known[name] = (base, factor)
    return known


_OF_NAMES = _units()
_UNITS = {stem(name): unit for name, unit in _OF_NAMES.items()}
_UNIT_NAME = rf"(?:{'|'.join(filter(str.isalpha, _OF_NAMES))})s?"
_WORDS = "|".join([*_SMALL, *_SCALES])
_DIGITS = rf"\d+(?:,\d{{3}})*(?:\.\d+)?(?:\s?k\b| (?:{'|'.join(_SCALES)})\b)?"
_WRITTEN = rf"\b(?:an? (?=(?:{'|'.join(_SCALES)}|dozen)\b))?(?:{_WORDS})(?:(?:[ -]| and )(?:{_WORDS}))*\b"
_NUMBER = rf"(?:{_DIGITS}|{_WRITTEN})"
_QUANTITY = re.compile(
    rf"(?<![\w.,])(?P<before>[$\u20ac])?(?P<number>{_NUMBER})"
    rf"(?:(?: to | or | and |\s?[-\u2013]\s?)(?P<last>{_NUMBER}))?"
    rf"(?![.,]?\d)\s?(?:(?P<sign>%)|[\s-]?(?P<next>[a-z]+)\b(?: (?P<after>{_UNIT_NAME})\b)?)?",
    re.IGNORECASE,
)
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>[12]\d{3})"
_DATES = (
    re.compile(rf"\b{_YEAR}-(?P<month>[01]\d)-{_DAY}\b"),
    re.compile(rf"\b{_DAY}(?: of)? {_MONTH}\b(?:,? {_YEAR}\b)?"),
    re.compile(rf"\b{_MONTH} {_DAY}\b(?:,? {_YEAR}\b)?"),
    re.compile(rf"\b{_MONTH}(?: of|,)? {_YEAR}\b"),
)


class Quantity(NamedTuple):
    """A number and the unit or thing that it counts.

    Attributes:
        value: In the base unit if the unit is known.
        unit: The base unit, or the stem of the counted noun; empty if nothing follows the number.
        written: The words of the text.
        start: Their offset in the text.
    """

    value: float
    unit: str
    written: str
    start: int

    @property
    def is_measured(self) -> bool:
        """True if its unit converts to a base unit."""
        return self.unit in _FACTORS

    @property
    def is_in_words(self) -> bool:
        """True if it is written without digits."""
        return not any(map(str.isdigit, self.written))

    def is_among(self, others: Iterable[Quantity]) -> bool:
        """Returns True if one of the others is the same quantity."""
        alike = [other for other in others if other.unit == self.unit]
        return any(isclose(self.value, other.value) for other in alike)


class Date(NamedTuple):
    """A date that names a month, and its other parts if given."""

    year: str | None
    month: int
    day: int | None
    written: str
    start: int

    def is_among(self, others: Iterable[Date]) -> bool:
        """Returns True if one of the others agrees with it in every part that both give."""
        return any(self._agrees(other) for other in others)

    def _agrees(self, other: Date) -> bool:
        pairs = zip(self[:3], other[:3], strict=True)
        return all(None in pair or pair[0] == pair[1] for pair in pairs)


def without(text: str, found: Quantity | Date, instead: str = "") -> str:
    """Replaces a found quantity or date in the text by spaces, or by a shorter word."""
    size = len(found.written)
    return text[: found.start] + instead.ljust(size) + text[found.start + size :]


@lru_cache(maxsize=4096)
def dates_in(text: str) -> tuple[Date, ...]:
    """Returns the dates of the text that name a month."""
    found: list[Date] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            found.append(_date(match))
        # Blanked out, because the next pattern would find parts of the same dates.
        text = pattern.sub(_blank, text)
    return tuple(found)


def _date(match: re.Match[str]) -> Date:
    parts = match.groupdict()
    written, day = parts["month"], parts.get("day")
    return Date(
        parts.get("year"),
        int(written) if written.isdigit() else _MONTH_NUMBERS[written[:3].lower()],
        int(day) if day else None,
        match.group(),
        match.start(),
    )


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


@lru_cache(maxsize=4096)
def quantities_in(text: str) -> tuple[Quantity, ...]:
    """Returns the quantities of the text in order, except those in its dates."""
    for pattern in _DATES:
        text = pattern.sub(_blank, text)
    found: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        unit, factor = _unit(match)
        # A sign is the unit, no matter which word comes next.
        end = match.start("next") if match["before"] and match["next"] else match.end()
        written = text[match.start() : end].strip(" -")
        for number in (match["number"], match["last"]):
            if number:
                value = _value(number) * factor
                found.append(Quantity(value, unit, written, match.start()))
    return tuple(found)


def _unit(match: re.Match[str]) -> tuple[str, float]:
    """Returns the base unit of a quantity and the factor to it, or its noun's stem and 1 if no table knows that."""
    before = match["before"] or match["sign"]
    if before:
        return _UNITS[before]
    # "Seven full days" is as long as seven days.
    counted = match["after"] or match["next"] or ""
    if counted.lower() in STOP_WORDS:
        return "", 1
    term = stem(counted.lower())
    return _UNITS.get(term, (term, 1))


def _value(number: str) -> float:
    """Returns the value of a number in digits, in words, or in both, such as "3 million"."""
    total = part = 0.0
    for word in re.findall(r"[\d.,]+|[a-z]+", number.lower().replace("k", " thousand")):
        if word[0].isdigit():
            part = float(word.replace(",", ""))
        elif word in _SMALL:
            part += _SMALL[word]
        elif word == "hundred":
            part = (part or 1) * 100
        elif word in _SCALES:
            total += (part or 1) * _SCALES[word]
            part = 0.0
    return total + part
