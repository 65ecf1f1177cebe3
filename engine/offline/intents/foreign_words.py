"""Finds the words of a question in another language that are no English ones, and those that titles hold in English."""

from __future__ import annotations

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.mentions import mentions_in
from antiphon.engine.offline.titles import Token, tokens_of
from antiphon.language.cognates import known_word
from antiphon.language.commonness import is_common
from antiphon.language.tongues import Tongue


def are_titles_in(tongue: Tongue, catalogue: Catalogue) -> bool:
    """Returns True where courses are called something in the script of a language: its words may be names then."""
    if tongue.script is None:
        return False
    letters = tongue.script.letters
    return any(letters.search(course.title) for course in catalogue.courses)


def with_words_of_titles(text: str, catalogue: Catalogue) -> str:
    """Returns the text with each foreign word that titles hold in English as they hold it: "anatomía" as "anatomy"."""

    def weigh(term: str) -> float:
        return float(not catalogue.has_in_title(term))

    # From the last to the first: what stands before a word keeps its place.
    for token in reversed(tokens_of(text)):
        if not _is_foreign(token, text, catalogue):
            continue
        known = known_word(token.word, weigh)
        if known is not None:
            text = f"{text[: token.start]}{known}{text[token.end :]}"
    return text


def foreign_words(english: str, catalogue: Catalogue) -> list[Token]:
    """Returns the words that are no English ones; where a course is named, those in capitals too, as in German."""
    text = english
    if mentions_in(english, catalogue).courses:
        text = english.lower()
    return [
        token for token in tokens_of(english) if _is_foreign(token, text, catalogue)
    ]


def _is_foreign(token: Token, text: str, catalogue: Catalogue) -> bool:
    """Returns True for a word that is no English one, and no name."""
    if token.term is None or text[token.start].isupper() or token.word.isdigit():
        return False
    return not is_common(token.term) and not catalogue.has_in_title(token.term)
