"""The frequency of words in English at large: a word that everybody uses says little about a question's subject.

In a few courses "colleagues" may occur as rarely as "quicksort". Only the general frequency of a word tells the two
apart, so rarity in the courses is weighed by rarity in English. Frequencies are those of wordfreq, on the Zipf
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
"""The small list has no words below this: names, technical terms, misspellings, other languages."""
_SAYS_NOTHING = 8.0
LEAST_RARITY = 0.05


@lru_cache(maxsize=1)
def _frequencies() -> Mapping[str, float]:
    """Returns the Zipf frequency of each stem, which is that of its most frequent word."""
    found: dict[str, float] = {}
    listed = list(listed_words())
    folded = [fold(word) for word, _ in listed]
    for term, (_, frequency) in zip(stems(folded), listed, strict=True):
        found[term] = max(frequency, found.get(term, 0.0))
    return found


def listed_words(language: str = "en") -> Iterator[tuple[str, float]]:
    """Yields each word of wordfreq's list for a language with its Zipf frequency.

    Read from its file and not by `wordfreq.get_frequency_dict`: importing the package reads the source of every loaded
    module (the package `locate`, by `inspect.stack`), which takes over half a second, and loads a tokenizer and
    language tables that nothing here needs.
    """
    spec = find_spec("wordfreq")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("wordfreq is not installed", name="wordfreq")
    path = Path(spec.origin).parent / "data" / f"small_{language}.msgpack.gz"
    _, *buckets = msgspec.msgpack.decode(gzip.decompress(path.read_bytes()))
    # The format is cBpack: after a header, bucket n holds the words with a frequency of -n centibels.
    for centibels, words in enumerate(buckets):
        # One float object for all of them saves memory.
        frequency = _PER_BILLION - centibels / _CENTIBELS
        for word in words:
            yield word, frequency


def rarity_in_english(term: str) -> float:
    """Returns the rarity of a stemmed term in English: 1 for one outside the list of common words, down to 0.05."""
    frequency = _frequencies().get(term, _RARE)
    rarity = (_SAYS_NOTHING - frequency) / (_SAYS_NOTHING - _RARE)
    return min(max(rarity, LEAST_RARITY), 1.0)


def name_at_start(sentence: str) -> str:
    """Returns the first word if it is most likely a name; empty otherwise.

    Every sentence begins with a capital: so a rare word counts as a name.
    """
    first = _FIRST_WORD.match(sentence)
    if first is None or rarity_in_english(stem(fold(first[1]))) < 1:
        return ""
    return first[1]
