"""Knows a few languages by their commonest words, and says in them that the courses are in another; pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.language.words import words

_LEAST_SHARE = 0.25
_FEWEST = 2
_FEW_WORDS = 2
"""Names are the same in many languages; longer questions are more than a name."""


class _Tongue(NamedTuple):
    common: frozenset[str]
    note: str


def _tongue(common: str, note: str) -> _Tongue:
    return _Tongue(frozenset(common.split()), note)


# Words as `language.words.fold` writes them. None of them is an English word that a question is likely to hold.
_TONGUES = (
    _tongue(
        "der die das und ist ein eine einen wie wo wer welche welcher welches warum wann wird werden sind nicht "
        "von fur mit zu im den dem des ich kann man gibt uber bei auf wozu macht lernt kurs lektion",
        "Die Kurse sind auf Englisch. Dies passt am besten:",
    ),
    _tongue(
        "le la les des est une un et qui que quoi quel quelle quels quelles comment pourquoi quand dans pour avec sur "
        "du de sont ce cette fait faire cours lecon il elle qu c l d",
        "Les cours sont en anglais. Voici ce qui s\u2019en approche le plus\u00a0:",
    ),
    _tongue(
        "el la los las es una un y que como por cual cuales cuando donde quien para con del de son se en leccion curso "
        "hace sirve",
        "Los cursos est\u00e1n en ingl\u00e9s. Esto es lo m\u00e1s cercano:",
    ),
    _tongue(
        "il lo la gli le un una di che e come perche quando dove chi cosa quale quali per con del della sono si nel "
        "lezione corso",
        "I corsi sono in inglese. Ecco ci\u00f2 che si avvicina di pi\u00f9:",
    ),
    _tongue(
        "o os as um uma que como por qual quais quando onde quem para com do da dos das sao se em no na e aula curso "
        "funciona",
        "Os cursos est\u00e3o em ingl\u00eas. Isto \u00e9 o mais pr\u00f3ximo:",
    ),
    _tongue(
        "de het een en is wat hoe waarom wanneer waar wie welke van voor met op te zijn niet worden wordt les cursus",
        "De cursussen zijn in het Engels. Dit komt het dichtst in de buurt:",
    ),
)
_SCRIPTS = (
    (
        re.compile(r"[\u3040-\u30ff]"),
        "\u30b3\u30fc\u30b9\u306f\u82f1\u8a9e\u3067\u3059\u3002\u6700\u3082\u8fd1\u3044\u7b87\u6240\uff1a",
    ),
    (
        re.compile(r"[\u4e00-\u9fff]"),
        "\u8bfe\u7a0b\u662f\u82f1\u6587\u7684\u3002\u6700\u63a5\u8fd1\u7684\u5185\u5bb9\uff1a",
    ),
    (
        re.compile(r"[\u0400-\u04ff]"),
        "\u041a\u0443\u0440\u0441\u044b \u043d\u0430 \u0430\u043d\u0433\u043b\u0438\u0439\u0441\u043a\u043e\u043c. "
        "\u0412\u043e\u0442 \u0441\u0430\u043c\u043e\u0435 \u0431\u043b\u0438\u0437\u043a\u043e\u0435:",
    ),
)
_ENGLISH_WORDS = (
    "the is are was what how why when where who which of and to in on for with does do did can it that this a an "
    "about between from not be by explain tell me"
)
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_ASKING = frozenset(("was", "hat"))
"""German words of questions that are English words too."""


def note_on_language(question: str) -> str | None:
    """Returns, in the question's own language, that the courses are in English; None for English and unknown ones."""
    for script, note in _SCRIPTS:
        if script.search(question):
            return note
    tongue = _tongue_of(words(question))
    if tongue is None:
        return None
    return tongue.note


def asked_in_english(question: str) -> str:
    """Returns a short question in another language, such as "Was ist HNSW?", as it is asked in English; others as is.

    Its little words stand in no text of the courses: each would weigh as much as a rare name.
    """
    asked = words(question)
    tongue = _tongue_of(asked)
    if tongue is None:
        return question
    telling = [word for word in asked if word not in tongue.common | _ASKING]
    if not 0 < len(telling) <= _FEW_WORDS:
        return question
    return f"What is {' '.join(telling)}?"


def _tongue_of(asked: list[str]) -> _Tongue | None:
    english = _share(asked, _ENGLISH)
    best = max(_TONGUES, key=lambda tongue: _share(asked, tongue.common))
    found = sum(word in best.common for word in asked)
    share = _share(asked, best.common)
    if found < _FEWEST or share < _LEAST_SHARE or english >= share:
        return None
    return best


def _share(asked: list[str], common: frozenset[str]) -> float:
    if not asked:
        return 0.0
    return sum(word in common for word in asked) / len(asked)
