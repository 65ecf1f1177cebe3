"""Reads a misspelt word of a question as the word of the courses that it is nearest to; pure."""

from __future__ import annotations

from collections.abc import Iterable

from antiphon.engine.offline.catalogue import Catalogue
from antiphon.engine.offline.task import Source
from antiphon.engine.offline.titles import nearest_word, tokens_of
from antiphon.language.evidence import Weigh, is_unknown
from antiphon.language.tongues import ENGLISH, tongue_of
from antiphon.language.words import words

MOST_WORDS = 20_000


def corrected(
    question: str, weigh: Weigh, catalogue: Catalogue, sources: Iterable[Source]
) -> str:
    """Returns the question with each word that no passage holds as the nearest one of titles and of what was found.

    A word that is near to none stays: it is a name that the courses do not know, which tells much. In another language
    no word is misspelt for being unknown.
    """
    if tongue_of(question) is not ENGLISH:
        return question
    unknown = [
        token
        for token in tokens_of(question)
        if token.term is not None and is_unknown(token.term, weigh)
    ]
    if not unknown:
        return question
    vocabulary = _vocabulary(catalogue, sources)
    text = question
    # From the end, so that the places of those before stay right.
    for token in reversed(unknown):
        near = nearest_word(token.word, vocabulary)
        if near is not None:
            text = text[: token.start] + near + text[token.end :]
    return text


def _vocabulary(catalogue: Catalogue, sources: Iterable[Source]) -> tuple[str, ...]:
    texts = [course.title for course in catalogue.courses]
    texts += [each.lesson.title for each in catalogue.lessons]
    for source in sources:
        texts += source.blocks
    found: dict[str, None] = {}
    for text in texts:
        found.update(dict.fromkeys(words(text)))
        if len(found) > MOST_WORDS:
            break
    return tuple(found)
