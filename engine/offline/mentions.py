"""Courses and lessons that a question names, found by how they are written: no list of titles is at hand."""

from __future__ import annotations

import re
from typing import NamedTuple

_SMALL = r"(?:and|of|for|from|in|the|to|with|on|a|an|at|by|&)"
_TITLE = rf"[A-Z][\w'\u2019+#-]*(?:,? (?:{_SMALL} )*[A-Z][\w'\u2019+#-]*)+"
_QUOTED = r"[\"\u201c]([^\"\u201c\u201d]{3,100})[\"\u201d]"
_NOT_NAMES = r"(?:same|other|another|an?other|whole|entire|first|second|third|last|next|each|this|that|every|any|right)"
_NOT_TITLES = re.compile(
    r"(?:What|Which|Who|Where|When|Why|How|Is|Are|Does|Do|Can|Could|Compare|Explain|Give|Tell|Show|List|Look|According|"
    r"In|The|If|Describe|Find|Please|I|Lesson)\b[ ,]*"
)
_LESSON_NUMBER = re.compile(
    r"\blessons? (?:number |no\. ?|# ?)?(\d{1,4}|zero|one|two|three|four|five|six|seven|eight|nine|ten)\b", re.I
)
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NAMED_IN_FULL = (
    re.compile(rf"\bcourse (?:called |named |titled )?{_QUOTED}"),
    re.compile(rf"\b(?:in|of|from) (?:the |the course )?{_QUOTED}"),
    re.compile(rf"{_QUOTED} course\b"),
    re.compile(rf"\b(?:[Ii]n|[Oo]f|[Ff]rom|[Cc]ourse|[Bb]y|[Ii]nto) (?:the )?(?:course )?({_TITLE})"),
    re.compile(r"\b[Ll]esson \w+ (?:of|in|from) (?:the )?(?:course )?([A-Z][\w+#-]*)"),
)
_TOLD_BY_TOPIC = re.compile(
    r"\bcourse (?:on|about|called|named|titled|for) ((?:the )?[\w'\u2019+#-]+(?: [\w'\u2019+#-]+){0,5})"
)
_WORD = rf"(?!course\b|{_SMALL} |{_NOT_NAMES}\b)[\w+#-]+"
_NICKNAME = re.compile(rf"\b(?:[Tt]he|[Yy]our|[Oo]ur|[Aa]) ({_WORD}(?: {_WORD}){{0,4}}) course\b")
_CUT = re.compile(
    r" (?:and|which|what|that|is|has|have|does|do|say|says|teach|teaches|cover|covers|treats?|in|tell)\b.*"
)


class Mention(NamedTuple):
    """A course as the question names it, and where in the question."""

    name: str
    start: int
    end: int


def course_mentions(question: str) -> tuple[Mention, ...]:
    """The courses that the question names as courses, in its order."""
    matches = [match for pattern in _NAMED_IN_FULL for match in pattern.finditer(question)]
    spans = [(match[1], match.start(1)) for match in matches]
    spans += [(_CUT.sub("", match[1]), match.start(1)) for match in _TOLD_BY_TOPIC.finditer(question)]
    spans += [(match[1], match.start(1)) for match in _NICKNAME.finditer(question)]
    found: list[Mention] = []
    for name, start in spans:
        end = start + len(name)
        if name and not any(start < other.end and other.start < end for other in found):
            found.append(Mention(name.removeprefix("the "), start, end))
    return tuple(sorted(found, key=lambda mention: mention.start))


def titles(question: str) -> tuple[Mention, ...]:
    """Everything in the question that is written like a title, in its order."""
    found: list[Mention] = []
    for match in re.finditer(_TITLE, question):
        opening = _NOT_TITLES.match(match[0])
        start = match.start() + (opening.end() if opening else 0)
        name = question[start : match.end()]
        if name and (" " in name or "-" in name):
            found.append(Mention(name, start, match.end()))
    return tuple(found)


def lesson_number(question: str) -> int | None:
    """The number of the lesson that the question names first."""
    found = _LESSON_NUMBER.search(question)
    if found is None:
        return None
    word = found[1].lower()
    return _NUMBERS.index(word) if word in _NUMBERS else int(word)


def without_places(question: str) -> str:
    """The question without the lessons and courses that it names: what is left says what it is about."""
    kept, at = [], 0
    for mention in course_mentions(question):
        kept.append(
            re.sub(
                r"(?i)(?:\b(?:in|of|from|to) )?(?:the )?(?:course )?(?:called |on |about )?[\"\u201c]?$",
                "",
                question[at : mention.start],
            )
        )
        at = mention.end
    kept.append(re.sub(r"^[\"\u201d]?(?: course\b)?", "", question[at:]) if at else question)
    text = _LESSON_NUMBER.sub(" ", " ".join(kept))
    text = re.sub(r"(?i)\b(?:according to|as taught in|as described in)\s*(?=[,.;:?]|$|\band\b)", " ", text)
    return re.sub(r"\s+([,.;:?!])", r"\1", " ".join(text.split())).strip(" ,;:")
