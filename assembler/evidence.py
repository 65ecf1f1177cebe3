"""What a claim may rest on: texts, with the terms, numbers, quantities, dates and names that are in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import chain

from antiphon.language.quantities import (
    Date,
    Quantity,
    dates_in,
    quantities_in,
    without,
)
from antiphon.language.questions import NUMBER_WORDS
from antiphon.language.words import sentence_terms, terms, words

_NUMBER = re.compile(r"\d[\d,.]*")
_ACRONYM = re.compile(r"[A-Z]{2,6}s?")


class Evidence:
    """Texts that a claim may rest on, read as far as a check needs."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    @cached_property
    def terms(self) -> frozenset[str]:
        return frozenset[str]().union(*[sentence_terms(text) for text in self._texts])

    @cached_property
    def numbers(self) -> frozenset[str]:
        found: set[str] = set()
        for text in self._texts:
            found |= numbers_in(text)
        # "Seven days" bears out "7 days".
        for word in self._words:
            if word in NUMBER_WORDS:
                found.add(str(NUMBER_WORDS[word]))
        return frozenset(found)

    @cached_property
    def quantities(self) -> list[Quantity]:
        return list(chain.from_iterable(map(quantities_in, self._texts)))

    @cached_property
    def dates(self) -> list[Date]:
        return list(chain.from_iterable(map(dates_in, self._texts)))

    @cached_property
    def _values(self) -> frozenset[float]:
        return frozenset([quantity.value for quantity in self.quantities])

    def holds_quantity(self, quantity: Quantity) -> bool:
        """Returns True if as much is there, of a unit that converts, or the number alone of anything else."""
        if quantity.is_measured:
            return quantity.is_among(self.quantities)
        return quantity.value in self._values

    def quantity_instead(self, quantity: Quantity) -> Quantity | None:
        """Returns what is there of the same unit where as much is not; None if that says nothing."""
        if self.holds_quantity(quantity) or not quantity.unit:
            return None
        # A number in digits is looked for in any case; "one" is an article more often than a number.
        is_number_word = quantity.is_in_words and quantity.value != 1
        if not quantity.is_measured and not is_number_word:
            return None
        alike = [other for other in self.quantities if other.unit == quantity.unit]
        return alike[0] if alike else None

    def date_instead(self, date: Date) -> Date | None:
        """Returns a date that is there where this one is not; None if it is, or none is."""
        if not self.dates or date.is_among(self.dates):
            return None
        return self.dates[0]

    def without_held(self, text: str) -> str:
        """Returns the text without the quantities and dates that are there, however they are written."""
        kept = {
            each.start for each in quantities_in(text) if not self.holds_quantity(each)
        }
        for quantity in quantities_in(text):
            if quantity.start not in kept:
                text = without(text, quantity)
        for date in dates_in(text):
            if date.is_among(self.dates):
                text = without(text, date)
        return text

    def holds_whole_name(self, name: str) -> bool:
        """Returns True if its last word is there or most of its words are, or the name in short or in full."""
        parts = name.split()
        held = [part for part in parts if self.terms.issuperset(terms(part))]
        if held and parts[-1] not in held:
            return 2 * len(held) > len(parts)
        return self.holds_name(name)

    def holds_name(self, name: str) -> bool:
        """Returns True if any word of the name is there, or the name in short or in full."""
        held = frozenset(terms(name))
        if not held or not held.isdisjoint(self.terms):
            return True
        if _ACRONYM.fullmatch(name):
            return name.rstrip("s").lower() in "".join(
                [word[0] for word in self._words]
            )
        return "".join([word[0] for word in words(name)]) in self._words

    @cached_property
    def _words(self) -> list[str]:
        return list(chain.from_iterable(map(words, self._texts)))


def numbers_in(text: str) -> set[str]:
    """Returns the numbers that the text writes in digits, without the commas between thousands."""
    written = _NUMBER.findall(text)
    return {number.rstrip(".,").replace(",", "") for number in written}
