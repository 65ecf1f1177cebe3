"""Puts those words of a question in another language into English that the courses know under the same name; pure.

The words of a trade are alike in many languages: "transacciones" are transactions, "spécification" is a specification.
Only what stands in the courses is taken, so that an ending may be tried freely.
"""

from __future__ import annotations

from collections.abc import Iterator

from antiphon.language.evidence import Weigh, is_unknown
from antiphon.language.words import stem

_FEWEST_LETTERS = 4
_MOST_LETTERS = 40
# Each ending, as `language.words.fold` writes it, and the English ones in its place, without which a stem is none.
_ENDINGS = {
    "ciones": "tions",
    "cion": "tion",
    "siones": "sions",
    "zioni": "tions",
    "zione": "tion",
    "coes": "tions",
    "cao": "tion",
    "isierung": "ization",
    "ierung": "ation",
    "idad": "ity",
    "idade": "ity",
    "itat": "ity",
    "ite": "ity",
    "ita": "ity",
    "enz": "ence",
    "anz": "ance",
    "encia": "ence",
    "enza": "ence",
    "ancia": "ance",
    "ia": "y",
    "ique": "ic",
    "ico": "ic",
    "ica": "ic",
    "isch": "ic",
    "ische": "ic",
    "mente": "ly",
    "miento": "ment",
    "mento": "ment",
    "ieren": "",
    "ateur": "ator",
    "ador": "ator",
    "eur": "or",
    "ivo": "ive",
    "iva": "ive",
    "if": "ive",
    "en": "",
    "es": "",
    "os": "s",
    "as": "s",
    "o": "",
    "a": "",
    "e": "",
}
_LETTERS = (("k", "c"), ("z", "c"), ("mm", "m"), ("pp", "p"), ("qu", "c"), ("x", "j"))
"""Letters that English writes otherwise."""


def known_word(word: str, weigh: Weigh) -> str | None:
    """Returns the word of the courses that a folded word of another language is; None where it is none of theirs."""
    if not _FEWEST_LETTERS <= len(word) <= _MOST_LETTERS:
        return None
    for candidate in _candidates(word):
        if len(candidate) >= _FEWEST_LETTERS and not is_unknown(stem(candidate), weigh):
            return candidate
    return None


def _candidates(word: str) -> Iterator[str]:
    for spelt in _spellings(word):
        yield spelt
        for ending, english in _ENDINGS.items():
            if spelt.endswith(ending):
                yield spelt.removesuffix(ending) + english


def _spellings(word: str) -> Iterator[str]:
    yield word
    for foreign, english in _LETTERS:
        if foreign in word:
            yield word.replace(foreign, english)
