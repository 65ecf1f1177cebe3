"""Recognises what is no question: greetings, thanks, goodbyes, and questions about the assistant itself; pure."""

from __future__ import annotations

import re
from typing import Literal

from antiphon.language.commonness import is_common
from antiphon.language.words import terms, words

SmallTalk = Literal["hello", "thanks", "bye", "who", "abilities", "well"]

_MOST_WORDS = 12
_GREETING_WORDS = (
    "hi hello hey hiya howdy greetings hallo moin bonjour salut hola buongiorno ola hoi"
)
_GREETINGS = frozenset(_GREETING_WORDS.split())
_HELLO = _GREETINGS | {"good", "morning", "evening", "afternoon", "day", "guten", "tag"}
_THANKS_WORDS = "thanks thank thx ty cheers appreciate dank danke merci gracias grazie obrigado obrigada bedankt"
_THANKS = frozenset(_THANKS_WORDS.split())
_BYE_WORDS = "bye goodbye ciao later night tschuss adios adieu"
_BYE = frozenset(_BYE_WORDS.split())
_AROUND_WORDS = (
    "you so much very a lot great nice cool perfect awesome super wonderful good ok okay alright all right for the "
    "your that it is was helpful help answer answers everyone there team bot assistant and now see got well done "
    "helped lots mate buddy friend folks star legend lifesaver re were me really truly clear useful clearly explained "
    "best brilliant amazing fantastic excellent "
    "haha hehe lol vielen schon beaucoup muchas mille muito"
)
_AROUND = frozenset(_AROUND_WORDS.split())
"""Words that stand beside those of a greeting or of thanks, and ask for nothing."""
_WHO = re.compile(
    r"(?:who|what) (?:exactly )?are you|what is your name"
    r"|are you (?:an? )?(?:ai|bot|chatbot|human|robot|real|person)\b.*|who (?:made|built|created) you"
    r"|introduce yourself|tell me about yourself",
)
_ABILITIES = re.compile(
    r"(?:so )?(?:what (?:else )?(?:can|could)"
    r" (?:you do|you help(?: me)?(?: with)?|i ask(?: you)?(?: about)?|you tell me)(?: for me| here)?"
    r"|how (?:do|can) (?:i use (?:you|this)|you help(?: me)?)|how does this work|what do you (?:know|do)"
    r"|help(?: me)?|can you help(?: me)?|what are you (?:good )?for|what is this)(?: please)?",
)
_WELL = re.compile(
    r"how are you(?: doing)?(?: today)?|how is it going|how do you do|what is up|whats up"
)
_SEE_YOU = re.compile(r"see (?:you|ya)(?: (?:later|soon|around|tomorrow|then))?")
_INTERJECTIONS = frozenset(
    ("oh", "ah", "aha", "hm", "wow", "yes", "yeah", "interesting")
)
_PIECES = re.compile(r"[.,!;\n]+")
_SOMEBODY = re.compile(
    r"(?:(?:and|so|but|oh|well|haha|ok|okay)\s+)*(?:i|it|we|you|that|this|he|she)(?:['\u2019]\w+)?\b",
    re.IGNORECASE,
)
_WANTS = re.compile(
    r"\b(?:what|how|why|which|who|whose|where|when|tell|show|give|explain|describe|list|name|find|summari[sz]e|compare"
    r"|define|needs?|want|have|has|got|would|could|can|wonder|wondering|please|help|interested|looking|curious|question)\b",
    re.IGNORECASE,
)
_FIRST_SENTENCE = re.compile(r"^[^.!?\n]{1,80}[.!]\s+(?=\S)")
# What people write in front of a question, or behind it.
_OPENING = re.compile(
    r"^\s*(?:(?:hi|hello|hey|hiya|hallo|hola|bonjour|salut|good (?:morning|evening|afternoon)|ok(?:ay)?|thanks"
    r"|thank you|please|excuse me|i['\u2019](?:d like|m looking for)"
    r"|um+|uh+|so|(?:(?:hm+|no|sorry|wait)[\s,.]+){1,3}i mean(?:t|s)?"
    r"|(?:great|perfect|nice|cool|alright)(?=\s*[,!.])(?:\W+then)?)"
    r"(?: there(?! (?:is|are|was|were)\b)| all| everyone)?[\s,.!:\u2026]+){1,4}(?=\S)",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"[\s,.!]+(?:please|thanks|thank you|thx|pls|plz)(?: (?:a lot|so much|in advance))?\s*[.!?]*\s*$",
    re.IGNORECASE,
)
_CONTRACTED = re.compile(r"\b(what|who|how|it)['\u2019]?s\b", re.IGNORECASE)


