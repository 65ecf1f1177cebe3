"""Takes a message apart into the questions that can each be answered apart; pure."""

from __future__ import annotations

import re
from itertools import islice

from antiphon.language.asking import Ask, asked_of_catalogue
from antiphon.language.questions import READ_CHARS, compared_sides, points_back
from antiphon.language.words import terms

MOST_QUESTIONS = 3

_ASKING = (
    r"(?:what|how|why|does|do|is|are|can|should|who teaches|summari[sz]e|list|give me|tell me|explain|describe|show me"
    r"|name)\b"
)
# Behind "and", "who" and "which" go on with a sentence more often than they begin a question.
_NEXT_QUESTION = re.compile(
    rf"(?<=[?.!])\s+(?:and\s+|also,?\s+)*(?={_ASKING}|(?:who|whose|when|where|which|in which)\b)"
    rf"|[,;]?\s+(?:and|or)(?:,? (?:also|please|then))?\s+(?={_ASKING})",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"\s*(?:{_ASKING}|(?:who|whose|when|where|which|in which)\b)", re.IGNORECASE
)
_BEHIND_CATALOGUE = re.compile(
    r"[,;]?\s+and\s+(?=(?:what|which|who|whose|how|why|when|where|in which)\b)",
    re.IGNORECASE,
)
_MOST_BORDERS = 8
"""At each border the text on both sides is read: a question has a few, a hostile text hundreds."""
_OF_A_COURSE: frozenset[Ask] = frozenset(("teacher", "lessons"))
_VERB_IN_FRONT = (
    r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|shall|should|may|might|must|to)\b"
    r"|['\u2019]"
)
# "Where was Git made." asks without its mark; in "When a queue is full, it blocks." the subject stands in front.
_TELLS_WHEN = re.compile(
    rf"\s*(?:when|where|wherever|whenever)\b(?!\s*(?:(?:exactly|else|and how)\s+)?(?:{_VERB_IN_FRONT}))[^?]*[.!]\s*$",
    re.IGNORECASE,
)


def questions_in(text: str) -> tuple[str, ...]:
    """Returns the questions of a message that can each be answered apart; the whole where there is but one.

    A question that leans on the one before it stays with it: "Who wrote it, and when?" is one. So does a statement with
    the question that it is the background of.
    """
    text = text[:READ_CHARS]
    if compared_sides(text) is not None:
        return (text,)
    found: list[str] = []
    at = 0
    for border in _NEXT_QUESTION.finditer(text):
        if _is_whole(text[at : border.start()]) and _is_whole(text[border.end() :]):
            found.append(text[at : border.start()].strip())
            at = border.end()
    found.append(text[at:].strip())
    if len(found) == 1:
        found = _behind_catalogue(text)
    return tuple(found[:MOST_QUESTIONS])


def _behind_catalogue(text: str) -> list[str]:
    """Takes "Who teaches it, and which example does she give?" apart: the second is asked of what the first finds."""
    for border in islice(_BEHIND_CATALOGUE.finditer(text), _MOST_BORDERS):
        first, second = text[: border.start()], text[border.end() :]
        if not _ASKS.match(first):
            continue
        if not asked_of_catalogue(first, of_course=True).asks & _OF_A_COURSE:
            continue
        asked = asked_of_catalogue(second, of_course=True)
        if asked.topic and not asked.asks & _OF_A_COURSE:
            return [first.strip(), second.strip()]
    return [text.strip()]


def _is_whole(text: str) -> bool:
    """Returns True for a piece of a message that is a question of its own."""
    if _TELLS_WHEN.match(text) or (_ASKS.match(text) is None and "?" not in text):
        return False
    # What a catalogue is asked of "it" is answered of the course that the question before is about.
    if asked_of_catalogue(text).is_pure:
        return True
    return bool(terms(text)) and not points_back(text)
