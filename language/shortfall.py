"""Finds what a question asks for and an excerpt that is only a little like it does not hold; pure.

Words and meaning together call the place where a thing is named near to any question about it. What is asked of it
tells: a word beside its name, or how many of something (docs/decisions/146).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.language.evidence import Weigh, is_light, is_unknown, names_in
from antiphon.language.questions import NUMBER_WORDS
from antiphon.language.sentences import sentences
from antiphon.language.words import terms

READ_CHARS = 1_000
LIKE = 0.5
"""What is liker than this to a question may answer it in words of its own."""
# In small letters "go" is a verb.
_TO_PROGRAM_IN = (
    r"(?i:python|java|javascript|typescript|rust|golang|c\+\+|c#|ruby|php|perl|scala|kotlin|swift|haskell|erlang"
    r"|elixir|assembler|fortran|cobol|bash|sql)|C|R|Go|Lua"
)
_TO_SPEAK = (
    "(?i:english|german|french|spanish|italian|portuguese|dutch|swedish|norwegian|danish|finnish|polish|russian|ukrainian"
    "|turkish|arabic|hebrew|hindi|chinese|mandarin|japanese|korean|latin|greek)"
)
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
# Every passage stands under its lesson's number.
_NUMBER_OF_LESSON = re.compile(r"\bLesson \d+\b")


class _Kind(NamedTuple):
    """A kind of thing that a question may ask for: how it is asked for, and how any of the kind looks in a text."""

    asked: re.Pattern[str]
    held: re.Pattern[str]


_KINDS = (
    # A year.
    _Kind(re.compile(r"\b(?:what|which) year\b", re.I), _YEAR),
    # A price or a salary.
    _Kind(
        re.compile(
            r"\bhow (?:much money|expensive)\b"
            r"|\bhow much (?:does|do|did|would|will|is|was|were|it|they|we|you)\b[^.?!]{0,80}\b(?:costs?|pay|paid)\b"
            r"|\bwhat (?:does|did|do|would|will) [^.?!]{0,80}\bcost\b"
            r"|\b(?:what|which)(?:['\u2019]s| is| was| are| were)? (?:(?:the|a|an|his|her|their|your) )?(?:\w+ )?"
            r"(?:price|fee|salary|wage)s?\b"
            r"|\bpricing\b|\b(?:price|cost)s? per \w+|\bprice\W*$",
            re.I,
        ),
        re.compile(
            r"[$\u20ac\u00a3\u00a5\u20b9%]|\b(?:dollars?|bucks|cents?|euros?|pounds?|pence|yen|yuan"
            r"|kron(?:a|or|e|er)|crowns?|francs?|rupees?|free|nothing|tokens?|percent|times|cheap(?:er|est)?|expensive"
            r"|double|half)\b",
            re.I,
        ),
    ),
    # Whoever makes a thing. "It was begun at Ericsson": no word says that it is a company.
    _Kind(
        re.compile(
            r"\b(?:which|what) (?:\w+ )?(?:company|firm|vendor|manufacturer|supplier|start-?up)(?:['\u2019]s)?\b"
            r"(?! (?:name|number|code|id)s?\b)"
            r"|\bwho (?:manufactures|sells|develops|makes (?=(?:it|them)\W*$))\b",
            re.I,
        ),
        re.compile(
            r"(?i:\b(?:compan(?:y|ies)|firms?|vendors?|manufacturers?|suppliers?|start-?ups?|makers?|labs?|foundation"
            r"|corporation|inc|ltd|gmbh|(?:made|built|developed|sold|published|written|maintained) by|comes? from"
            r"|(?:makes?|builds?|develops?|sells?|maintains?) it)\b)|\b(?:[Aa]t|[Ff]rom) [A-Z]\w"
        ),
    ),
    # A language to write programs in.
    _Kind(
        re.compile(
            r"\b(?:which|what) (?:programm?ing|computer|coding) languages?\b", re.I
        ),
        re.compile(rf"\b(?:{_TO_PROGRAM_IN})(?![\w+#-])"),
    ),
    # A language of people; of programs, where the question leaves it open.
    _Kind(
        re.compile(r"\b(?:which|what) languages?\b(?! models?\b)", re.I),
        re.compile(rf"\b(?:{_TO_SPEAK}|{_TO_PROGRAM_IN})(?![\w+#-])"),
    ),
    # A licence.
    _Kind(
        re.compile(r"\b(?:which|what) (?:\w+ )?licen[cs]e\b", re.I),
        re.compile(r"(?i:\blicen[cs]e|\bpublic domain\b)|\b(?:MIT|A?GPL|BSD|Apache)\b"),
    ),
    # A time of day.
    _Kind(
        re.compile(
            r"\b(?:at|until|till|from|by) (?:what|which) (?:time|hour)\b|\bopening hours\b",
            re.I,
        ),
        re.compile(
            r"\b\d{1,2}(?::\d\d| ?[ap]\.?m\b)|o['\u2019 ]?clock"
            r"|\b(?:noon|midnight|midday|half past|quarter (?:past|to))\b"
            r"|\b(?:at|until|till|from|to|by|before|after|past) (?:about |around )?"
            rf"(?:\d{{1,2}}|{'|'.join(NUMBER_WORDS)})\b",
            re.I,
        ),
    ),
    # A port.
    _Kind(
        re.compile(r"\b(?:which|what) (?:\w+ )?port\b", re.I),
        re.compile(
            r"\bports?\b[^.?!]{0,40}\d|\d{2,5}\b[^.?!]{0,20}\bport|:\d{4}", re.I
        ),
    ),
    # How many there are, and of years, hours or seconds some length of time.
    _Kind(re.compile(r"\bhow many\b", re.I), _COUNT),
    _Kind(
        re.compile(
            r"\bhow many (?:\w+ )?(?:years|months|weeks|days|hours|minutes|seconds)\b",
            re.I,
        ),
        re.compile(
            rf"(?:{_COUNT.pattern})[^.?!]{{0,30}}?(?:year|month|week|day|hour|minute|second)"
            r"|\b(?:an hour|a (?:day|week|month|year))\b",
            re.I,
        ),
    ),
)
"""Kinds of which people ask what stands nowhere, and that have a look of their own."""


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
    """Returns True where a thing of some kind is asked for, and nothing that is shown is of that kind."""
    text = _NUMBER_OF_LESSON.sub("", " ".join(shown))
    return any(
        kind.asked.search(question) and not kind.held.search(text) for kind in _KINDS
    )


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
