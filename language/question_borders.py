"""Takes a message apart into the questions that can each be answered apart; pure."""

from __future__ import annotations

import re
from itertools import islice

from antiphon.language.asking import Ask, asked_of_catalogue, names_catalogue
from antiphon.language.questions import READ_CHARS, compared_sides, points_back
from antiphon.language.words import terms, words

MOST_QUESTIONS = 3

_ASKING = (
    r"(?:what|how|why|does|do|is|are|can|should|who teaches|who's teaching|summari[sz]e|list|give me|tell me|send"
    r"|remind me|explain|describe|define|show me|name|say (?:what|which|who|how|why|when|where))\b"
)
_IN_FRONT = r"(?:(?:up )?to|in|at|by|for|from|with|on|of|after|before) (?:what|which|whom|how (?:many|much|long))\b"
_QUESTION_WORD = rf"(?:{_ASKING}|(?:who|whose|when|where|which)\b|{_IN_FRONT})"
# What is wanted of a catalogue, by its name.
_NOUN = r"(?:names?|number|links?|urls?|titles?|teachers?|instructors?|lecturers?|address)\b"
_NEEDS = (
    r"(?:(?:i\s+|i['\u2019]d\s+)?(?:also\s+)?(?:need|want|like)\s+(?:also\s+)?(?:to (?:know|have|see|get)\s+)?"
    rf"(?:the\s+)?{_NOUN})"
)
_IN_PLACE = (
    r"(?:in|from) (?:the|that|your) [^.?!:,]{3,60}\b(?:course|class|lesson|lecture)\b[,:]\s*"
    r"(?:what|how|why|which|who)\b"
)
# What somebody says who has one more thing to ask.
_BESIDES = (
    r"(?:oh|also|then|plus|ps|btw|by the way|furthermore|moreover|in addition|after that"
    r"|while (?:you|we)(?:['\u2019]re| are) at it)\b"
)
# Behind "and", "who" and "which" go on with a sentence more often than they begin a question.
_NEXT_QUESTION = re.compile(
    rf"(?<=[?.!])\s+(?:(?:and\b|{_BESIDES})[,:]?\s+)*(?={_QUESTION_WORD}|{_NEEDS}|{_IN_PLACE})"
    rf"|(?<=[?.!])\s+(?:(?:and\b|{_BESIDES})[,:]?\s+)+(?=[^?]{{3,200}}\?)"
    r"|(?<=\?)\s+(?=[^?]{3,200}\?)"
    rf"|[,;]?\s+(?:and,?\s+)?{_BESIDES},?\s+(?:and\s+)?(?={_QUESTION_WORD})"
    rf"|[,;]?\s+(?:and|plus)(?:,? (?:also|please|then))?\s+(?={_ASKING}|{_IN_FRONT})"
    # "Is it A, or are some B?" asks one thing.
    r"|[,;]?\s+or\s+(?=(?:what|how|why|who teaches|list|give me|tell me|explain)\b)"
    rf"|(?:\s+[+&/]|;)\s+(?={_QUESTION_WORD})",
    re.IGNORECASE,
)
_NO_PLACE = r"(?!\s*(?:lesson|lecture|course|one|of|and)\b)"
_HEADING = (
    r"[^,:;.]{0,60}\b(?:two|2)\s+(?:things|questions|points|requests)\s*[,:.;]\s*"
)
# "First the title of lesson 3, second who teaches it".
_COUNTED = re.compile(
    rf"^(?:{_HEADING}|[^,:;.]{{0,60}}\s(?=\(a\)))?(?:first(?:ly)?|\(?1[.)]|\(a\)){_NO_PLACE}[,:]?\s+(?P<first>.{{3,}}?)"
    rf"(?:[,;.?]\s*(?:and\s+)?(?:second(?:ly)?|2[.)])|\s(?:and\s+)?\((?:2|b)\)){_NO_PLACE}[,:]?\s+(?P<second>.{{3,}})$",
    re.IGNORECASE | re.DOTALL,
)
# "Two things: the teacher of X, and the port of Y".
_TWO_THINGS = re.compile(
    rf"^{_HEADING}(?P<first>[^,;?]{{3,200}})(?:[,;?]\s*(?:and\s+)?|\s+and\s+)(?P<second>.{{3,}})$",
    re.IGNORECASE | re.DOTALL,
)
_ASKS = re.compile(
    r"\s*(?:(?:i['\u2019]d like |i want )?to (?:hear|know|learn|find out)\s+"
    rf"|i (?:don['\u2019]?t|do not) (?:get|know|understand)\s+)?(?:{_QUESTION_WORD}|{_NEEDS}|{_IN_PLACE})"
    r"|[^,:]{3,100}[,:]\s*(?:why|how|what|when|where|who)\b"
    rf"|[^.!?]{{1,60}}[.!]\s+{_QUESTION_WORD}",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\s*(?:i(?:['\u2019]d| would)?(?: also)? (?:need|want|like)|please|kindly|(?:could|can|would) you"
    rf"|(?:[^,:]{{3,60}}:\s*)?(?:the\s+)?{_NOUN})\b",
    re.IGNORECASE,
)
_IF_SO = re.compile(r"\s*(?:and\s+)?if (?:so|yes|not|there is)\b", re.IGNORECASE)
_SAY = re.compile(
    r"^(?:then\s+)?say\s+(?=what|which|who|how|why|when|where)", re.IGNORECASE
)
_BEGINS_IN_FRONT = re.compile(rf"\s*{_IN_FRONT}", re.IGNORECASE)
_IS_THERE = re.compile(r"\s*(?:is|are) there\b", re.IGNORECASE)
_OF_CATALOGUE = re.compile(
    rf"\s*(?:{_ASKING}\s+)?(?:(?:is|are|['\u2019]s)\s+)?(?:me\s+)?(?:the\s+)?{_NOUN}",
    re.IGNORECASE,
)
_DIVIDED = re.compile(r"\s*;\s+|\s+[+/]\s+")
_FEWEST_OF_ITS_OWN = 3
"""With so many words of its own a question is one, though it leans on the one before it."""
_BEHIND_CATALOGUE = re.compile(
    r"[,;]?\s+and\s+(?=(?:what|which|who|whose|how|why|when|where|in which)\b)",
    re.IGNORECASE,
)
_MOST_BORDERS = 16
"""At each border the text on both sides is read: a question has a few, a hostile text hundreds."""
_OF_A_COURSE: frozenset[Ask] = frozenset(("teacher", "lessons", "link"))
_NAMED_OUTRIGHT: frozenset[Ask] = frozenset(
    ("teacher", "link", "links", "lessons", "title", "courses")
)
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
    counted = _COUNTED.match(text) or _TWO_THINGS.match(text)
    if counted is not None:
        return counted["first"].strip(), counted["second"].strip()
    found = _apart(text)
    if len(found) == 1:
        found = _beside_catalogue(text) or _behind_catalogue(text)
    return tuple(found[:MOST_QUESTIONS])


def _apart(text: str) -> list[str]:
    """Returns what stands between the borders on both sides of which a question of its own stands."""
    found: list[str] = []
    at = 0
    for border in islice(_NEXT_QUESTION.finditer(text), _MOST_BORDERS):
        first = text[at : border.start()]
        # "Is there a course on this; how large is it there?"
        if border[0].startswith(";") and _IS_THERE.match(first):
            continue
        if _is_whole(first) and _is_whole(text[border.end() :]):
            found.append(first.strip())
            at = border.end()
    found.append(text[at:].strip())
    return [_SAY.sub("", each) for each in found]


def _beside_catalogue(text: str) -> list[str]:
    """Takes "number of lessons in Git; what HEAD points at" apart, where one side names what a catalogue holds."""
    for border in islice(_DIVIDED.finditer(text), _MOST_BORDERS):
        sides = [text[: border.start()].strip(), text[border.end() :].strip()]
        are_whole = all(terms(side) and not points_back(side) for side in sides)
        # "The link of the A / B lesson" names one lesson.
        is_name = names_catalogue(sides[1]) and not _asks(sides[1])
        if are_whole and not is_name and any(map(_names_outright, sides)):
            return sides
    return []


def _names_outright(text: str) -> bool:
    """Returns True for "the link of lesson 3", which asks by naming what it wants."""
    if _OF_CATALOGUE.match(text) is None:
        return False
    return bool(asked_of_catalogue(text).asks & _NAMED_OUTRIGHT)


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
    if _TELLS_WHEN.match(text) or _IF_SO.match(text) or not _asks(text):
        return False
    # "Url and name of lesson 3" asks for two things of one lesson.
    if len(words(text)) == 1:
        return False
    # What a catalogue is asked of "it" is answered of the course that the question before is about.
    if asked_of_catalogue(text).is_pure:
        return True
    own = frozenset(terms(text))
    if len(own) >= _FEWEST_OF_ITS_OWN:
        return True
    # "Who wrote it, and in what year?" is one question.
    return bool(own) and not points_back(text) and not _BEGINS_IN_FRONT.match(text)


def _asks(text: str) -> bool:
    """Returns True for a question, and for what asks for something of the catalogue: "I need the link of lesson 3."."""
    if "?" in text or _ASKS.match(text) is not None:
        return True
    if _WANTS.match(text) is None or points_back(text):
        return False
    # "I want to know more about caching." is the background of what follows.
    return bool(asked_of_catalogue(text).asks & _NAMED_OUTRIGHT)
