"""How common words are in English at large: a word that everybody uses says little of what a question is about.

In a few courses "colleagues" may stand as rarely as "quicksort". Only how often people write a word at all tells the
two apart, so rarity in the courses is weighed by rarity in English. Frequencies are those of wordfreq, on the Zipf
scale: the logarithm of the occurrences in a thousand million words (https://pypi.org/project/wordfreq/). Its small list
has the words from 3 up; "the" is 7.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from math import log10

import wordfreq

from antiphon.language.words import fold, stem

_PER_BILLION = 9
_RARE = 3.0
"""Words up to here are in no small list: names, terms of a trade, misspellings, other languages."""
_SAYS_NOTHING = 8.0
LEAST_RARITY = 0.05


@lru_cache(maxsize=1)
def _frequencies() -> Mapping[str, float]:
    """Returns the Zipf frequency of each stem: that of its most frequent word."""
    found: dict[str, float] = {}
    listed = wordfreq.get_frequency_dict("en", wordlist="small")
    for word, share in listed.items():
        term = stem(fold(word))
        frequency = log10(share) + _PER_BILLION
        found[term] = max(frequency, found.get(term, 0.0))
    return found


def is_common(term: str) -> bool:
    """Returns True for the stem of a word that is written in English at least once in a million words."""
    return term in _frequencies()


def rarity_in_english(term: str) -> float:
    """Returns how rare a stemmed term is in English: 1 for what is in no list of common words, down to 0.05."""
    frequency = _frequencies().get(term, _RARE)
    rarity = (_SAYS_NOTHING - frequency) / (_SAYS_NOTHING - _RARE)
    return min(max(rarity, LEAST_RARITY), 1.0)
