"""Finds the courses that a question names, by how they are written: no list of titles is at hand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from antiphon.language.questions import LESSONS

# Titles are recognised by their capitals; these words may stand in one without.
_SMALL = r"(?:and|of|for|from|in|the|to|with|on|a|an|at|by|&)"
_TITLE = rf"[A-Z][\w'\u2019+#-]*(?:,? (?:{_SMALL} )*[A-Z][\w'\u2019+#-]*)+"
_TITLES = re.compile(_TITLE)
_QUOTED = r"[\"\u201c]([^\"\u201c\u201d]{3,100})[\"\u201d]"
_NOT_NAMES = r"(?:same|other|another|an?other|whole|entire|first|second|third|last|next|each|this|that|every|any|right)"
_NOT_TITLES = re.compile(
    r"(?:What|Which|Who|Where|When|Why|How|Is|Are|Does|Do|Can|Could|Compare|Explain|Give|Tell|Show|List|Look|According|"
    r"In|The|If|Describe|Find|Please|I|Lesson)\b[ ,]*"
)
_NAMED_IN_FULL = (
    re.compile(rf"\bcourse (?:called |named |titled )?{_QUOTED}"),
    re.compile(rf"\b(?:in|of|from) (?:the |the course )?{_QUOTED}"),
    re.compile(rf"{_QUOTED} course\b"),
    re.compile(
        rf"\b(?:[Ii]n|[Oo]f|[Ff]rom|[Cc]ourse|[Bb]y|[Ii]nto) (?:the )?(?:course )?({_TITLE})"
    ),
    re.compile(r"\b[Ll]esson \w+ (?:of|in|from) (?:the )?(?:course )?([A-Z][\w+#-]*)"),
)
_NAMED_BY_TOPIC = re.compile(
    r"\bcourse (?:on|about|called|named|titled|for) ((?:the )?[\w'\u2019+#-]+(?: [\w'\u2019+#-]+){0,5})"
)
_WORD = rf"(?!course\b|{_SMALL} |{_NOT_NAMES}\b)[\w+#-]+"
_NICKNAME = re.compile(
    rf"\b(?:[Tt]he|[Yy]our|[Oo]ur|[Aa]) ({_WORD}(?: {_WORD}){{0,4}}) course\b"
)
_CUT = re.compile(
    r" (?:and|which|what|that|is|has|have|does|do|say|says|teach|teaches|cover|covers|treats?|in|tell)\b.*"
)


_BEFORE_COURSE = re.compile(
    r"(?:\b(?:in|of|from|to) )?(?:the )?(?:course )?(?:called |on |about )?[\"\u201c]?$",
    re.IGNORECASE,
)
_AFTER_COURSE = re.compile(r"^[\"\u201d]?(?: course\b)?")
# The rest of "according to Course X" once the course is taken out.
_REFERENCES = re.compile(
    r"\b(?:according to|as taught in|as described in)\s*(?=[,.;:?]|$|\band\b)",
    re.IGNORECASE,
)
_SPACE_BEFORE_STOP = re.compile(r"\s+([,.;:?!])")


class Mention(NamedTuple):
    """A course as the question names it, and where in the question."""

    name: str
    start: int
    end: int


def course_mentions(question: str) -> tuple[Mention, ...]:
    """Returns the courses that the question names as courses, in its order."""
    found: list[Mention] = []
    # A name in full is surer than a topic, and a topic surer than a nickname: of two that overlap the first stands.
    for pattern in (*_NAMED_IN_FULL, _NAMED_BY_TOPIC, _NICKNAME):
        for match in pattern.finditer(question):
            name = match[1]
            if pattern is _NAMED_BY_TOPIC:
                name = _CUT.sub("", name)
            start = match.start(1)
            mention = Mention(name.removeprefix("the "), start, start + len(name))
            if name and not _overlaps(mention, found):
                found.append(mention)
    found.sort(key=lambda mention: mention.start)
    return tuple(found)


def _overlaps(mention: Mention, others: Sequence[Mention]) -> bool:
    return any(
        mention.start < other.end and other.start < mention.end for other in others
    )


def titles(question: str) -> tuple[Mention, ...]:
    """Returns everything in the question that is written like a title, in its order."""
    found: list[Mention] = []
    for match in _TITLES.finditer(question):
        start = match.start()
        # A sentence begins with a capital too: its first word is no part of the title behind it.
        opening = _NOT_TITLES.match(match[0])
        if opening:
            start += opening.end()
        name = question[start : match.end()]
        if " " in name or "-" in name:
            found.append(Mention(name, start, match.end()))
    return tuple(found)


def without_places(question: str) -> str:
    """Returns the question without the lessons and courses that it names, which leaves its topic."""
    kept: list[str] = []
    at = 0
    for mention in course_mentions(question):
        kept.append(_BEFORE_COURSE.sub("", question[at : mention.start]))
        at = mention.end
    tail = question[at:]
    if kept:
        tail = _AFTER_COURSE.sub("", tail)
    kept.append(tail)
    text = LESSONS.sub(" ", " ".join(kept))
    text = _REFERENCES.sub(" ", text)
    text = _SPACE_BEFORE_STOP.sub(r"\1", " ".join(text.split()))
    return text.strip(" ,;:")
