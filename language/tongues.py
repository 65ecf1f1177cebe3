"""Recognises a few languages by their commonest words, and translates their words for asking a catalogue."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from antiphon.language.glossary import SUBJECTS, WORDS_FOR_CATALOGUE, in_english
from antiphon.language.scripts import CHINESE, JAPANESE, RUSSIAN, Script
from antiphon.language.words import words

_LEAST_SHARE = 0.25
_FEWEST = 2


class Tongue(NamedTuple):
    """A language of questions.

    Attributes:
        code: Its ISO 639-1 code.
        common: Its commonest words, as `language.words.fold` writes them; none for a language known by its script.
        glossary: Its words for asking a catalogue, with their English.
        subjects: Its names of courses' subjects, with their English.
        compound: Its compounds of a name and a noun, such as "Datenbankkurs"; None if it has none.
        script: The script that it is known by; None for a language known by its words.
    """

    code: str
    common: frozenset[str] = frozenset()
    glossary: Mapping[str, str] = MappingProxyType({})
    subjects: Mapping[str, str] = MappingProxyType({})
    compound: re.Pattern[str] | None = None
    script: Script | None = None

    def in_english(self, question: str) -> str:
        """Returns the question with its words for asking a catalogue in English."""
        if self.script is not None:
            return self.script.in_english(question)
        if self.compound is not None:
            question = self.compound.sub(r"\g<name> \g<noun>", question)
        return in_english(question, {**self.glossary, **self.subjects})

    def share(self, asked: list[str]) -> float:
        """Returns the share of these words that are common words of it."""
        if not asked:
            return 0.0
        return sum(word in self.common for word in asked) / len(asked)


def _tongue(language: str, common: str) -> Tongue:
    glossary = dict(WORDS_FOR_CATALOGUE[language])
    asking = set(" ".join(glossary).split())
    known = asking - _ENGLISH_WORDS - _ENGLISH_TOO | set(common.split())
    # The language's other little words ask for nothing.
    for word in common.split():
        if word not in _ENGLISH_WORDS:
            glossary.setdefault(word, "")
    return Tongue(
        language,
        frozenset(known),
        glossary,
        SUBJECTS[language],
        _COMPOUNDS.get(language),
    )


_COMPOUNDS = {
    "de": re.compile(r"\b(?P<name>[^\W\d_]{3,40}?)s?(?P<noun>kurs(?:es)?)\b", re.I),
    "nl": re.compile(r"\b(?P<name>[^\W\d_]{3,40}?)(?P<noun>cursus)\b", re.I),
}
_ENGLISH = (
    "the is are was what how why when where who which of and to in on for with does do did can it that this a an "
    "about between from not be by explain tell me"
)
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_ALSO_ENGLISH = (
    "was over i no as resume link instructor professor titel premier come name halt list liste plan programme suit por"
    " programa termine segue nome door"
)
_ENGLISH_TOO = frozenset(_ALSO_ENGLISH.split())
"""Words of the glossary that an English question may hold."""
ENGLISH = Tongue("en", _ENGLISH_WORDS)
"""English, or an unknown language."""
_TONGUES = (
    _tongue(
        "de",
        "der die das und ist ein eine einen wie wo wer welche welcher welches warum wann wird werden sind nicht "
        "von fur mit zu im den dem des ich kann man gibt uber bei auf wozu macht lernt kurs lektion",
    ),
    _tongue(
        "fr",
        "le la les des est une un et qui que quoi quel quelle quels quelles comment pourquoi quand dans pour avec sur "
        "du de sont ce cette fait faire cours lecon il elle qu c l d",
    ),
    _tongue(
        "es",
        "el la los las es una un y que como por cual cuales cuando donde quien para con del de son se en leccion curso "
        "hace sirve su sus",
    ),
    _tongue(
        "it",
        "il lo la gli le un una di che e come perche quando dove chi cosa quale quali per con del della sono si nel "
        "lezione corso",
    ),
    _tongue(
        "pt",
        "o os as um uma que como por qual quais quando onde quem para com do da dos das sao se em no na e aula curso "
        "funciona",
    ),
    _tongue(
        "nl",
        "de het een en is wat hoe waarom wanneer waar wie welke van voor met op te zijn niet worden wordt les cursus",
    ),
)
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff]"), Tongue("ja", script=JAPANESE)),
    (re.compile(r"[\u4e00-\u9fff]"), Tongue("zh", script=CHINESE)),
    (re.compile(r"[\u0400-\u04ff]"), Tongue("ru", script=RUSSIAN)),
)


def tongue_of(question: str) -> Tongue:
    """Returns the language of a question; `ENGLISH` if it is unknown."""
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
