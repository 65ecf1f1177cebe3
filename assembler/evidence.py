"""The evidence for a claim: texts, with the terms, numbers, quantities, dates and names that they contain."""

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
"""An acronym, in the plural too, such as LLMs."""


class Evidence:
    """Texts that a claim may rest on; each kind of content is read from them only when a check needs it."""

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
        """Returns True if the texts hold the same amount, in a unit that converts; without a unit, the same number."""
        if quantity.is_measured:
            return quantity.is_among(self.quantities)
        return quantity.value in self._values

    def quantity_instead(self, quantity: Quantity) -> Quantity | None:
        """Returns an amount of the same unit that the texts hold instead; None if they hold this one, or no other."""
        if self.holds_quantity(quantity) or not quantity.unit:
            return None
        # A bare number in digits is checked by `numbers` anyway; "one" is more often a pronoun than a number.
        is_number_word = quantity.is_in_words and quantity.value != 1
        if not quantity.is_measured and not is_number_word:
            return None
        alike = [other for other in self.quantities if other.unit == quantity.unit]
        return alike[0] if alike else None

    def date_instead(self, date: Date) -> Date | None:
        """Returns a date that the texts hold instead of this one; None if they hold it, or no date at all."""
        if not self.dates or date.is_among(self.dates):
            return None
        return self.dates[0]

    def without_held(self, text: str) -> str:
        """Returns the text without the quantities and dates that the evidence holds, in any notation."""
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
        """Returns True if the texts hold the last word of a name or most of its words, or its short or full form."""
        parts = name.split()
        held = [part for part in parts if self.terms.issuperset(terms(part))]
        if held and parts[-1] not in held:
            return 2 * len(held) > len(parts)
        return self.holds_name(name)

    def holds_name(self, name: str) -> bool:
        """Returns True if the texts hold any word of the name, or its short or full form."""
        held = frozenset(terms(name))
        if not held or not held.isdisjoint(self.terms):
            return True
        # An acronym is held if its letters are initials of words in a row, and a full name if its initials are a word.
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
