"""Knows a few languages by their commonest words, and what to say in them beside answers from English courses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from antiphon.language.glossary import WORDS_FOR_CATALOGUE, in_english
from antiphon.language.words import words

_LEAST_SHARE = 0.25
_FEWEST = 2


class Tongue(NamedTuple):
    """A language in which questions are asked.

    Attributes:
        common: Its commonest words, as `language.words.fold` writes them; none for what is known by its script.
        note: Says in it that the courses are in English; empty for English and for unknown languages.
        fitting: Stands before what fits a question.
        closest: Stands before what may not answer it.
        glossary: The English for its words in which a catalogue is asked.
    """

    common: frozenset[str] = frozenset()
    note: str = ""
    fitting: str = ""
    closest: str = ""
    glossary: Mapping[str, str] = MappingProxyType({})

    def in_english(self, question: str) -> str:
        """Returns the question with the words in which it asks of a catalogue in English."""
        return in_english(question, self.glossary)

    def share(self, asked: list[str]) -> float:
        """Returns the share of these words that are common in it."""
        if not asked:
            return 0.0
        return sum(word in self.common for word in asked) / len(asked)


def _tongue(
    language: str, common: str, note: str, fitting: str, closest: str
) -> Tongue:
    glossary = WORDS_FOR_CATALOGUE[language]
    asking = set(" ".join(glossary).split())
    known = asking - _ENGLISH_WORDS - _ENGLISH_TOO | set(common.split())
    return Tongue(frozenset(known), note, fitting, closest, glossary)


_ENGLISH = (
    "the is are was what how why when where who which of and to in on for with does do did can it that this a an "
    "about between from not be by explain tell me"
)
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_ALSO_ENGLISH = "was over i no as resume link instructor professor titel premier come"
_ENGLISH_TOO = frozenset(_ALSO_ENGLISH.split())
"""Words of the glossary that an English question may hold."""
ENGLISH = Tongue(_ENGLISH_WORDS)
"""English, or a language that is not known."""
_TONGUES = (
    _tongue(
        "de",
        "der die das und ist ein eine einen wie wo wer welche welcher welches warum wann wird werden sind nicht "
        "von fur mit zu im den dem des ich kann man gibt uber bei auf wozu macht lernt kurs lektion",
        "Die Kurse sind auf Englisch.",
        "Dies passt am besten:",
        "Vielleicht beantworten sie das nicht. Am n\u00e4chsten kommt dem:",
    ),
    _tongue(
        "fr",
        "le la les des est une un et qui que quoi quel quelle quels quelles comment pourquoi quand dans pour avec sur "
        "du de sont ce cette fait faire cours lecon il elle qu c l d",
        "Les cours sont en anglais.",
        "Voici ce qui s\u2019en approche le plus\u00a0:",
        "Ils n\u2019y r\u00e9pondent peut-\u00eatre pas. Voici ce qui s\u2019en approche le plus\u00a0:",
    ),
    _tongue(
        "es",
        "el la los las es una un y que como por cual cuales cuando donde quien para con del de son se en leccion curso "
        "hace sirve",
        "Los cursos est\u00e1n en ingl\u00e9s.",
        "Esto es lo m\u00e1s cercano:",
        "Quiz\u00e1 no lo respondan. Esto es lo m\u00e1s cercano:",
    ),
    _tongue(
        "it",
        "il lo la gli le un una di che e come perche quando dove chi cosa quale quali per con del della sono si nel "
        "lezione corso",
        "I corsi sono in inglese.",
        "Ecco ci\u00f2 che si avvicina di pi\u00f9:",
        "Forse non rispondono. Ecco ci\u00f2 che si avvicina di pi\u00f9:",
    ),
    _tongue(
        "pt",
        "o os as um uma que como por qual quais quando onde quem para com do da dos das sao se em no na e aula curso "
        "funciona",
        "Os cursos est\u00e3o em ingl\u00eas.",
        "Isto \u00e9 o mais pr\u00f3ximo:",
        "Talvez n\u00e3o respondam a isso. Isto \u00e9 o mais pr\u00f3ximo:",
    ),
    _tongue(
        "nl",
        "de het een en is wat hoe waarom wanneer waar wie welke van voor met op te zijn niet worden wordt les cursus",
        "De cursussen zijn in het Engels.",
        "Dit past het best:",
        "Misschien beantwoorden ze dit niet. Dit komt het dichtst in de buurt:",
    ),
)
_SCRIPTS = (
    (
        re.compile(r"[\u3040-\u30ff]"),
        Tongue(
            note="\u30b3\u30fc\u30b9\u306f\u82f1\u8a9e\u3067\u3059\u3002",
            fitting="\u6700\u3082\u8fd1\u3044\u7b87\u6240\uff1a",
            closest="\u7b54\u3048\u306f\u306a\u3044\u304b\u3082\u3057\u308c\u307e\u305b\u3093\u3002"
            "\u6700\u3082\u8fd1\u3044\u7b87\u6240\uff1a",
        ),
    ),
    (
        re.compile(r"[\u4e00-\u9fff]"),
        Tongue(
            note="\u8bfe\u7a0b\u662f\u82f1\u6587\u7684\u3002",
            fitting="\u6700\u63a5\u8fd1\u7684\u5185\u5bb9\uff1a",
            closest="\u8bfe\u7a0b\u53ef\u80fd\u6ca1\u6709\u56de\u7b54\u8fd9\u4e2a\u95ee\u9898\u3002"
            "\u6700\u63a5\u8fd1\u7684\u5185\u5bb9\uff1a",
        ),
    ),
    (
        re.compile(r"[\u0400-\u04ff]"),
        Tongue(
            note="\u041a\u0443\u0440\u0441\u044b \u043d\u0430 "
            "\u0430\u043d\u0433\u043b\u0438\u0439\u0441\u043a\u043e\u043c.",
            fitting="\u0412\u043e\u0442 \u0441\u0430\u043c\u043e\u0435 \u0431\u043b\u0438\u0437\u043a\u043e\u0435:",
            closest="\u0412\u043e\u0437\u043c\u043e\u0436\u043d\u043e, \u043e\u0442\u0432\u0435\u0442\u0430 \u0432 "
            "\u043d\u0438\u0445 \u043d\u0435\u0442. \u0412\u043e\u0442 \u0441\u0430\u043c\u043e\u0435 "
            "\u0431\u043b\u0438\u0437\u043a\u043e\u0435:",
        ),
    ),
)


def tongue_of(question: str) -> Tongue:
    """Returns the language of a question; `ENGLISH` where it is not known."""
    for script, tongue in _SCRIPTS:
        if script.search(question):
            return tongue
    asked = words(question)
    best = max(_TONGUES, key=lambda tongue: tongue.share(asked))
    share = best.share(asked)
    if share < _LEAST_SHARE or share * len(asked) < _FEWEST:
        return ENGLISH
    if share <= ENGLISH.share(asked):
        return ENGLISH
    return best