def small_talk(text: str) -> SmallTalk | None:
    """Returns which small talk a whole message is; None where it asks for something."""
    said = words(_CONTRACTED.sub(r"\1 is", text[:300]))
    if not said or len(said) > _MOST_WORDS:
        return None
    line = " ".join(said)
    if _SEE_YOU.fullmatch(line):
        return "bye"
    if _WELL.fullmatch(_without(said, _HELLO)):
        return "well"
    if _WHO.fullmatch(_without(said, _HELLO)):
        return "who"
    if _ABILITIES.fullmatch(_without(said, _HELLO)) or _ABILITIES.fullmatch(line):
        return "abilities"
    return _courtesy(frozenset(said))


def said_in_passing(text: str) -> SmallTalk | None:
    """Returns which small talk a message is that asks for nothing: "Hello, it is me again, I liked the lessons!".

    All beside the courtesy must be said by somebody of somebody: "Hello, B-tree indexes" is a topic.
    """
    if "?" in text or _WANTS.search(text):
        return None
    found: list[SmallTalk] = []
    for piece in _PIECES.split(text):
        said = words(piece)
        if not said or _is_remark(piece, said):
            continue
        talk = _said_alone(said)
        if talk is None:
            return None
        found.append(talk)
    return next(reversed(found), None)


def _said_alone(said: list[str]) -> SmallTalk | None:
    if _SEE_YOU.fullmatch(" ".join(said)):
        return "bye"
    return _courtesy(frozenset(said))


def _is_remark(piece: str, said: list[str]) -> bool:
    """Returns True for what somebody says of somebody in words that everybody uses."""
    if _SOMEBODY.match(piece.strip()) is None:
        return False
    return all(is_common(term) for term in terms(" ".join(said)))


def opens_with_thanks(clause: str) -> bool:
    """Returns True for "Thank you very much, you are a very kind assistant!"."""
    first = words(clause[:300])[:1]
    return "?" not in clause and not _THANKS.isdisjoint(first)


def _courtesy(said: frozenset[str]) -> SmallTalk | None:
    if not said <= _HELLO | _THANKS | _BYE | _AROUND:
        return None
    if said & _THANKS:
        return "thanks"
    if said & _BYE:
        return "bye"
    if said & (_GREETINGS | {"good", "guten"}):
        return "hello"
    # "Ok", "great": an answer was taken note of.
    return "thanks"


def _without(said: list[str], opening: frozenset[str]) -> str:
    at = 0
    while at < len(said) - 1 and said[at] in opening:
        at += 1
    return " ".join(said[at:])


def _without_remark(question: str) -> str:
    """Returns what comes behind "Oh nice." and the like."""
    first = _FIRST_SENTENCE.match(question)
    if first is None:
        return question
    if not frozenset(words(first[0])) <= _AROUND | _THANKS | _HELLO | _INTERJECTIONS:
        return question
    return question[first.end() :]


def without_courtesies(question: str) -> str:
    """Returns the question without a greeting in front of it and thanks behind it; as it is, where that is all."""
    asked = _CLOSING.sub("", _OPENING.sub("", _without_remark(question)))
    # The question mark goes with the thanks behind it.
    if not words(asked):
        return question
    if question.rstrip().endswith("?") and not asked.rstrip().endswith("?"):
        return f"{asked.rstrip()}?"
    return asked
