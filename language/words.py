"""Words in the form that retrieval compares: lower case, without accents, stemmed, without the commonest."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import filterfalse

import Stemmer

CACHED_CHARS = 1_000
"""The length of sentences whose terms are cached between queries."""
FEWEST_WORDS = 6
LEAST_COMMON = 0.12
"""The share of common words is 0.4 to 0.5 in English texts and 0.05 in German ones, which have "in" and "was" too."""

# Han, kana, Thai, Lao, Burmese and Khmer: scripts without spaces between words.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_UNSPACED_LETTER = re.compile(
    f"[{_UNSPACED}\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f]"
)
# Names such as C++, C# and 3.11 count as one word.
_WORD = re.compile(r"\w+(?:\.\w+)*[+#]*")
_POSSESSIVE = re.compile(r"['\u2019]s?\b")
_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being below between both but by
    can could course courses did do does doing down during each explain few for from further give had has have having
    he her here hers him his how i if in into is it its itself just lesson lessons let may me might more most must my
    no nor not now of off on once one only or other our out over own please s same say says shall she should show so
    some such t taught teach teaches tell than that the their them then there these they this those through to too
    treat treats under until up use used uses very was we were what when where which while who whom why will with
    would you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
"""The commonest words, which carry no meaning."""


def fold(text: str) -> str:
    """Returns `text` in lower case and without accents."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKD", text.casefold())
    # NFKD separates letters from their accents, so that the accents can be dropped.
    return "".join(filterfalse(unicodedata.combining, plain))


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Returns the Snowball English stem of a folded word (https://snowballstem.org/algorithms/english/stemmer.html)."""
    return str(Stemmer.Stemmer("english").stemWord(word))


def stems(words: Sequence[str]) -> list[str]:
    """Returns the stems of many folded words, one each, without caching them: a list must not fill the cache."""
    found: list[str] = Stemmer.Stemmer("english").stemWords(words)
    return found


def words(text: str) -> list[str]:
    """Returns all words of `text`, folded, in order; in a script without spaces, each pair of adjacent letters."""
    found: list[str] = _WORD.findall(_POSSESSIVE.sub("", fold(text)))
    if text.isascii() or _UNSPACED_RUN.search(text) is None:
        return found
    split: list[str] = []
    for word in found:
        split += _pairs(word)
    return split


def is_unspaced(character: str) -> bool:
    """Returns True for a letter or a mark of a script without spaces between words."""
    return _UNSPACED_LETTER.match(character) is not None


def _pairs(word: str) -> list[str]:
    """Splits runs of a script without spaces into overlapping pairs, as full-text indexes of such scripts do."""
    parts: list[str] = []
    last = 0
    for run in _UNSPACED_RUN.finditer(word):
        parts.append(word[last : run.start()])
        letters = run.group()
        pairs = [letters[at : at + 2] for at in range(len(letters) - 1)]
        parts += pairs or [letters]
        last = run.end()
    parts.append(word[last:])
    return [part for part in parts if part]


def terms(text: str) -> list[str]:
    """Returns the stems of the words that carry meaning, in order, repeats kept."""
    return [stem(word) for word in words(text) if word not in STOP_WORDS]


def sentence_terms(sentence: str) -> frozenset[str]:
    """Returns the terms of one sentence; cached, because queries find the same passages again and again."""
    # Caching a sentence as long as a document would cost more memory than stemming it again is worth.
    if len(sentence) > CACHED_CHARS:
        return frozenset(terms(sentence))
    return _cached_terms(sentence)


@lru_cache(maxsize=4096)
def _cached_terms(sentence: str) -> frozenset[str]:
    return frozenset(terms(sentence))


def is_english(text: str) -> bool:
    """Returns True if enough of the words are common English ones; very few words prove nothing, so they pass."""
    written = words(text)
    if len(written) < FEWEST_WORDS:
        return True
    common = 0
    for word in written:
        common += word in STOP_WORDS
    return common >= LEAST_COMMON * len(written)


@lru_cache(maxsize=20_000)
def label_terms(label: str) -> frozenset[str]:
    """Returns the terms of a title or source; cached, because every query meets the same ones."""
    return frozenset(terms(label))
