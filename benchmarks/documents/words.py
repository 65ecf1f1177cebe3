"""Splits texts into words for counting, and finds the words of a reference that a text lacks."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import chain, pairwise

# Scripts without spaces do not mark words: each letter counts as one.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_DIVIDED = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010][ ]*\n[ ]*(?=[^\W\d_])")
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_MEANINGLESS = re.compile(
    r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff]|\(cid:\d+\)|/[gG]\d+(?=/|\s|$)"
)
_GARBAGE_SHARE = 0.1
_FEWEST_REPEATS = 4
_MOST_PARTS = 12
_NUMBER = re.compile(r"\d+")
_PASSAGE = re.compile(r"[^\n]{1,400}")


def words(text: str) -> list[str]:
    """Returns the words of a text, and joins those that a line break divides."""
    whole = _DIVIDED.sub("", text)
    plain = unicodedata.normalize("NFKC", _UNSEEN.sub("", whole))
    return _WORD.findall(plain.casefold())


def without_running(text: str) -> str:
    """Returns the text of pages with repeated titles and page numbers only once."""
    pages = text.split("\f")
    counts: Counter[str] = Counter()
    for page in pages:
        counts.update({_shape(line) for line in page.split("\n")})
    fewest = max(_FEWEST_REPEATS, len(pages) // 3)
    said: set[str] = set()
    kept = []
    for page in pages:
        for line in page.split("\n"):
            shape = _shape(line)
            if counts[shape] < fewest or shape not in said:
                kept.append(line)
            said.add(shape)
    return "\n".join(kept)


def _shape(line: str) -> str:
    return _NUMBER.sub("#", " ".join(line.split()))


def missing(reference: Sequence[str], found: Sequence[str]) -> list[str]:
    """Returns the words that occur less often in the found text than in the reference.

    A word found as part of a pair of adjacent words is no loss, nor are several words found as one.
    """
    lost = Counter(reference) - Counter(found)
    if lost:
        lost -= Counter(f"{a}{b}" for a, b in pairwise(found))
        lost -= _found_as_one(reference, lost, Counter(found) - Counter(reference))
    # In the order of the reference.
    listed = []
    for word in dict.fromkeys(reference):
        listed += [word] * lost[word]
    return listed


def _found_as_one(
    reference: Sequence[str], lost: Counter[str], more: Counter[str]
) -> Counter[str]:
    """Counts adjacent lost words that together make a word which was found more often."""
    parts: Counter[str] = Counter()
    for start, word in enumerate(reference):
        if word not in lost:
            continue
        for end in range(start + 2, start + _MOST_PARTS):
            together = "".join(reference[start:end])
            if more[together] > 0:
                more[together] -= 1
                parts.update(reference[start:end])
                break
    return parts


def agreed(texts: Sequence[Sequence[str]]) -> list[str]:
    """Returns the words that at least two of several texts share, in the order of the first of them."""
    counts = [Counter(text) for text in texts]
    left: Counter[str] = Counter()
    for word in set().union(*texts):
        often = sorted(count[word] for count in counts)
        left[word] = often[-2] if len(often) > 1 else often[-1]
    listed = []
    for word in chain.from_iterable(texts):
        if left[word] > 0:
            left[word] -= 1
            listed.append(word)
    return listed


def garbage(text: str) -> int:
    """Counts the passages of a text that are garbage."""
    found = 0
    for passage in _PASSAGE.findall(text):
        signs = len("".join(passage.split()))
        lost = sum(map(len, _MEANINGLESS.findall(passage)))
        found += lost > 2 and lost > _GARBAGE_SHARE * signs
    return found
