"""Puts a question in the words that the rules read: in a quiet voice, and without slips in the words that decide."""

from __future__ import annotations

import re

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.intents.foreign_words import (
    are_titles_in,
    with_words_of_titles,
)
from antiphon.engine.offline.titles import nearest_word, tokens_of
from antiphon.language.asides import without_form, without_reasons
from antiphon.language.asking import names_catalogue
from antiphon.language.commonness import spelt_alike
from antiphon.language.small_talk import without_courtesies
from antiphon.language.spoken_of import as_definition
from antiphon.language.tongues import ENGLISH, Tongue

MOST_CHARS = 1000
"""As much of a question is read: some patterns take time by the square of its length."""
_FEWEST_CAPITALS = 9
"""In fewer letters, capitals are an abbreviation."""
_RUN_TOGETHER = re.compile(r"\b(what|who|where|how|when)s\b", re.I)
_CATALOGUE_WORDS = (
    "teacher",
    "teachers",
    "teaches",
    "teaching",
    "taught",
    "instructor",
    "instructors",
    "lecturer",
    "lesson",
    "lessons",
    "lecture",
    "lectures",
    "course",
    "courses",
    "outline",
)
_SHORT_FOR_WITH = re.compile(r"(?<=\s)w(?:/\s?|\s)(?!o\b)(?=\w)", re.I)


def plainly(question: str) -> str:
    """Returns the question as it would be asked in a quiet voice: without courtesies, and not all in capitals."""
    asked = _RUN_TOGETHER.sub(r"\1's", question[:MOST_CHARS])
    asked = _SHORT_FOR_WITH.sub("with ", asked)
    letters = sum(letter.isalpha() for letter in asked)
    if letters >= _FEWEST_CAPITALS and asked.isupper():
        asked = asked.lower()
    asked = as_definition(without_courtesies(asked).strip())
    # Of a course or a lesson, what is asked for in short is an overview.
    if names_catalogue(asked):
        return asked
    return without_form(asked)


def in_english(asked: str, tongue: Tongue, catalogue: Catalogue) -> str:
    """Returns what is asked of a catalogue in English words; the rest of a question in another language stays."""
    english = asked
    if not are_titles_in(tongue, catalogue):
        english = tongue.in_english(asked)
    english = without_reasons(english)
    if tongue is ENGLISH:
        return _spelt(english, catalogue)
    return with_words_of_titles(english, catalogue)


def _spelt(asked: str, catalogue: Catalogue) -> str:
    """Returns the question with "teaching" for "teching": the words for what a catalogue holds, where misspelt."""
    text = asked
    for token in reversed(tokens_of(asked)):
        if token.term is None or catalogue.has_in_title(token.term):
            continue
        # "Cores" is a word of its own.
        if token.word in spelt_alike(token.word):
            continue
        word = nearest_word(token.word, _CATALOGUE_WORDS)
        if word is not None and not token.word.startswith(word):
            text = f"{text[: token.start]}{word}{text[token.end :]}"
    return text
