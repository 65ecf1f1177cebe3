"""Knows a few languages by their commonest words, and what to say in them beside answers from English courses."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from antiphon.language.cognates import known_word
from antiphon.language.evidence import Weigh
from antiphon.language.glossary import SUBJECTS, WORDS_FOR_CATALOGUE, in_english
from antiphon.language.scripts import CHINESE, JAPANESE, RUSSIAN, Script
from antiphon.language.words import words

_LEAST_SHARE = 0.25
_FEWEST = 2
_FEW_WORDS = 2
"""Names are the same in many languages; longer questions are more than a name."""


class Tongue(NamedTuple):
    """A language in which questions are asked.

    Attributes:
        common: Its commonest words, as `language.words.fold` writes them; none for what is known by its script.
        note: Says in it that the courses are in English; empty for English and for unknown languages.
        fitting: Stands before what fits a question.
        closest: Stands before what may not answer it.
        nothing: Says that nothing was found.
        glossary: The English for its words in which a catalogue is asked.
        subjects: The English for its names of what courses are about.
        compound: Words that it makes of a name and a noun, such as "Datenbankkurs"; None where it makes none.
        script: The script that it is known by; None for a language that is known by its words.
    """

    common: frozenset[str] = frozenset()
    note: str = ""
    fitting: str = ""
    closest: str = ""
    nothing: str = ""
    glossary: Mapping[str, str] = MappingProxyType({})
    subjects: Mapping[str, str] = MappingProxyType({})
    compound: re.Pattern[str] | None = None
    script: Script | None = None

    def in_english(self, question: str) -> str:
        """Returns the question with the words in which it asks of a catalogue in English."""
        if self.script is not None:
            return self.script.in_english(question)
        if self.compound is not None:
            question = self.compound.sub(r"\g<name> \g<noun>", question)
        return in_english(question, {**self.glossary, **self.subjects})

    def share(self, asked: list[str]) -> float:
        """Returns the share of these words that are common in it."""
        if not asked:
            return 0.0
        return sum(word in self.common for word in asked) / len(asked)


def _tongue(
    language: str, common: str, note: str, fitting: str, closest: str, nothing: str
) -> Tongue:
    glossary = dict(WORDS_FOR_CATALOGUE[language])
    asking = set(" ".join(glossary).split())
    known = asking - _ENGLISH_WORDS - _ENGLISH_TOO | set(common.split())
    # Its other little words ask for nothing.
    for word in common.split():
        if word not in _ENGLISH_WORDS:
            glossary.setdefault(word, "")
    return Tongue(
        frozenset(known),
        note,
        fitting,
        closest,
        nothing,
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
ENGLISH = Tongue(_ENGLISH_WORDS)
"""English, or a language that is not known."""
_TONGUES = (
    _tongue(
        "de",
        "der die das und ist ein eine einen wie wo wer welche welcher welches warum wann wird werden sind nicht "
        "von fur mit zu im den dem des ich kann man gibt uber bei auf wozu macht lernt kurs lektion",
        "Die Kurse sind auf Englisch.",
        "Dies passt am besten:",
        "Vielleicht beantworten sie das nicht. Am nächsten kommt dem:",
        "Die Antwort steht nicht in diesen Kursen: Zu dieser Frage wurde darin nichts gefunden.",
    ),
    _tongue(
        "fr",
        "le la les des est une un et qui que quoi quel quelle quels quelles comment pourquoi quand dans pour avec sur "
        "du de sont ce cette fait faire cours lecon il elle qu c l d",
        "Les cours sont en anglais.",
        "Voici ce qui s’en approche le plus\u00a0:",
        "Ils n’y répondent peut-être pas. Voici ce qui s’en approche le plus\u00a0:",
        "La réponse n’est pas dans ces cours\u00a0: rien n’y a été trouvé sur cette question.",
    ),
    _tongue(
        "es",
        "el la los las es una un y que como por cual cuales cuando donde quien para con del de son se en leccion curso "
        "hace sirve su sus",
        "Los cursos están en inglés.",
        "Esto es lo más cercano:",
        "Quizá no lo respondan. Esto es lo más cercano:",
        "La respuesta no está en estos cursos: no se ha encontrado nada en ellos sobre esta pregunta.",
    ),
    _tongue(
        "it",
        "il lo la gli le un una di che e come perche quando dove chi cosa quale quali per con del della sono si nel "
        "lezione corso",
        "I corsi sono in inglese.",
        "Ecco ciò che si avvicina di più:",
        "Forse non rispondono. Ecco ciò che si avvicina di più:",
        "La risposta non è in questi corsi: non vi si è trovato nulla su questa domanda.",
    ),
    _tongue(
        "pt",
        "o os as um uma que como por qual quais quando onde quem para com do da dos das sao se em no na e aula curso "
        "funciona",
        "Os cursos estão em inglês.",
        "Isto é o mais próximo:",
        "Talvez não respondam a isso. Isto é o mais próximo:",
        "A resposta não está nestes cursos: não se encontrou neles nada sobre esta pergunta.",
    ),
    _tongue(
        "nl",
        "de het een en is wat hoe waarom wanneer waar wie welke van voor met op te zijn niet worden wordt les cursus",
        "De cursussen zijn in het Engels.",
        "Dit past het best:",
        "Misschien beantwoorden ze dit niet. Dit komt het dichtst in de buurt:",
        "Het antwoord staat niet in deze cursussen: er is daarin niets over deze vraag gevonden.",
    ),
)
_SCRIPTS = (
    (
        re.compile(r"[\u3040-\u30ff]"),
        Tongue(
            script=JAPANESE,
            note="コースは英語です。",
            fitting="最も近い箇所：",
            closest="答えはないかもしれません。最も近い箇所：",
            nothing="答えはこれらのコースにはありません。この質問に関する内容は見つかりませんでした。",
        ),
    ),
    (
        re.compile(r"[\u4e00-\u9fff]"),
        Tongue(
            script=CHINESE,
            note="课程是英文的。",
            fitting="最接近的内容：",
            closest="课程可能没有回答这个问题。最接近的内容：",
            nothing="这些课程中没有答案：没有找到与这个问题有关的内容。",
        ),
    ),
    (
        re.compile(r"[\u0400-\u04ff]"),
        Tongue(
            script=RUSSIAN,
            note="Курсы на английском.",
            fitting="Вот самое близкое:",
            closest="Возможно, ответа в них нет. Вот самое близкое:",
            nothing="В этих курсах нет ответа: по этому вопросу в них ничего не найдено.",
        ),
    ),
)
_ASKING = frozenset(("was", "hat"))
"""German words of questions that are English words too."""


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


def wordings(question: str, weigh: Weigh | None = None) -> tuple[str, ...]:
    """Returns a question in another language in the words that English courses share with it; others as they are.

    Its other words stand in no text of the courses, but an embedder for English reads a little of other languages too:
    a longer question is given with them and without.

    Args:
        weigh: How telling a term is in the courses; None means that it is not known what they hold, and only a short
            question such as "Was ist HNSW?" is asked by the names in it.
    """
    tongue = tongue_of(question)
    if tongue is ENGLISH or not tongue.common:
        return (question,)
    telling = _telling(question, tongue, weigh)
    if 0 < len(telling) <= _FEW_WORDS:
        # What the courses do not know is asked all the same: it is what they lack.
        return (f"What is {' '.join([telling[word] or word for word in telling])}?",)
    known = [word for word in telling.values() if word is not None]
    both = " ".join([question, *known])
    # One word alone is near to anything.
    if len(known) < _FEWEST:
        return (both,)
    return (both, " ".join(known))


def _telling(
    question: str, tongue: Tongue, weigh: Weigh | None
) -> dict[str, str | None]:
    """Returns the words that say what a question is about, each with the one that the courses have for it."""
    telling: dict[str, str | None] = {}
    for word in words(in_english(question, tongue.subjects)):
        if word not in tongue.common and word not in _ASKING:
            telling[word] = _known(word, weigh)
    return telling


def _known(word: str, weigh: Weigh | None) -> str | None:
    if weigh is None:
        return None
    return known_word(word, weigh)
