"""Distinguishes text from garbage: a font without a map gives codes, signs of many scripts, or meaningless letters.

Citations show indexed text, so garbage is left out, by lines or whole pages, and the caller reports that; pure.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

# Controls, private-use characters of fonts, and the replacement for an unknown character.
_UNMAPPED = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffd\uffff\ufdd0-\ufdef\ue000-\uf8ff\U000f0000-\U0010ffff]"
_UNKNOWN = re.compile(_UNMAPPED)
# The sign of a symbol font before a list item.
_BULLET = re.compile(rf"^[ \t]*{_UNMAPPED}{{1,3}}(?=[ \t])", re.MULTILINE)
# Between two letters it replaces a third one.
_WITHIN_WORD = re.compile(rf"(?<=[^\W\d_]){_UNMAPPED}+(?=[^\W\d_])")
# "/G01/G02", "(cid:12)": names of glyphs in place of letters.
_GLYPHS = re.compile(r"(?:(?:/[A-Za-z]{1,3}[0-9]{1,5}|\(cid:[0-9]{1,5}\))[ ]?){3,}")
_MOST_UNKNOWN = 0.2
# So few may be real signs among letters: a tick, a sign of a formula.
_FEW_UNKNOWN = 3
_MOST_WITHIN_WORDS = 2
_MOST_GLYPHS = 0.3
_MOST_SCRAMBLED = 0.3

_LETTERS = re.compile(r"[^\W\d_]+")
_BEFORE_OTHER_SCRIPTS = "\u0250"
_VOWELS = frozenset("aeiouyàáâãäåèéêëìíîïòóôõöøùúûüýÿæœāăąēĕėęěīĭį\u0131ōŏőūŭůűų")
# Real pages of 270 files have 0.29 and more, those in shifted letters 0.21 and less.
_FEWEST_VOWELS = 0.25
_FEWEST_LETTERS = 150
_LONGEST_WORD = 24
# "Nort h Buon a Vist a" has one letter in six alone, text in any language one in thirty; "WhatisEarthScience" has none.
_MOST_ODD = 0.1
_FEW_ODD = 15
# Only figures and stops are a table, or the rest of a text whose letters pdfium does not know.
_FEW_SIGNS = 50
_FEWEST_OF_SIGNS = 0.15
# The longest words on average are in tables of names in programs, and have 14 letters.
_LONGEST_ON_AVERAGE = 20


class Legible(NamedTuple):
    """The legible part of a text.

    Attributes:
        text: The legible lines.
        letters: The number of letters in words.
        is_garbled: True if lines were left out.
        is_run_together: True if there are no spaces between the words, and everything was left out for that.
        is_doubtful: True if another reader may read it better.
    """

    text: str
    letters: int = 0
    is_garbled: bool = False
    is_run_together: bool = False
    is_doubtful: bool = False


def legible(text: str) -> Legible:
    """Returns the legible part of a page's text."""
    kept, is_garbled = _without_garbage(text)
    found = _LETTERS.findall(kept)
    latin = [word for word in found if max(word) < _BEFORE_OTHER_SCRIPTS]
    size = sum(map(len, latin))
    letters = sum(map(len, found))
    # In a text of another script these are names and abbreviations.
    if 2 * size > letters and _has_no_vowels(latin):
        return Legible("", is_garbled=True, is_doubtful=True)
    if size > max(_FEWEST_LETTERS, _LONGEST_ON_AVERAGE * len(latin)):
        return Legible("", is_run_together=True, is_doubtful=True)
    odd = sum(len(word) for word in latin if not 1 < len(word) <= _LONGEST_WORD)
    is_odd = odd > max(_MOST_ODD * size, _FEW_ODD)
    return Legible(
        kept,
        letters=letters - odd,
        is_garbled=is_garbled,
        is_doubtful=is_garbled or is_odd or _is_bare(kept, letters),
    )


def _is_bare(text: str, letters: int) -> bool:
    signs = len("".join(text.split()))
    return signs > _FEW_SIGNS and letters < _FEWEST_OF_SIGNS * signs


def _without_garbage(text: str) -> tuple[str, bool]:
    """Returns the meaningful lines, and whether there were others."""
    if text.isascii() and not (_UNKNOWN.search(text) or _GLYPHS.search(text)):
        return text, False
    lines = _BULLET.sub("\u2022", text).split("\n")
    kept = [line for line in lines if not _is_garbled(line)]
    return _UNKNOWN.sub("", "\n".join(kept)), len(kept) < len(lines)


def _is_garbled(line: str) -> bool:
    """Returns True for a line that is mostly meaningless."""
    size = len(line.replace(" ", ""))
    unknown = len(_UNKNOWN.findall(line))
    if unknown > max(_FEW_UNKNOWN, _MOST_UNKNOWN * size):
        return True
    if len(_WITHIN_WORD.findall(line)) >= _MOST_WITHIN_WORDS:
        return True
    if sum(map(len, _GLYPHS.findall(line))) > _MOST_GLYPHS * size:
        return True
    if line.isascii():
        return False
    scrambled = [word for word in _LETTERS.findall(line) if _is_scrambled(word)]
    return len(scrambled) > 1 or sum(map(len, scrambled)) > _MOST_SCRAMBLED * size


def _is_scrambled(word: str) -> bool:
    """Returns True for a word that mixes scripts as nobody would."""
    if word.isascii():
        return False
    return len({_script(letter) for letter in word} - {""}) > 1


_EAST_ASIAN = re.compile(
    "CJK|HIRAGANA|KATAKANA|HANGUL|BOPOMOFO|IDEOGRAPHIC|HALFWIDTH|FULLWIDTH"
)
# Formulas and product names appear within words of any script.
_ANYWHERE = re.compile(
    "LATIN|GREEK|MATHEMATICAL|MICRO|MODIFIER|DOUBLE-STRUCK|SCRIPT|BLACK-LETTER|OHM|KELVIN|ANGSTROM|FEMININE|MASCULINE"
    "|ALEF|PLANCK|TURNED|REVERSED|CIRCLED|SUPERSCRIPT|SUBSCRIPT|COMBINING"
)


@lru_cache(maxsize=10_000)
def _script(letter: str) -> str:
    """Returns the script of a letter; empty for one that goes with any script."""
    if letter < _BEFORE_OTHER_SCRIPTS:
        return ""
    name = unicodedata.name(letter, "")
    if _ANYWHERE.match(name):
        return ""
    return "CJK" if _EAST_ASIAN.match(name) else name.split(" ")[0]


def _has_no_vowels(words: list[str]) -> bool:
    """Returns True for words with too few vowels, as in text whose letters are shifted."""
    letters = "".join({word.lower() for word in words if len(word) > 2})
    if len(letters) < _FEWEST_LETTERS:
        return False
    vowels = sum(letter in _VOWELS for letter in letters)
    return vowels < _FEWEST_VOWELS * len(letters)
