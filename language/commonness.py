"""How common words are in English at large: a word that everybody uses says little of what a question is about.

In a few courses "colleagues" may occur as rarely as "quicksort". Only how often people write a word at all tells the
two apart, so rarity in the courses is weighed by rarity in English. Frequencies are those of wordfreq, on the Zipf
scale: the logarithm of the occurrences in a thousand million words (https://pypi.org/project/wordfreq/). Its small list
has the words from 3 up; "the" is 7.7.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import msgspec

from antiphon.language.words import fold, stem, stems

_FIRST_WORD = re.compile(r"\W*([A-Z][\w-]+)")
_PER_BILLION = 9
_CENTIBELS = 100
_RARE = 3.0
"""Words up to here are in no small list: names, terms of a trade, misspellings, other languages."""
_SAYS_NOTHING = 8.0
LEAST_RARITY = 0.05


@lru_cache(maxsize=1)
def _frequencies() -> Mapping[str, float]:
    """Returns the Zipf frequency of each stem: that of its most frequent word."""
    found: dict[str, float] = {}
    listed = list(listed_words())
    folded = [fold(word) for word, _ in listed]
    for term, (_, frequency) in zip(stems(folded), listed, strict=True):
        found[term] = max(frequency, found.get(term, 0.0))
    return found


def listed_words(language: str = "en") -> Iterator[tuple[str, float]]:
    """Yields each word of wordfreq's list for a language with its Zipf frequency.

    Read from its file and not by `wordfreq.get_frequency_dict`: importing the package looks through the source of every
    module that is loaded (the package `locate`, by `inspect.stack`), which takes half a second and more, and brings a
    tokenizer and tables of languages that nothing here needs.
    """
    spec = find_spec("wordfreq")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("wordfreq is not installed", name="wordfreq")
    path = Path(spec.origin).parent / "data" / f"small_{language}.msgpack.gz"
    _, *buckets = msgspec.msgpack.decode(gzip.decompress(path.read_bytes()))
    # Its format, cBpack: after a header, in each place the words whose share of all is so many hundredths of a bel.
    for centibels, words in enumerate(buckets):
        # One number for all of them, and not one each.
        frequency = _PER_BILLION - centibels / _CENTIBELS
        for word in words:
            yield word, frequency


def rarity_in_english(term: str) -> float:
    """Returns how rare a stemmed term is in English: 1 for what is in no list of common words, down to 0.05."""
    frequency = _frequencies().get(term, _RARE)
    rarity = (_SAYS_NOTHING - frequency) / (_SAYS_NOTHING - _RARE)
    return min(max(rarity, LEAST_RARITY), 1.0)


def name_at_start(sentence: str) -> str:
    """Returns the first word if it is most likely a name; empty if it is none.

    Every sentence begins with a capital: a word that hardly anybody uses is taken for a name.
    """
    first = _FIRST_WORD.match(sentence)
    if first is None or rarity_in_english(stem(fold(first[1]))) < 1:
        return ""
    return first[1]
