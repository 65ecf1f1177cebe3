"""Finds what a question asks for and an excerpt that is only a little like it does not hold; pure.

Words and meaning together call the place where a thing is named near to any question about it. What is asked of it
tells: a word beside its name, or how many of something (docs/decisions/146).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from antiphon.language.evidence import Weigh, is_light, is_unknown, names_in
from antiphon.language.sentences import sentences
from antiphon.language.words import terms

READ_CHARS = 1_000
LIKE = 0.5
"""What is liker than this to a question may answer it in words of its own."""
MOST_TERMS = 6
"""A longer question is put in many words, and a text answers it without most of them."""
_HOW_MANY = re.compile(
    r"\bhow many (?P<things>(?:\w+ ){0,2}?\w+)"
    r"(?= (?:do|does|did|is|are|was|were|has|have|had|can|could|should|would|will|must|may|in|of|on|at|per|to|for|from"
    r"|with|work|live|there|that)\b|\W*$)",
    re.I,
)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
_COUNT = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|sixty"
    r"|hundred|thousand|million|billion|once|twice|half|dozen|single|both|several|few|no|none|zero)\b",
    re.I,
)
_MONEY = re.compile(
    r"\bhow (?:much money|expensive)\b"
    r"|\bhow much (?:does|do|did|would|will|is|was|were|it|they|we|you)\b[^.?!]{0,80}\b(?:costs?|pay|paid)\b"
    r"|\bwhat (?:does|did|do|would|will) [^.?!]{0,80}\bcost\b"
    r"|\b(?:what|which)(?:['\u2019]s| is| was| are| were)? (?:(?:the|a|an|his|her|their|your) )?(?:\w+ )?"
    r"(?:price|fee|salary|wage)s?\b",
    re.I,
)
_AMOUNT = re.compile(
    r"[$\u20ac\u00a3\u00a5\u20b9%]|\b(?:dollars?|bucks|cents?|euros?|pounds?|pence|yen|yuan|kron(?:a|or|e|er)|crowns?"
    r"|francs?|rupees?|free|nothing|tokens?|percent|times|cheap(?:er|est)?|expensive|double|half)\b",
    re.I,
)
_MAKER = re.compile(
    r"\b(?:which|what) (?:\w+ )?(?:company|firm|vendor|manufacturer|supplier|start-?up)(?:['\u2019]s)?\b"
    r"(?! (?:name|number|code|id)s?\b)"
    r"|\bwho (?:manufactures|sells|develops|makes (?=(?:it|them)\W*$))\b",
    re.I,
)
_MAKERS = re.compile(
    r"\b(?:compan(?:y|ies)|firms?|vendors?|manufacturers?|suppliers?|start-?ups?|makers?|labs?|foundation|corporation"
    r"|inc|ltd|gmbh|(?:made|built|developed|sold|published|written|maintained) by|comes? from"
    r"|(?:makes?|builds?|develops?|sells?|maintains?) it)\b",
    re.I,
)
# "It was begun at Ericsson": no word says that it is a company.
_AT_NAME = re.compile(r"\b(?:[Aa]t|[Ff]rom) [A-Z]\w")
_ASKS_YEAR = re.compile(r"\b(?:what|which) year\b", re.I)


def falls_short(
    question: str, shown: Sequence[str], likeness: float, weigh: Weigh | None = None
) -> bool:
    """Returns True where what is shown shares names with the question, but not what is asked.

    Args:
        shown: The excerpts, and what they stand under.
        likeness: That of the likest sentence shown.
        weigh: How telling a term is in the courses; None means that it is not known what they hold.
    """
    question = question[:READ_CHARS]
    if likeness < LIKE and _lacks_count(question, shown):
        return True
    if _lacks_kind(question, shown):
        return True
    beside = _beside_names(question, shown)
    if not beside or not beside.isdisjoint(_terms_of(shown)):
        return False
    if likeness < LIKE:
        return True
    return weigh is not None and any(is_unknown(term, weigh) for term in beside)


def _lacks_kind(question: str, shown: Sequence[str]) -> bool:
    """Returns True where money, a year or a maker is asked for, and nothing that is shown speaks of any."""
    text = " ".join(shown)
    if _ASKS_YEAR.search(question) and not _YEAR.search(text):
        return True
    if _MONEY.search(question) and not _AMOUNT.search(text):
        return True
    if _MAKER.search(question) is None:
        return False
    return not (_MAKERS.search(text) or _AT_NAME.search(text))


def _beside_names(question: str, shown: Sequence[str]) -> frozenset[str]:
    """Returns what a short question asks about, beside the names that it shares with what is shown; none without."""
    asked = frozenset([term for term in terms(question) if not is_light(term)])
    named = frozenset[str]().union(*names_in(question))
    if len(asked) > MOST_TERMS or named.isdisjoint(_terms_of(shown)):
        return frozenset()
    return asked - named


def _terms_of(shown: Sequence[str]) -> frozenset[str]:
    return frozenset(terms(" ".join(shown)))


def _lacks_count(question: str, shown: Sequence[str]) -> bool:
    """Returns True where the question asks how many there are, and no sentence counts them; a year counts nothing."""
    asked = _HOW_MANY.search(question)
    if asked is None:
        return False
    # "How many services used Hystrix?": which of these words is counted is not known, but it is none of the names.
    things = frozenset(terms(asked["things"])).difference(*names_in(question))
    if not things:
        return False
    for text in shown:
        for sentence in sentences(text):
            counted = _COUNT.search(_YEAR.sub("", sentence))
            if counted and not things.isdisjoint(terms(sentence)):
                return False
    return True
