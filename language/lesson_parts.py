"""Recognises the questions how a lesson begins or ends, and says them as questions what the lesson is about; pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from antiphon.vocabulary.values import LessonPart

_MOST_CHARS = 400
_BEGINS = r"(?:begin|start|open|kick off)"
_ENDS = r"(?:end|close|finish|conclude|stop|wrap up|wind up)"
_VERB = rf"(?:(?P<begins>{_BEGINS})|{_ENDS})s?"
_AT_FIRST = r"(?:first|opening|beginning|start|initial)"
_AT_LAST = r"(?:last|closing|final|ending|end|close)"
_PLACE = (
    r"(?P<place>[^.,;:?!\n]*?\b(?:lesson|lecture|it|that one|this one)\b[^.;:?!\n]*?)"
)
_WORDS = r"(?:words?|sentences?|lines?|remarks?|statements?|things?)"
_SAYS = r"(?:say|says|said|mention|mentions|mentioned|tell us|told|talk about|remark)"
_END = r"\s*[?.!]*\s*$"
_OPENING = (
    r"^\W*(?:(?:and|then|so|please|can you|could you|i'd like to know|i want to know"
    r"|(?:tell|show|read|give|quote)(?:\s+me)?)\s+){0,3}"
)
_FORMS = tuple(
    re.compile(_OPENING + form + _END, re.IGNORECASE)
    for form in (
        # "What does the next lesson begin with?", "With which words does it end?"
        r"(?:how|with\s+(?:what|which)(?:\s+\w+){0,2}|what(?:\s+\w+){0,2})\s+(?:do|does|did)\s+"
        rf"{_PLACE}\s+{_VERB}(?:\s+(?:off|out|up))?(?:\s+(?:with|on|by saying))?",
        # "How does she close the lesson on caching?"
        r"(?:how|with\s+(?:what|which)(?:\s+\w+){0,2}|what(?:\s+\w+){0,2})\s+(?:do|does|did)\s+(?:[\w'-]+\s+){1,4}?"
        rf"{_VERB}\s+(?=(?:the|his|her|their|that|this|lesson|lecture|it)\b){_PLACE}(?:\s+with)?",
        # "How the lesson on caching begins", behind "tell me".
        rf"(?:how|what|with\s+(?:what|which)(?:\s+\w+)?)\s+{_PLACE}\s+{_VERB}(?:\s+with)?",
        # "What are the last words of lesson 3?", "What is the first thing said in it?"
        rf"(?:what(?:'s|\s+is|\s+are|\s+was|\s+were)\s+)?(?:the\s+)?(?:very\s+)?(?:(?P<first>{_AT_FIRST})|{_AT_LAST})\s+"
        rf"(?:\w+\s+)?{_WORDS}\s+(?:(?:that\s+)?(?:(?:is|are|was|were|gets|you|we|they|he|she)\s+)?"
        rf"(?:{_SAYS}|hears?|heard)\s+)?(?:of|in|from|at)\s+{_PLACE}",
        # "What does she say at the very beginning of lesson 3?"
        r"what(?:'s|\s+(?:is|was|does|do|did|are))\s+(?:(?:[\w'-]+\s+){1,4}?)?"
        rf"{_SAYS}\s+(?:at|in|right at)\s+the\s+(?:very\s+)?(?:(?P<starts>{_AT_FIRST})|{_AT_LAST})\s+of\s+{_PLACE}",
        # "The opening of lesson 3", behind "read me".
        rf"(?:what(?:'s|\s+is|\s+was)\s+)?the\s+(?:very\s+)?(?:(?P<opens>{_AT_FIRST})|{_AT_LAST})\s+of\s+{_PLACE}",
    )
)


class AskedPart(NamedTuple):
    """A part of a lesson that is asked for.

    Attributes:
        place: The lesson, as it is named.
    """

    part: LessonPart
    place: str


def asked_part(question: str) -> AskedPart | None:
    """Returns the part of a lesson that is all that a question asks for; None where it asks for something else."""
    for form in _FORMS:
        found = form.match(question[:_MOST_CHARS])
        if found is not None:
            named = found.groupdict()
            place = named.pop("place")
            # All other groups that have a name are words for the beginning.
            part: LessonPart = "end"
            if any(named.values()):
                part = "beginning"
            return AskedPart(part, place.strip())
    return None
